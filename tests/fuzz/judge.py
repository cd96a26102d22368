"""Whether an attempt kept the rules; every broken one is a sentence."""

import csv
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.given import Attempt
from fuzz.readers import UnreadableError, count_parts_slowly, read_detections_slowly, read_scores_slowly

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_WRITING = ("w", "a", "x", "+")
STARTING = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.startfile"}
MAKING = {"os.mkdir": 2, "os.rename": 2, "os.remove": 1, "os.rmdir": 1, "os.symlink": 2, "os.link": 2, "os.truncate": 1,
          "shutil.rmtree": 1}  # fmt: skip
"""What changes folders, and which of its arguments is the folder that a relative path begins in, if it is given."""


@dataclass
class Outcome:
    """What became of an attempt."""

    code: int | None
    """None: something other than an exit came out of the command."""
    out: str
    err: str


class Watch:
    """Notes what a command does to the system, by Python's own audit events."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] = ()
        self.seen: list[str] = []
        self.on = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(arguments[0], str | bytes):
            mode, flags = arguments[1], arguments[2]
            writes = any(one in mode for one in _WRITING) if isinstance(mode, str) else bool(flags & 0o1103)
            if writes:
                self._check(arguments[0])
        elif event in MAKING:
            number = arguments[MAKING[event]] if len(arguments) > MAKING[event] else -1
            begins = Path(f"/proc/self/fd/{number}").readlink() if isinstance(number, int) and number >= 0 else Path()
            for path in arguments[: 2 if event in {"os.rename", "os.link"} else 1]:
                if isinstance(path, str | bytes):
                    self._check(path, begins)
        elif event in STARTING or event in {"socket.connect", "socket.getaddrinfo", "pickle.find_class"}:
            self.seen.append(f"{event} {arguments!r:.200}")

    def _check(self, path: str | bytes, begins: Path = Path()) -> None:
        place = (begins / (path.decode(errors="replace") if isinstance(path, bytes) else path)).absolute()
        if not str(place).startswith(self.allowed) and str(place) != "/dev/null":
            self.seen.append(f"it wrote to {place}")


def judge(attempt: Attempt, outcome: Outcome, folder: Path, before: set[Path]) -> list[str]:
    """The rules that were broken."""
    broken = list(_manners(outcome))
    outside = {file for file in folder.rglob("*") if (folder / "out") not in file.parents} - {folder / "out"}
    broken += [f"outside --out: {file.relative_to(folder)}" for file in sorted(outside ^ before)]
    broken += [f"beside the folder: {file.name}" for file in folder.parent.iterdir() if file not in _neighbours(folder)]
    given = {folder / "out" / "run"}
    for file in sorted((folder / "out").rglob("*")):
        if file.is_file() and not given & set(file.parents) and (fault := half_file(file)):
            broken.append(f"half a file: {file.relative_to(folder)}: {fault}")
    if outcome.code == 0 and not broken:
        broken += list(_misreadings(attempt, folder))
    return broken


def _neighbours(folder: Path) -> set[Path]:
    return {folder, folder.parent / "tmp", folder.parent / "home"}


def _manners(outcome: Outcome) -> Iterator[str]:
    """One sentence and an exit code; nothing that a terminal would obey."""
    if outcome.code not in (0, 1, 2):
        yield f"exit {outcome.code}: {outcome.err[-300:]}"
    if "Traceback" in outcome.err or "panicked" in outcome.err:
        yield f"a traceback: {outcome.err[-300:]}"
    if "Warning: " in outcome.err and "OpenSetWarning" not in outcome.err:
        yield f"a warning of a library: {outcome.err[-300:]}"
    if outcome.code == 2 and not outcome.err.strip():
        yield "exit 2 without a sentence"
    for name, text in (("output", outcome.out), ("error output", outcome.err)):
        if found := _CONTROL.search(text):
            yield f"a control character {found[0]!r} in its {name}"


def half_file(file: Path) -> str:
    """What is wrong with a file that a command wrote; empty if it is whole."""
    kind = file.suffix
    if file.name.startswith("."):
        return "a temporary file was left behind"
    try:
        if kind == ".json":
            json.loads(file.read_text(encoding="utf-8"))
        elif kind == ".html":
            text = file.read_text(encoding="utf-8").rstrip()
            return "" if text.endswith("</html>") else "the page does not end"
        elif kind == ".csv":
            with file.open(encoding="utf-8", newline="") as stream:
                widths = {len(row) for row in csv.reader(stream)}
            return "" if len(widths) == 1 else f"rows of {sorted(widths)} cells"
        elif kind == ".tex":
            text = file.read_text(encoding="utf-8")
            return "" if text.count(r"\begin{") == text.count(r"\end{") > 0 else "an environment does not end"
        elif kind == ".npz":
            with zipfile.ZipFile(file) as archive:
                archive.testzip()
        elif kind == ".parquet":
            import polars as pl

            pl.read_parquet(file)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if file.stat().st_size else "it is empty"


def _misreadings(attempt: Attempt, folder: Path) -> Iterator[str]:
    for name in attempt.judged:
        yield from _scores_misread(attempt, folder / name, folder)
    if attempt.parts:
        yield from _parts_misread(folder / attempt.parts, folder)
    if attempt.words[:2] == ["detect", "evaluate"] and attempt.kind == "detections":
        yield from _detections_misread(folder)


def _scores_misread(attempt: Attempt, file: Path, folder: Path) -> Iterator[str]:
    from openset import Scores

    try:
        slow = read_scores_slowly(file)
    except UnreadableError as error:
        if file.suffix != ".parquet":  # two readers of Parquet may differ in what they still make out
            yield f"misread: the slow reader refuses {file.name}: {error}"
        return
    except Exception as error:
        yield f"misread: the slow reader fails on {file.name}: {type(error).__name__}: {error}"
        return
    fast = Scores.read(file)
    names = fast.class_names
    labels = [names[one] if names is not None and one >= 0 else int(one) for one in fast.labels]
    if labels != slow.labels:
        row = next((row for row, (one, two) in enumerate(zip(labels, slow.labels)) if one != two), "the number of rows")  # noqa: B905
        yield f"misread: labels of {file.name} differ in {row}: {labels[:40]} and {slow.labels[:40]}"
    classes = set(names) if names is not None else fast.n_classes
    if classes != slow.classes:
        yield f"misread: classes of {file.name}: {str(classes)[:300]} and {str(slow.classes)[:300]}"
    if attempt.words[0] == "evaluate":
        told = json.loads((folder / "out" / "r.json").read_text(encoding="utf-8"))["files"][0]
        counts = {
            "n_known": sum(isinstance(one, str) or one >= 0 for one in slow.labels),
            "n_negative": slow.labels.count(-1),
            "n_unknown": slow.labels.count(-2),
        }
        if any(told[key] != count for key, count in counts.items()):
            yield f"misread: {file.name} is told to hold { {key: told[key] for key in counts} }, it holds {counts}"


def _parts_misread(parts: Path, folder: Path) -> Iterator[str]:
    told = json.loads((folder / "out" / "r.json").read_text(encoding="utf-8"))["files"][0]
    try:
        counts = count_parts_slowly(parts)
    except UnreadableError:  # two readers of Parquet may differ in what they still make out
        return
    if any(told[key] != count for key, count in counts.items()):
        yield f"misread: the files are told to hold { {key: told[key] for key in counts} }, they hold {counts}"


def _detections_misread(folder: Path) -> Iterator[str]:
    told = json.loads((folder / "out" / "r.json").read_text(encoding="utf-8"))
    try:
        slow = read_detections_slowly(folder)
    except Exception as error:
        yield f"misread: the slow reader refuses the COCO files: {type(error).__name__}: {error}"
        return
    for key, counts in slow.items():
        if told[key] != counts:
            yield f"misread: {key} are told to be {told[key]}, there are {counts}"
