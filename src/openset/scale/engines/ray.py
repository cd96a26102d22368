"""Tasks on a Ray cluster, or on a local one that ends with the command."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openset._io.ray_cluster import connect, first_words, reason_of
from openset.errors import OpenSetError
from openset.scale.engines._base import ENGINES, Engine

_RETRIES = 5


@ENGINES.register("ray")
class OnRay(Engine):
    """One core for each task, on the cluster that `RAY_ADDRESS` names, or else on this machine.

    Ray runs a task again when its worker or its machine is lost: a task reads files, and leaves a whole file or none.
    """

    title = "a Ray cluster: RAY_ADDRESS, or this machine"

    def __enter__(self) -> "OnRay":
        have = connect(self.workers)
        self.workers = max(1, int(have.get("CPU", 1)))
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
        if sentence := reason_of(error):
            raise OpenSetError(sentence) from error
        raise
    except ray.exceptions.RayError as error:
        raise OpenSetError(
            f"A worker was lost {_RETRIES + 1} times ({first_words(error)}); with --temp DIR, run the same "
            "command again to go on."
        ) from error
