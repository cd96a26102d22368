"""Tasks on a Ray cluster, or on a local one that ends with the command."""

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from openset.errors import OpenSetError
from openset.studies.executors._base import EXECUTORS, Executor
from openset.studies.executors._remote import RemoteTask, after_loss
from openset.studies.running import Outcome, Task

ADDRESS = "RAY_ADDRESS"
_ANSWER = 10.0  # seconds that a cluster has to answer in
_GRACE = 60.0  # seconds in which a training that is stopped can finish its step and save


@EXECUTORS.register("ray")
class OnRay(Executor):
    """Several tasks at once on the cluster that `RAY_ADDRESS` names, or else on this machine's cores.

    Ray runs a task again when its worker or its machine is lost; the training is then resumed from its last checkpoint.
    """

    title = "a Ray cluster: RAY_ADDRESS, or this machine"
    extra = "ray"

    @classmethod
    def check(cls) -> None:
        """Ray must be installed."""
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise OpenSetError("--engine ray needs Ray: pip install 'openset[ray]'.") from error

    def __enter__(self) -> "OnRay":
        import ray

        self.check()
        address = os.environ.get(ADDRESS) or None
        try:
            _check_answers(address)
            ray.init(
                address=address,
                include_dashboard=None if address else False,
                logging_level=logging.ERROR,
                log_to_driver=False,
            )
        except (OSError, ValueError, RuntimeError) as error:
            where = f"The Ray cluster at {address} ({ADDRESS})" if address else "A local Ray cluster"
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise OpenSetError(f"{where} cannot be reached or started: {first}") from error
        have, needed = ray.cluster_resources(), self._needed
        for name, amount in (("CPU", needed["num_cpus"]), ("GPU", needed["num_gpus"])):
            if not address and amount > have.get(name, 0):
                ray.shutdown()
                raise OpenSetError(
                    f"A cell needs {amount:g} {name}, and this machine has {have.get(name, 0):g}: ask for less, or "
                    f"name a cluster in {ADDRESS}."
                )
        self.tell(f"Ray: {have.get('CPU', 0):g} cores and {have.get('GPU', 0):g} GPUs.")
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()

    @property
    def _needed(self) -> dict[str, float]:
        return {"num_cpus": self.resources.cpus, "num_gpus": self.resources.gpus}

    def run(self, tasks: Sequence[Task], *, wait: bool) -> Iterator[Outcome]:
        """Outcomes of each task as it ends."""
        import ray

        run = ray.remote(max_retries=self.resources.retries, **self._needed)(_run)
        left = {
            run.remote(RemoteTask.of(task, self.resources.cpus, self.on_corrupt, wait=wait)): task for task in tasks
        }
        try:
            while left:
                (ended, *_), _ = ray.wait(list(left), num_returns=1)
                yield from self._outcomes(ended, left.pop(ended))
        except KeyboardInterrupt:
            for one in left:
                ray.cancel(one)
            ray.wait(list(left), num_returns=len(left), timeout=_GRACE)
            raise

    def _outcomes(self, ended: Any, task: Task) -> list[Outcome]:
        import ray

        try:
            found: list[Outcome] = ray.get(ended)
        except ray.exceptions.RayError as error:
            return after_loss(task, _reason(error, self.resources.retries))
        return found


def _check_answers(address: str | None) -> None:
    """Whether anybody answers at an address: Ray itself would wait for many minutes."""
    host, _, port = (address or "").rpartition("/")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()


def _run(remote: RemoteTask) -> list[Outcome]:
    return remote()


def _reason(error: Exception, retries: int) -> str:
    """Why a task gave no outcomes."""
    import ray

    text = str(error)
    if "No module named 'openset" in text:
        return (
            "The workers cannot import openset: pip install 'openset[ray,torch,data]' on every machine of the cluster."
        )
    if isinstance(error, ray.exceptions.RayTaskError) and isinstance(error.cause, OpenSetError):
        return str(error.cause)
    kind, first = type(error).__name__, text.strip().splitlines()[0] if text.strip() else ""
    return f"The worker was lost {retries + 1} times ({kind}: {first}); run the same command again to resume."
