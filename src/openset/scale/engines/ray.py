"""Tasks on a Ray cluster, or on a local one that ends with the command."""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openset.errors import OpenSetError
from openset.scale.engines._base import ENGINES, Engine

ADDRESS = "RAY_ADDRESS"
_ANSWER = 10.0  # seconds that a cluster has to answer in
_RETRIES = 5


@ENGINES.register("ray")
class OnRay(Engine):
    """One core for each task, on the cluster that `RAY_ADDRESS` names, or else on this machine.

    Ray runs a task again when its worker or its machine is lost: a task reads files, and leaves a whole file or none.
    """

    title = "a Ray cluster: RAY_ADDRESS, or this machine"

    def __enter__(self) -> "OnRay":
        try:
            import ray
        except ImportError as error:
            raise OpenSetError("--engine ray needs Ray: pip install 'openset[ray]'.") from error
        address = os.environ.get(ADDRESS) or None
        try:
            _check_answers(address)
            ray.init(
                address=address or "local",  # never one that somebody else has started here
                num_cpus=None if address else self.workers,
                include_dashboard=None if address else False,
                logging_level=logging.ERROR,
                log_to_driver=False,
            )
        except Exception as error:  # of any kind: Ray tells by a bare one that its own processes did not start in time
            where = f"The Ray cluster at {address} ({ADDRESS})" if address else "A local Ray cluster"
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise OpenSetError(f"{where} cannot be reached or started: {first}") from error
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()

    def run(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Some tasks are begun ahead of those that run."""
        import ray

        run = ray.remote(num_cpus=1, max_retries=_RETRIES)(_call)
        shared, folder = ray.put(work), str(Path.cwd())
        todo = iter(enumerate(tasks))
        places: dict[Any, int] = {}
        try:
            while True:
                for place, task in todo:
                    places[run.remote(shared, task, folder)] = place
                    if len(places) >= 2 * self.workers:
                        break
                if not places:
                    return
                (ended, *_), _ = ray.wait(list(places), num_returns=1)
                yield places.pop(ended), _result(ended)
        finally:
            for one in places:
                ray.cancel(one)


def _call(work: Callable[[Any], Any], task: Any, folder: str) -> Any:
    try:
        os.chdir(folder)
    except OSError as error:
        raise OpenSetError(
            f"A worker cannot see {folder}: start the command in a folder that all machines share."
        ) from error
    return work(task)


def _result(ended: Any) -> Any:
    import ray

    try:
        return ray.get(ended)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, OpenSetError):
            raise OpenSetError(str(error.cause)) from error
        if "No module named 'openset" in str(error):
            raise OpenSetError(
                "The workers cannot import openset: pip install 'openset[ray]' on every machine of the cluster."
            ) from error
        raise
    except ray.exceptions.RayError as error:
        first = str(error).strip().splitlines()[0]
        raise OpenSetError(
            f"A worker was lost {_RETRIES + 1} times ({type(error).__name__}: {first}); with --temp DIR, run the same "
            "command again to go on."
        ) from error


def _check_answers(address: str | None) -> None:
    """Whether anybody answers at an address: Ray itself would wait for many minutes."""
    host, _, port = (address or "").rpartition("/")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
