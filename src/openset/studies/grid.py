"""A grid of cells: which of them share a training, which part of it to run, and running it by some executor."""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from openset.errors import OpenSetError
from openset.studies.executors import EXECUTORS, Executor, Resources
from openset.studies.key import Key
from openset.studies.running import C, Outcome, Task, Watcher, run_task


@dataclass(frozen=True)
class Shard:
    """One of `of` parts of a grid, numbered from 1: `2/8`."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `2/8`.

        >>> Shard.parse("2/8")
        Shard(number=2, of=8)
        """
        found = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise OpenSetError(f"--shard '{text}' is not understood; write 1/4, 2/4, 3/4 and 4/4 for four parts.")
        return cls(int(found[1]), int(found[2]))

    def tasks(self, cells: Sequence[C]) -> list[Task[C]]:
        """The tasks of this part: every task of the grid is in one part, whatever is done already."""
        return make_tasks(cells)[self.number - 1 :: self.of]


@dataclass(frozen=True)
class Execution:
    """Where and which part of a grid is run."""

    engine: str = "local"
    resources: Resources = field(default_factory=Resources)
    shard: Shard = field(default_factory=Shard)
    dry_run: bool = False
    """Say what would be run, and run nothing."""

    def executor(
        self,
        *,
        on_corrupt: str = "stop",
        watch: Watcher = lambda _: nullcontext(),
        tell: Callable[[str], object] = str,
    ) -> Executor:
        """Who runs the cells."""
        return EXECUTORS[self.engine](self.resources, on_corrupt=on_corrupt, watch=watch, tell=tell)


def make_tasks(cells: Sequence[C]) -> list[Task[C]]:
    """Cells by what they share: one training, or the beginning of one, also across protocols.

    A cell that begins as another one's training comes after it.
    """
    _check_names(cells)
    group = {cell.training: place for place, cell in enumerate(cells)}  # each training is a group of its own
    for cell in cells:
        for other in cell.beginnings[:1]:  # all of them are one training
            if other.training in group:
                old, new = group[cell.training], group[other.training]
                group = {training: new if number == old else number for training, number in group.items()}
    tasks: dict[int, list[C]] = {}
    for cell in cells:
        tasks.setdefault(group[cell.training], []).append(cell)
    return [sorted(task, key=lambda cell: cell.plain_epochs) for task in tasks.values()]


def _check_names(cells: Sequence[C]) -> None:
    protocols: dict[Key, str] = {}
    for cell in cells:
        before = protocols.setdefault(cell.key, cell.protocol)
        if before != cell.protocol:
            raise OpenSetError(
                f"{before} and {cell.protocol} have the same name, '{cell.key.protocol}', so their runs would "
                "share folders: rename one of them."
            )


def run_grid(
    cells: Sequence[C],
    executor: Executor,
    *,
    tell: Callable[[Outcome[C]], object] = lambda _: None,
    shard: Shard | None = None,
    done: Container[Key] = (),
) -> list[Outcome[C]]:
    """Run every cell, or those of a shard, that is not `done`; a failure is noted and the others continue.

    What another process works on is waited for when nothing else is left. Outcomes are in the order of `cells`, and
    told as they come.
    """
    outcomes: dict[Key, Outcome[C]] = {}

    def take(found: Iterable[Outcome[C]]) -> None:
        for outcome in found:
            if not outcome.busy:
                outcomes[outcome.cell.key] = outcome
                tell(outcome)

    todo = [rest for task in (shard or Shard()).tasks(cells) if (rest := [one for one in task if one.key not in done])]
    for task in todo:
        if all(cell.is_finished for cell in task):  # there is nothing to start an engine for
            take(run_task(task))
    if any(cell.key not in outcomes for task in todo for cell in task):
        with executor:
            for wait in (False, True):
                left = [rest for task in todo if (rest := [cell for cell in task if cell.key not in outcomes])]
                if left:
                    take(executor.run(left, wait=wait))
    return [outcomes[cell.key] for cell in cells if cell.key in outcomes]
