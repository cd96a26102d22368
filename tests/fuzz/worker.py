"""A process that tries many inputs one after the other, through the same function as the command line."""

import functools
import io
import os
import shutil
import sys
import tempfile
import traceback
from contextlib import redirect_stdout, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.attempts import prepare
from fuzz.judge import Outcome, Watch, judge
from fuzz.samples import Samples


def work(connection: Connection, samples: Samples, place: Path) -> None:
    """Answer each (seed, number) with the kind of attempt, its words, exit code and broken rules; stop at None."""
    sys.dont_write_bytecode = True
    place.mkdir(parents=True, exist_ok=True)
    for name in ("home", "tmp"):
        (place / name).mkdir(exist_ok=True)
    os.environ |= {
        "HOME": str(place / "home"),
        "TMPDIR": str(place / "tmp"),
        "XDG_CACHE_HOME": str(place / "home"),
        "MPLCONFIGDIR": str(place / "home"),
        "OPENSET_DATA": str(place / "home"),
        "COLUMNS": "120",
    }
    tempfile.tempdir = None
    few_resamples()
    _warm_up(samples, place)
    watch = Watch()
    connection.send("ready")
    while (job := connection.recv()) is not None:
        connection.send(_try(*job, samples=samples, place=place, watch=watch))


def few_resamples() -> None:
    """A training ends with intervals of a thousand resamples, which would take most of the time and try nothing."""
    import openset.evaluation

    openset.evaluation.resamples_for = lambda n_samples: 5


def _warm_up(samples: Samples, place: Path) -> None:
    """What libraries do once, when they are first used, is not done by any input."""
    import matplotlib.pyplot  # noqa: F401  looks for fonts
    import torch._dynamo  # noqa: F401  makes folders
    import typer.main

    from openset.cli import main

    typer.main.get_command = functools.cache(typer.main.get_command)  # a third of the time of a small command
    os.chdir(place)
    for words in (
        ["predict", str(samples.folder / "run"), str(samples.folder / "digit.png")],
        ["export", str(samples.folder / "run"), "--onnx", "tmp/x.onnx"],
    ):
        with suppress(SystemExit), redirect_stdout(io.StringIO()):
            main(words)


def _try(
    seed: int, number: int, *, samples: Samples, place: Path, watch: Watch
) -> tuple[str, list[str], int | None, list[str]]:
    folder = place / f"try{number}"
    attempt = prepare(seed, number, folder, samples)
    before = {file for file in folder.rglob("*") if (folder / "out") not in file.parents} - {folder / "out"}
    watch.allowed = (str(folder / "out"), str(place / "home"), str(place / "tmp"))
    watch.seen = []
    outcome = run(attempt.words, folder, place, watch)
    broken = [f"the system was told: {one}" for one in watch.seen]
    broken += judge(attempt, outcome, folder, before)
    if not broken:
        shutil.rmtree(folder)
    else:
        folder.rename(place.parent / "broken" / f"{seed}-{number}")
    return attempt.kind, attempt.words, outcome.code, broken


def run(words: list[str], folder: Path, place: Path, watch: Watch) -> Outcome:
    """Run a command with its output in files, as a shell would redirect it."""
    from openset.cli import main

    kept = [os.dup(number) for number in (1, 2)]
    out, err = place / "tmp" / "out.txt", place / "tmp" / "err.txt"
    code: int | None = 0
    os.chdir(folder)
    with out.open("wb") as first, err.open("wb") as second:
        sys.stdout.flush()
        os.dup2(first.fileno(), 1)
        os.dup2(second.fileno(), 2)
        watch.on = True
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        except BaseException:
            code = None
            traceback.print_exc()
        finally:
            watch.on = False
            sys.stdout.flush()
            sys.stderr.flush()
            for number, real in zip((1, 2), kept, strict=True):
                os.dup2(real, number)
                os.close(real)
            os.chdir(place)
    return Outcome(code, out.read_text(encoding="utf-8", errors="replace"), err.read_text("utf-8", "replace"))
