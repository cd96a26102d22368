"""What every engine is: it takes work and tasks, and hands back what each task gave, as it comes."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from openset._core.registry import Registry


class Engine:
    """Base of all engines. A `with` block starts and ends what it runs on."""

    title: ClassVar[str] = ""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def run(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """The place of each task and what `work` made of it, in any order."""
        raise NotImplementedError


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


ENGINES: Registry[type[Engine]] = Registry("engine")
