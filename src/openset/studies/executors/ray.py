"""Tasks on a Ray cluster, or on a local one that ends with the command."""

from collections.abc import Iterator, Sequence
from typing import Any

from openset._io.ray_cluster import check_installed, connect_with, first_words, reason_of
from openset.studies.executors._base import EXECUTORS, Executor
from openset.studies.executors._remote import RemoteTask, after_loss
from openset.studies.running import C, Outcome, Task

_GRACE = 60.0  # seconds in which a training that is stopped can finish its step and save


@EXECUTORS.register("ray")
class OnRay(Executor):
    """Several tasks at once on the cluster that `RAY_ADDRESS` names, or else on this machine's cores.

    Ray runs a task again when its worker or its machine is lost; the training is then resumed from its last checkpoint.
    """

    @classmethod
    def check(cls) -> None:
        """Ray must be installed."""
        check_installed()

    def __enter__(self) -> "OnRay":
        have = connect_with({"CPU": self.resources.cpus, "GPU": self.resources.gpus}, "A cell")
        self.tell(f"Ray: {have.get('CPU', 0):g} cores and {have.get('GPU', 0):g} GPUs.")
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()

    def run(self, tasks: Sequence[Task[C]], *, wait: bool) -> Iterator[Outcome[C]]:
        """Outcomes of each task as it ends."""
        import ray

        needed = {"num_cpus": self.resources.cpus, "num_gpus": self.resources.gpus}
        run = ray.remote(max_retries=self.resources.retries, **needed)(_run)
        left = {run.remote(RemoteTask(task, self.resources.cpus, self.on_corrupt, wait)): task for task in tasks}
        try:
            while left:
                (ended, *_), _ = ray.wait(list(left), num_returns=1)
                yield from self._outcomes(ended, left.pop(ended))
        except KeyboardInterrupt:
            for one in left:
                ray.cancel(one)
            ray.wait(list(left), num_returns=len(left), timeout=_GRACE)
            raise

    def _outcomes(self, ended: Any, task: Task[C]) -> list[Outcome[C]]:
        import ray

        try:
            found: list[Outcome[C]] = ray.get(ended)
        except ray.exceptions.RayError as error:
            return after_loss(task, _reason(error, self.resources.retries))
        return found


def _run(remote: RemoteTask) -> list[Outcome[Any]]:
    return remote()


def _reason(error: Exception, retries: int) -> str:
    """Why a task gave no outcomes."""
    lost = f"The worker was lost {retries + 1} times ({first_words(error)}); run the same command again to resume."
    return reason_of(error) or lost
