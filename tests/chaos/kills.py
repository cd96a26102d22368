"""Commands that are killed at random moments and run again: what they leave must be what an undisturbed one leaves.

Every command runs in a fork of this process, which has imported all it needs and run nothing: a start takes no time,
and the moments of the kills fall into the work.
"""

import json
import os
import pickle
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from fuzz.judge import half_file

_DIGITS = ["--set", "train.epochs=4", "--set", "backbone.width=4", "--set", "data.batch_size=64"]
GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Job:
    """A command that can be run again after a kill.

    `OUT` stands for the folder of its results, `RUN` for the finished training run of the first job.
    """

    name: str
    first: tuple[str, ...]
    again: tuple[str, ...]
    """How it goes on."""
    share: float
    """Of all kills."""

    def words(self, out: Path, *, again: bool) -> list[str]:
        """The command line."""
        run = out.parent / "train-whole" / "run"
        return [
            word.replace("OUT", str(out)).replace("RUN", str(run)) for word in (self.again if again else self.first)
        ]


_TRAIN = ("train", "--protocol", "digits", "--method", "softmax", *_DIGITS, "--out", "OUT/run")
_BENCH = ("bench", "--protocols", "digits", "--methods", "softmax,maxlogit", "--splits", "0", *_DIGITS,
          "--out", "OUT")  # fmt: skip
_EVALUATE = ("evaluate", str(GOLDEN / "a.csv"), str(GOLDEN / "b.csv"), "--resamples", "50", "--report", "OUT/r.html",
             "--json", "OUT/r.json", "--csv", "OUT/r.csv", "--latex", "OUT/r.tex")  # fmt: skip
_OUTPUTS = ("outputs", "RUN", "digits", "--out", "OUT/o.npz", "--json", "OUT/o.json")
_WATCH = ("watch", "RUN/threshold.json", "RUN/scores_test.parquet", "--window", "20", "--unknown-share", "0.9",
          "--json", "OUT/w.json", "--report", "OUT/w.html")  # fmt: skip
_APPLY = ("apply", "RUN/threshold.json", "RUN/scores_test.parquet", "--out", "OUT/d.parquet", "--json", "OUT/d.json")
JOBS = (
    Job("train", _TRAIN, (*_TRAIN, "--resume"), 0.4),
    Job("bench", _BENCH, _BENCH, 0.2),
    Job("evaluate --report", _EVALUATE, _EVALUATE, 0.1),
    Job("outputs", _OUTPUTS, _OUTPUTS, 0.1),
    Job("watch", _WATCH, _WATCH, 0.1),
    Job("apply", _APPLY, _APPLY, 0.1),
)


def _start(words: list[str]) -> int:
    """The process that runs a command, silently."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        from openset.cli import main

        main(words)
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        os._exit(code)


def run(words: list[str], kill_after: float | None = None) -> int | None:
    """The exit code of a command; None if it was killed, which it is after so many seconds."""
    child, began = _start(words), time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if kill_after is not None and time.monotonic() - began >= kill_after:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.002)


def in_fork(function: Callable[[Path], Any], argument: Path) -> Any:
    """What a function returns, computed in a fork: libraries that start threads here would hang in all later forks."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            with os.fdopen(theirs, "wb") as stream:
                pickle.dump(function(argument), stream)
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as stream:
        answer = pickle.load(stream)  # noqa: S301  from our own fork
    os.waitpid(child, 0)
    return answer


def kill_many(n: int, seed: int, place: Path) -> int:
    """Kill `n` times, tell how many results are those of an undisturbed run; 1 if not all are."""
    _import_all()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["OPENSET_CACHE"] = str(place / "cache")
    random = Random(seed)
    wanted: dict[str, tuple[dict[str, Any], float]] = {}
    for job in JOBS:
        began = time.monotonic()
        out = place / f"{job.name.split()[0]}-whole"
        code = run(job.words(out, again=False))
        assert code == 0, f"{job.name} ends with exit code {code}"
        wanted[job.name] = in_fork(results, out), time.monotonic() - began
    kills: Counter[str] = Counter()
    same: Counter[str] = Counter()
    while sum(kills.values()) < n:
        job = random.choices(JOBS, [one.share for one in JOBS])[0]
        expected, seconds = wanted[job.name]
        out = place / f"try{sum(kills.values())}-{random.randrange(10**9)}"
        here = 0
        for attempt in range(random.choice([1, 1, 2, 3])):
            if sum(kills.values()) + here >= n:
                break
            began = time.monotonic()
            code = run(job.words(out, again=attempt > 0), kill_after=random.uniform(0, seconds))
            if code is not None:  # it was faster: the next kills come earlier
                wanted[job.name] = expected, min(seconds, time.monotonic() - began)
                break
            here += 1
            for file, fault in in_fork(half_files, out):
                print(f"after a kill of {job.name} (seed {seed}): {file}: {fault}")
                return 1
        if not here:
            continue
        code = run(job.words(out, again=_begun(out)))
        found = in_fork(results, out)
        differing = sorted(key for key in {*expected, *found} if expected.get(key) != found.get(key))
        kills[job.name] += here
        same[job.name] += here if code == 0 and not differing else 0
        shutil.rmtree(out)
        print(f"{sum(kills.values())} kills so far: {sum(same.values())} identical", file=sys.stderr, flush=True)
        if code != 0 or differing:
            print(f"{job.name} after {here} kills (seed {seed}): exit {code}, other than undisturbed: {differing[:5]}")
    by_job = ", ".join(f"{name}: {count}" for name, count in kills.items())
    print(f"{sum(kills.values())} kills: {sum(same.values())} identical ({by_job})")
    return int(sum(kills.values()) != sum(same.values()))


def _import_all() -> None:
    """What the commands import, so that forks need not; nothing runs, or its threads would be missing there."""
    import lightning_fabric  # noqa: F401
    import polars  # noqa: F401
    import torchmetrics  # noqa: F401

    import openset.cli
    import openset.evaluation
    import openset.present.page
    import openset.studies.bench
    import openset.train.run  # noqa: F401


def _begun(out: Path) -> bool:
    """Whether there is something to resume; a run that was killed before has nothing but perhaps its config."""
    return (out / "run" / "config.yaml").exists() or not (out / "run").exists()


def half_files(out: Path) -> list[tuple[Path, str]]:
    """Files under their final names that are not whole; temporary ones are hidden and may stay behind."""
    files = [file for file in sorted(out.rglob("*")) if file.is_file() and not file.name.startswith(".")]
    return [(file, fault) for file in files if file.name != "run.lock" and (fault := half_file(file))]


def results(out: Path) -> dict[str, Any]:
    """Everything that a command left, as values to compare: without times, versions and the number of resumptions."""
    return {
        str(file.relative_to(out)): _content(file)
        for file in sorted(out.rglob("*"))
        if file.is_file() and not file.name.startswith(".") and file.name not in {"run.lock", "state.safetensors"}
    }


def _content(file: Path) -> Any:
    if file.suffix == ".json":
        return _lasting(json.loads(file.read_text(encoding="utf-8")))
    if file.suffix == ".safetensors":
        data = file.read_bytes()
        return data[8 + int.from_bytes(data[:8], "little") :]  # the tensors; the description has times
    if file.suffix == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(file, use_threads=False).to_pydict()
    if file.suffix == ".npz":
        import numpy as np

        with np.load(file) as archive:
            return {name: archive[name].tobytes() for name in archive.files if name != "openset"}
    if file.suffix in {".html", ".tex", ".md", ".csv"}:
        return _without_times(file)
    return file.read_bytes()


def _without_times(file: Path) -> Any:
    """The size of a page, which packs its values; of tables what does not begin with a time."""
    text = file.read_text(encoding="utf-8")
    return "whole" if file.suffix == ".html" else [line for line in text.splitlines() if "seconds" not in line]


_PASSING = {"made", "provenance", "seconds", "resumed", "model", "minutes", "times"}


def _lasting(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _lasting(value) for key, value in content.items() if key not in _PASSING}
    return [_lasting(one) for one in content] if isinstance(content, list) else content
