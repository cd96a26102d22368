"""Threads of this process: NumPy and polars work outside Python's lock."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from openset.scale.engines._base import ENGINES, Engine


@ENGINES.register("local")
class Local(Engine):
    """A thread for each core."""

    title = "the cores of this machine"

    def run(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Few tasks are begun ahead, so that what is in memory stays small."""
        places: dict[Future[Any], int] = {}
        todo = iter(enumerate(tasks))
        pool = ThreadPoolExecutor(self.workers)
        try:
            while True:
                for place, task in todo:
                    places[pool.submit(work, task)] = place
                    if len(places) > self.workers:
                        break
                if not places:
                    return
                for future in wait(places, return_when=FIRST_COMPLETED).done:
                    yield places.pop(future), future.result()
        finally:  # also on Ctrl-C: what has begun ends, nothing else begins
            pool.shutdown(wait=True, cancel_futures=True)
