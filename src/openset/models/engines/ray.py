"""Workers of a Ray cluster, each of which holds the model: Ray Data hands them the parts."""

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from openset._io.caller import Caller
from openset._io.ray_cluster import check_installed, connect_with, first_words, reason_of
from openset.errors import OpenSetError
from openset.models.batches import run_batches
from openset.models.card import Model, Options
from openset.models.engines._base import ENGINES, Engine, Making, Opening
from openset.models.parts import Parts
from openset.models.samples import Samples


@ENGINES.register("ray")
class OnRay(Engine):
    """Several workers on the cluster that `RAY_ADDRESS` names, or else on this machine's cores.

    When a worker or its machine is lost, Ray starts another and gives it the part again; a part is one file, so that
    none is lost and none is there twice.
    """

    title = "a Ray cluster: RAY_ADDRESS, or this machine"
    elsewhere = True

    @classmethod
    def check(cls) -> None:
        """Ray and what Ray Data stands on must be installed."""
        check_installed()
        try:
            import ray.data  # noqa: F401
        except ImportError as error:
            raise OpenSetError(f"--engine ray needs Ray Data ({error}): pip install 'openset[ray]'.") from error

    def open_model(self) -> Model:
        """On the processor: where the command is given there need be no GPU."""
        return Opening(self.opening.name, replace(self.opening.options, device=Options().device))()

    def run(
        self,
        model: Model,
        making: Making,
        samples: Samples,
        parts: Parts,
        *,
        batch: int,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Parts in any order, as they are done."""
        import ray

        self.check()
        missing = parts.missing()
        if not missing:
            return
        have = connect_with({"CPU": self.resources.cpus, "GPU": self.resources.gpus}, "A worker")
        try:
            for number in self._results(_Job(self.opening, model.fingerprint, making, parts, batch), samples, have):
                first, stop = parts.rows(number)
                progress(stop - first)
        except ray.exceptions.RayError as error:
            sentence = reason_of(error)
            again = "run the same command again to go on"
            raise OpenSetError(sentence or f"The work on Ray failed ({first_words(error)}); {again}.") from error
        finally:
            ray.shutdown()
        left = parts.missing()
        if left:
            raise OpenSetError(f"{len(left)} parts were not made; run the same command again to go on.")

    def _results(self, job: "_Job", samples: Samples, have: "Any") -> "Any":
        """Numbers of the parts, as they are done."""
        import ray.data

        for name in ("ray.data", "ray"):
            logging.getLogger(name).setLevel(logging.ERROR)
        ray.data.DataContext.get_current().enable_progress_bars = False
        missing = job.parts.missing()
        tasks = [{"task": pickle.dumps((number, samples.between(*job.parts.rows(number))))} for number in missing]
        room = [have.get("CPU", 0) // self.resources.cpus]
        if self.resources.gpus:
            room.append(have.get("GPU", 0) // self.resources.gpus)
        most = max(1, min(self.resources.workers or int(min(room)), len(tasks)))
        found = ray.data.from_items(tasks, override_num_blocks=len(tasks)).map_batches(
            _Worker,
            fn_constructor_args=(ray.cloudpickle.dumps(job), Caller(), self.resources.retries),
            batch_size=1,
            batch_format="pyarrow",
            # Not a fixed number: of those, one that waits for a lost machine would keep its part for ever.
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=most),
            num_cpus=self.resources.cpus,
            num_gpus=self.resources.gpus,
        )
        for row in found.iter_rows():
            if row["error"]:
                raise OpenSetError(row["error"])
            yield int(row["part"])


@dataclass(frozen=True)
class _Job:
    """What a worker needs to know."""

    opening: Opening
    fingerprint: str
    """Of the model, as the command knows it."""
    making: Making
    parts: Parts
    batch: int

    @cached_property
    def model(self) -> Model:
        """Opened in the process that runs it, once."""
        found = self.opening()
        if found.fingerprint != self.fingerprint:
            raise OpenSetError(f"{self.opening.name} is another model on a worker than where the command was given.")
        return found


class _Worker:
    """Lives in a process of its own, holds the model, and makes one part after the other."""

    def __init__(self, job: bytes, caller: Caller, retries: int) -> None:
        self._job, self._caller, self._retries = job, caller, retries

    @cached_property
    def job(self) -> _Job:
        """Read at the first task, whose result can tell what is wrong."""
        self._caller.take_over()
        job: _Job = pickle.loads(self._job)  # noqa: S301  from the command itself
        return job

    def __call__(self, tasks: Any) -> dict[str, list[Any]]:
        """Make a part; the error is "" where that worked."""
        number, error = -1, ""
        try:
            self.job  # noqa: B018  settles where the worker is
            number, samples = pickle.loads(tasks.column("task")[0].as_py())  # noqa: S301
            self._make(number, samples)
        except OpenSetError as wrong:
            error = str(wrong)
        return {"part": [number], "error": [error]}

    def _make(self, number: int, samples: Samples) -> None:
        job = self.job
        if job.parts.file(number).exists():  # the worker was lost after it had written it
            return
        attempts = job.parts.count_attempt(number)
        if attempts > self._retries + 1:
            job.parts.forget_attempts(number)
            raise OpenSetError(
                f"The worker was lost {attempts - 1} times with the samples from {samples.ids[0]} to "
                f"{samples.ids[-1]}: one of them may bring it down, or it needs more memory than there is."
            )
        batches = list(run_batches(job.model, samples, batch=job.batch))
        job.parts.write(number, *job.making.content(job.model, samples, batches))
        job.parts.forget_attempts(number)
