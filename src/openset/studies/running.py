"""Running a cell: read, rescored or applied from a training that is there, or trained; broken-off runs go on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from openset._io.folder_lock import BusyError, hold
from openset._io.json_files import read_json
from openset.errors import OpenSetError
from openset.studies.cell import Cell
from openset.train.config import read_config
from openset.train.interrupt import Interrupted
from openset.train.loop import Watch
from openset.train.run import STATE, begin, reapply, rescore, share_beginning, train
from openset.train.state import differences

Task = Sequence[Cell]
"""Cells that share a training, in the order in which they are run."""
Watcher = Callable[[Cell], AbstractContextManager[Watch | None]]
"""Makes a progress bar for one training."""


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    cell: Cell
    summary: Mapping[str, Any] | None = None
    """None where it failed, or was left to another process."""
    reason: str = ""
    """Why it failed."""
    busy: bool = False
    """Whether another process works on it, or on a training that it shares."""


def run_cell(
    cell: Cell, *, on_corrupt: str = "stop", watch: Watch | None = None, wait: bool = False
) -> Mapping[str, Any]:
    """The summary of a cell. Another process in its folder is waited for, or it is a `BusyError`."""
    if is_finished(cell):
        return _read(cell)
    with hold(cell.folder, wait=wait):
        begin(cell.config, cell.folder, resume=(cell.folder / "config.yaml").exists())
        if is_finished(cell):  # by the process that was waited for
            return _read(cell)
        source, begun = cell.source, (cell.folder / STATE).exists()
        if source is not None and (is_reusable(source) or not begun):
            run_cell(source, on_corrupt=on_corrupt, watch=watch, wait=wait)
            return reapply(cell.config, source.folder, cell.folder, on_corrupt=on_corrupt)
        for other in cell.siblings:
            if is_reusable(other):
                return rescore(cell.config, other.folder, cell.folder, on_corrupt=on_corrupt)
        for other in cell.beginnings:
            if share_beginning(cell.config, cell.plain_epochs, other.folder, cell.folder):
                break
        return train(cell.config, cell.folder, on_corrupt=on_corrupt, watch=watch)


def is_finished(cell: Cell) -> bool:
    """Whether its run is."""
    return (cell.folder / "summary.json").exists()


def is_reusable(cell: Cell) -> bool:
    """Whether a run is finished and was made by the recipe of today."""
    if not is_finished(cell):
        return False
    stored = read_config(cell.folder / "config.yaml")
    return not any(differences(stored.as_plain(), cell.config.as_plain()))


def _read(cell: Cell) -> Mapping[str, Any]:
    begin(cell.config, cell.folder, resume=True)  # says if it was made by another recipe
    return dict(read_json(cell.folder / "summary.json"))


def run_task(
    task: Task, *, on_corrupt: str = "stop", watch: Watcher = lambda _: nullcontext(), wait: bool = False
) -> Iterator[Outcome]:
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
                summary = run_cell(cell, on_corrupt=on_corrupt, watch=bar, wait=wait)
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
