"""Running the cells of a task one after the other, whatever a cell is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from openset._io.folder_lock import BusyError
from openset.errors import OpenSetError
from openset.studies.key import Key
from openset.train.interrupt import Interrupted
from openset.train.loop import Watch


class Runnable(Protocol):
    """What the grid engine asks of a cell."""

    @property
    def key(self) -> Key:
        """What it is called."""

    @property
    def protocol(self) -> str:
        """In full; cells whose keys have the same protocol must agree on it."""

    @property
    def out(self) -> Path:
        """The folder of the whole grid."""

    @property
    def training(self) -> str:
        """Equal for cells that one training serves."""

    @property
    def beginnings(self) -> "Sequence[Runnable]":
        """Cells whose first `plain_epochs` epochs are those of this one."""

    @property
    def plain_epochs(self) -> int:
        """Whole epochs at the start that it shares with its `beginnings`."""

    @property
    def is_finished(self) -> bool:
        """Whether `run` would only read."""

    def run(self, *, on_corrupt: str, watch: Watch | None, wait: bool) -> Mapping[str, Any]:
        """What came out. Another process that works on it is waited for, or it is a `BusyError`."""


C = TypeVar("C", bound=Runnable)
Task: TypeAlias = Sequence[C]
"""Cells that share a training, in the order in which they are run."""
Watcher = Callable[[Any], AbstractContextManager[Watch | None]]
"""Makes a progress bar for one cell."""


@dataclass(frozen=True)
class Outcome(Generic[C]):
    """What became of a cell."""

    cell: C
    summary: Mapping[str, Any] | None = None
    """None where it failed, or was left to another process."""
    reason: str = ""
    """Why it failed."""
    busy: bool = False
    """Whether another process works on it, or on a training that it shares."""


def run_task(
    task: Task[C], *, on_corrupt: str = "stop", watch: Watcher = lambda _: nullcontext(), wait: bool = False
) -> Iterator[Outcome[C]]:
    """Run cells one after the other; a failure is noted and the others continue.

    Without `wait`, what another process works on is left to it, and so is the rest, which may want the same training.
    """
    busy = False
    for cell in task:
        if busy:
            yield Outcome(cell, busy=True)
            continue
        try:
            with watch(cell) as bar:
                summary = cell.run(on_corrupt=on_corrupt, watch=bar, wait=wait)
        except (Interrupted, KeyboardInterrupt):
            raise
        except BusyError:
            busy = True
            yield Outcome(cell, busy=True)
        except Exception as error:
            yield Outcome(cell, reason=reason_of(error))
        else:
            yield Outcome(cell, summary)


def reason_of(error: Exception) -> str:
    """One sentence; errors that nobody foresaw are named by their kind."""
    return str(error) if isinstance(error, OpenSetError) else f"{type(error).__name__}: {error}"
