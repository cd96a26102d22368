"""Tasks one after the other in this process."""

from collections.abc import Iterator, Sequence

from openset.studies.executors._base import EXECUTORS, Executor
from openset.studies.running import C, Outcome, Task, run_task


@EXECUTORS.register("local")
class Local(Executor):
    """This process, one cell after the other, with a progress bar."""

    def run(self, tasks: Sequence[Task[C]], *, wait: bool) -> Iterator[Outcome[C]]:
        """Each cell as it ends."""
        for task in tasks:
            yield from run_task(task, on_corrupt=self.on_corrupt, watch=self.watch, wait=wait)
