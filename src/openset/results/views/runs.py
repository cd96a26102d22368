"""What training and benches hand to plots and pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from openset._io.tables import read_table
from openset.errors import OpenSetError
from openset.results.spread import Spread, spread_of


@dataclass(frozen=True)
class TrainingLog:
    """Columns of a training log: one value per epoch each; None where an epoch has no value."""

    epochs: Sequence[float]
    columns: Mapping[str, Sequence[float | None]]

    @classmethod
    def read(cls, path: str | Path) -> "TrainingLog":
        """The `log.csv` of a run."""
        table = read_table(path)
        if "epoch" not in table.columns:
            raise OpenSetError(f"{path} is not a training log: it has no column 'epoch'.")
        columns = {
            name: [None if cell in (None, "") else float(cell) for cell in table[name].to_list()]
            for name in table.columns
        }
        epochs = [float(cell) for cell in columns.pop("epoch") if cell is not None]
        return cls(epochs, columns)


@dataclass(frozen=True)
class GammaLog:
    """Confidence of one model on validation data after each epoch."""

    epochs: Sequence[float]
    gamma_plus: Sequence[float]
    """Mean probability of the true class, on knowns."""
    gamma_minus: Sequence[float]
    """Mean lack of any high probability, on negatives."""

    @classmethod
    def mean(cls, logs: Iterable[TrainingLog], splits: Sequence[int] | None = None) -> "GammaLog | None":
        """Mean over runs, epoch by epoch up to where the shortest ends; None where no run has seen negatives."""
        names = ("val_gamma_plus", "val_gamma_minus")
        every = list(logs)
        complete = [all(None not in log.columns.get(name, [None]) for name in names) for log in every]
        found = [log for log, there in zip(every, complete, strict=True) if there]
        if not found:
            return None
        own = None if splits is None else [split for split, there in zip(splits, complete, strict=True) if there]
        n = min(len(log.epochs) for log in found)
        plus, minus = (
            [spread_of([float(log.columns[name][epoch] or 0.0) for log in found], own).value for epoch in range(n)]
            for name in names
        )
        return cls(found[0].epochs[:n], plus, minus)


@dataclass(frozen=True)
class Sensitivity:
    """A metric for each value of a setting: its spread over splits and seeds."""

    settings: Sequence[float]
    spreads: Sequence[Spread]


@dataclass(frozen=True)
class BenchRow:
    """One method on one protocol: the value of each run, and the split of each where there are several seeds."""

    protocol: str
    method: str
    values: Sequence[float]
    splits: Sequence[int] | None = None

    @cached_property
    def spread(self) -> Spread:
        """Mean and spread over splits."""
        return spread_of(self.values, self.splits)
