"""What training and benches hand to figures and pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openset._io.tables import read_table
from openset.errors import OpenSetError


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
            raise OpenSetError(f"{path} is no training log: it has no column 'epoch'.")
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
    def mean(cls, logs: Iterable[TrainingLog]) -> "GammaLog | None":
        """Mean over runs, epoch by epoch up to where the shortest ends; None where no run has seen negatives."""
        names = ("val_gamma_plus", "val_gamma_minus")
        found = [log for log in logs if all(None not in log.columns.get(name, [None]) for name in names)]
        if not found:
            return None
        n = min(len(log.epochs) for log in found)
        plus, minus = (np.mean([np.asarray(log.columns[name][:n], float) for log in found], axis=0) for name in names)
        return cls(found[0].epochs[:n], plus.tolist(), minus.tolist())


@dataclass(frozen=True)
class Sensitivity:
    """A figure for each value of a setting, over several splits: one row of `values` per setting."""

    settings: Sequence[float]
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class BenchRow:
    """One method on one protocol: the figure of each run, and the split of each where there are several seeds."""

    protocol: str
    method: str
    values: Sequence[float]
    splits: Sequence[int] | None = None
