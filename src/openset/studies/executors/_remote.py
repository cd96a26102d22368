"""A task for another process, perhaps on another machine: what it needs besides the code."""

import os
from dataclasses import dataclass, field
from typing import Any

from openset._io.caller import Caller
from openset.studies.running import C, Outcome, Task, run_task
from openset.train.threads import set_threads


@dataclass(frozen=True)
class RemoteTask:
    """A task with the place and the settings that it was asked for in."""

    task: Task[Any]
    cpus: int = 1
    on_corrupt: str = "stop"
    wait: bool = False
    caller: Caller = field(default_factory=Caller)

    def __call__(self) -> list[Outcome[Any]]:
        """Run it here. Of a task that was interrupted, finished cells are read, and a begun one is resumed."""
        self.caller.take_over()
        if "OMP_NUM_THREADS" not in self.caller.environment:
            os.environ.pop("OMP_NUM_THREADS", None)  # the cluster's, not the user's
            set_threads(self.cpus)
        return list(run_task(self.task, on_corrupt=self.on_corrupt, wait=self.wait))


def after_loss(task: Task[C], reason: str) -> list[Outcome[C]]:
    """What is left of a task whose worker was lost for good: finished cells, and failed ones."""
    lost = [Outcome(cell, reason=reason) for cell in task if not cell.is_finished]
    return [*run_task([cell for cell in task if cell.is_finished]), *lost]
