"""Tasks as jobs of a Slurm cluster, submitted by submitit."""

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

from openset.errors import OpenSetError, need
from openset.studies.executors._base import EXECUTORS, Executor
from openset.studies.executors._remote import RemoteTask, after_loss
from openset.studies.running import C, Outcome, Task
from openset.train.interrupt import stop_trainings

_TIMEOUT = 24 * 60  # minutes; submitit's own default is five
_POLL = 5.0
_WAKE = 0.5
_GRACE = 20.0  # seconds for a training to end its step and save; Slurm kills a job 30 seconds after its signal


@EXECUTORS.register("slurm")
class OnSlurm(Executor):
    """One job per task. A job that Slurm stops and requeues is resumed from its last checkpoint.

    The command waits for the jobs; stopped, it leaves them running, and the same command reads what they have done.
    """

    @classmethod
    def check(cls) -> None:
        """Submitit must be installed."""
        need("--engine slurm", "submitit")

    def run(self, tasks: Sequence[Task[C]], *, wait: bool) -> Iterator[Outcome[C]]:
        """Outcomes of each job as it ends."""
        logs = tasks[0][0].out / "slurm-logs"
        executor = self._executor(logs)
        remote = [_Requeued(RemoteTask(task, self.resources.cpus, self.on_corrupt, wait)) for task in tasks]
        try:
            with executor.batch():
                jobs = [executor.submit(one) for one in remote]
        except Exception as error:  # submitit passes on whatever sbatch says
            first = (str(error) or type(error).__name__).splitlines()[0]
            raise OpenSetError(f"Slurm did not take the jobs: {first}") from error
        self.tell(f"Slurm: {len(jobs)} jobs, {jobs[0].job_id} to {jobs[-1].job_id}; logs in {logs}/.")
        left = dict(enumerate(zip(jobs, tasks, strict=True)))
        while left:
            for number, (job, task) in list(left.items()):
                if job.done():
                    del left[number]
                    yield from _outcomes(job, task)
            if left:
                time.sleep(_POLL)

    def _executor(self, logs: Path) -> Any:
        import submitit

        parameters: dict[str, Any] = {name: _plain(value) for name, value in self.resources.slurm.items()}
        cluster = parameters.pop("cluster", "slurm")
        if cluster == "slurm" and shutil.which("sbatch") is None:
            raise OpenSetError("There is no sbatch here: run this on a machine that submits jobs to Slurm.")
        gpus = self.resources.gpus
        if gpus != int(gpus):
            raise OpenSetError(f"Slurm gives whole GPUs, and --gpus-per-cell is {gpus:g}: say 1, or use --engine ray.")
        try:
            tries = {"slurm_max_num_timeout": self.resources.retries} if cluster == "slurm" else {}
            executor = submitit.AutoExecutor(folder=logs / "%j", cluster=cluster, **tries)
            usual = {"name": "openset", "timeout_min": _TIMEOUT, "cpus_per_task": self.resources.cpus}
            executor.update_parameters(**{**usual, **({"gpus_per_node": int(gpus)} if gpus else {}), **parameters})
        except (NameError, ValueError, TypeError, AssertionError, RuntimeError) as error:
            raise OpenSetError(f"--slurm: {str(error).splitlines()[0]}") from error
        return executor


class _Requeued:
    """A task that, when its job is stopped, saves its training and asks for another job to resume it."""

    def __init__(self, remote: RemoteTask) -> None:
        self.remote = remote
        self._found: Future[list[Outcome[Any]]] | None = None

    def __call__(self) -> list[Outcome[Any]]:
        # In the main thread a training would take submitit's signals for its own. A daemon does not outlive the job.
        found = self._found = Future()
        threading.Thread(target=self._run, args=(found,), daemon=True).start()
        # A signal that the system hands to another thread is seen only when this one wakes up.
        while not wait([found], timeout=_WAKE).done:
            pass
        return found.result()

    def _run(self, found: "Future[list[Outcome[Any]]]") -> None:
        try:
            found.set_result(self.remote())
        except BaseException as error:
            found.set_exception(error)

    def checkpoint(self) -> Any:
        """What submitit puts in the queue again, called in the main thread when Slurm stops the job."""
        import submitit

        stop_trainings()
        if self._found is not None:  # what is not a training, such as scoring, is not waited for
            wait([self._found], timeout=_GRACE)
        return submitit.helpers.DelayedSubmission(_Requeued(self.remote))


def _outcomes(job: Any, task: Task[C]) -> list[Outcome[C]]:
    try:
        found: list[Outcome[C]] = job.result()
    except Exception as error:  # of submitit, or what the job raised
        last = (str(error).strip() or type(error).__name__).splitlines()[-1]
        return after_loss(task, f"Job {job.job_id} failed ({last}); run the same command again to resume.")
    return found


def _plain(value: str) -> int | str:
    return int(value) if value.isdigit() else value
