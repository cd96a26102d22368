"""What a grid would do: which cells are done, which are left, and how long that may take."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from openset._io.folder_lock import is_held, owner_of
from openset._io.json_files import read_json
from openset.studies.cell import Cell
from openset.studies.grid import Shard
from openset.studies.key import Key
from openset.studies.running import Runnable
from openset.train import checkpoint
from openset.train.run import STATE


@dataclass(frozen=True)
class Step:
    """What would become of one cell."""

    cell: Runnable
    state: str
    """`done`, `train`, `resume at epoch 3 of 30`, `share a training`, ..."""
    epochs: int = 0
    """Still to train."""
    seconds: float | None = 0.0
    """Of that; None where nothing like it has been trained."""


@dataclass(frozen=True)
class Plan:
    """A grid before it is run."""

    steps: Sequence[Step]

    @property
    def n_done(self) -> int:
        """Cells of which nothing is left to do."""
        return sum(step.state == "done" for step in self.steps)

    @property
    def n_trainings(self) -> int:
        """Training runs that are left, whole or in part."""
        return sum(step.epochs > 0 for step in self.steps)

    @property
    def hours(self) -> float:
        """Of training that is left, one after the other, as far as it can be told."""
        return sum(step.seconds or 0.0 for step in self.steps) / 3600

    @property
    def n_unknown(self) -> int:
        """Training runs that no finished cell tells the length of."""
        return sum(step.seconds is None for step in self.steps)

    def summary(self) -> str:
        """One sentence.

        >>> Plan([]).summary()
        '0 cells: 0 done, 0 to train, about 0.0 hours one after the other.'
        """
        what = f"{len(self.steps)} cells: {self.n_done} done, {self.n_trainings} to train"
        if self.n_unknown == self.n_trainings > 0:
            return f"{what}; how long that takes can be told when one has been trained."
        untold = f", and {self.n_unknown} that nothing finished is like" if self.n_unknown else ""
        return f"{what}, about {self.hours:.1f} hours one after the other{untold}."


@dataclass
class Pace:
    """Seconds per epoch of what has been trained, by protocol and method."""

    seen: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, cell: Cell, seconds: Any, epochs: Any) -> None:
        """Take a finished, or a begun, training into account."""
        if isinstance(seconds, int | float) and isinstance(epochs, int) and seconds > 0 and epochs > 0:
            self.seen.setdefault(_kind(cell), []).append(seconds / epochs)

    def seconds(self, cell: Cell, epochs: int) -> float | None:
        """How long so many epochs may take, from the same protocol and method, or else from the same protocol."""
        protocol, _ = own = _kind(cell)
        alike = self.seen.get(own) or [one for key, found in self.seen.items() if key[0] == protocol for one in found]
        return fmean(alike) * epochs if alike else None


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.trained_for or cell.config.protocol, cell.config.method.name


def make_plan(
    cells: Sequence[Cell],
    *,
    shard: Shard | None = None,
    done: Container[Key] = (),
    contents: Mapping[Key, Mapping[str, Any]] | None = None,
) -> Plan:
    """Look at what is there; `contents` are results files of cells that are `done`."""
    pace = Pace()
    for cell in cells:
        content = (contents or {}).get(cell.key, {})
        if not content and cell.is_finished:
            content = read_json(cell.folder / "summary.json")
        pace.add(cell, content.get("seconds"), content.get("epochs"))
    tasks = (shard or Shard()).tasks(cells)
    return Plan([step for task in tasks for step in _steps(task, done, pace)])


def _steps(task: Iterable[Cell], done: Container[Key], pace: Pace) -> Iterable[Step]:
    there: set[str] = set()  # training runs that an earlier cell of the task leaves
    for cell in task:
        if cell.key in done or cell.is_finished:
            there.add(cell.training)
            yield Step(cell, "done")
            continue
        sources = [*cell.siblings, *filter(None, [cell.source])]
        served = cell.training in there or any(one.is_reusable for one in sources)
        begun = checkpoint.read_description(cell.folder / STATE).get("state", {})
        at, epochs = int(begun.get("epoch", 0)), cell.config.train.epochs
        state, left = "train", epochs
        if served:
            state, left = "share a training", 0
        elif begun:
            state, left = f"resume at epoch {at + 1} of {epochs}", epochs - at
            pace.add(cell, begun.get("seconds"), at)
        elif any(one.training in there or one.is_reusable for one in cell.beginnings):
            state, left = f"train from epoch {cell.plain_epochs + 1}", epochs - cell.plain_epochs
        if is_held(cell.folder):
            owner = owner_of(cell.folder)
            state = f"{state}; in use by {owner.title if owner else 'another process'}"
        there.add(cell.training)
        yield Step(cell, state, left, pace.seconds(cell, left) if left else 0.0)
