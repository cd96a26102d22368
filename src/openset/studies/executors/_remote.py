"""A task for another process, perhaps on another machine: what it needs besides the code."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openset._core.plugins import place_of, resolve
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.studies.running import Outcome, Task, is_finished, run_task
from openset.train.threads import set_threads

_PASSED_ON = ("OPENSET_DATA", "OPENSET_CACHE", "OMP_NUM_THREADS", "HF_HOME", "HF_HUB_OFFLINE")


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


@dataclass(frozen=True)
class RemoteTask:
    """A task with the place and the settings that it was asked for in."""

    task: Task
    cpus: int = 1
    on_corrupt: str = "stop"
    wait: bool = False
    folder: Path = field(default_factory=Path.cwd)
    """Paths of recipes and run folders are relative to this."""
    environment: Mapping[str, str] = field(default_factory=_environment)
    own_methods: Sequence[str] = ()
    """Methods from files of the user's own, as `my.py:Mine`."""

    @classmethod
    def of(cls, task: Task, cpus: int, on_corrupt: str, *, wait: bool) -> "RemoteTask":
        """A task as it is asked for here."""
        places = {place_of(METHODS[cell.config.method.name]) for cell in task}
        return cls(task, cpus, on_corrupt, wait, own_methods=sorted(filter(None, places)))

    def __call__(self) -> list[Outcome]:
        """Run it here. Of a task that was interrupted, finished cells are read, and a begun one is resumed."""
        try:
            os.chdir(self.folder)
        except OSError as error:
            raise OpenSetError(
                f"A worker cannot see {self.folder}: start the command in a folder that all machines share."
            ) from error
        os.environ.update(self.environment)
        if "OMP_NUM_THREADS" not in self.environment:
            os.environ.pop("OMP_NUM_THREADS", None)  # the cluster's, not the user's
            set_threads(self.cpus)
        for place in self.own_methods:
            resolve(place, METHODS)
        return list(run_task(self.task, on_corrupt=self.on_corrupt, wait=self.wait))


def after_loss(task: Task, reason: str) -> list[Outcome]:
    """What is left of a task whose worker was lost for good: finished cells, and failed ones."""
    lost = [Outcome(cell, reason=reason) for cell in task if not is_finished(cell)]
    return [*run_task([cell for cell in task if is_finished(cell)]), *lost]
