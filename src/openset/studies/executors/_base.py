"""What every executor is: it takes tasks, and hands back what became of their cells as it comes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from openset._core.registry import Registry
from openset.studies.running import C, Outcome, Task, Watcher


@dataclass(frozen=True)
class Resources:
    """What one task may use, and how often it may be lost."""

    cpus: int = 1
    gpus: float = 0.0
    retries: int = 3
    """How often a task whose worker died is run again."""
    slurm: Mapping[str, str] = field(default_factory=dict)
    """Parameters for submitit, such as `slurm_partition`."""


class Executor:
    """Base of all executors: tasks in, outcomes out. A `with` block starts and ends what it runs on."""

    def __init__(
        self,
        resources: Resources | None = None,
        *,
        on_corrupt: str = "stop",
        watch: Watcher = lambda _: nullcontext(),
        tell: Callable[[str], object] = str,
    ) -> None:
        self.resources = resources or Resources()
        self.on_corrupt, self.watch, self.tell = on_corrupt, watch, tell

    @classmethod
    def check(cls) -> None:
        """Say what is missing, if it cannot be used here."""

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def run(self, tasks: Sequence[Task[C]], *, wait: bool) -> Iterator[Outcome[C]]:
        """Run tasks; with `wait`, cells that other processes work on are waited for."""
        raise NotImplementedError


EXECUTORS: Registry[type[Executor]] = Registry("engine")
