"""An attempt, and the files that it is given: samples, whole or damaged."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz.mutators import BY_KIND
from fuzz.samples import Samples

ODD_FILE_NAMES = [
    "=1+1",
    "[a]*?",
    "\x1b[31mred",
    "a b",
    "ü\u0301ñ",
    "<b>x",
    "-dash",
    "a\nb",
    "...",
    "'q'",
    "%n",
    "🦉" * 20,
]


@dataclass
class Attempt:
    """A command line in a folder of its own, in which `out/` alone may change."""

    words: list[str]
    judged: list[str] = field(default_factory=list)
    """Scores files that the command reads with no option that changes what they say."""
    parts: str = ""
    """A folder of Parquet files that the command reads as one."""
    kind: str = ""


def give(random: Random, folder: Path, samples: Samples, name: str, *, damaged: bool) -> str:
    """Put a sample into the folder, damaged or as it is, now and then under an odd name; returns the name."""
    data = samples.content(name)
    kind = Path(name).suffix
    if damaged:
        data = BY_KIND[kind](random, data)
    given = name if random.random() < 0.95 or not damaged else random.choice(ODD_FILE_NAMES) + kind
    (folder / given).write_bytes(data)
    if damaged and random.random() < 0.02:
        make_strange(random, folder / given)
    return f"./{given}" if given.startswith("-") else given


def give_folder(random: Random, folder: Path, samples: Samples, name: str, *, damaged: bool) -> str:
    """Put a folder of samples into the folder, one of its files damaged, missing, doubled or something else."""
    place = folder / name
    shutil.copytree(samples.folder / name, place)
    if damaged:
        files = sorted(file for file in place.rglob("*") if file.is_file())
        broken, change = random.choice(files), random.random()
        if change < 0.05:
            broken.unlink()
        elif change < 0.1:
            make_strange(random, broken)
        elif change < 0.15:
            broken.rename(broken.with_name(random.choice(ODD_FILE_NAMES) + broken.suffix))
        elif change < 0.2:
            shutil.copyfile(broken, broken.with_name(f"{broken.stem}_2{broken.suffix}"))
        else:
            broken.write_bytes(BY_KIND[broken.suffix](random, broken.read_bytes()))
    return name


def make_strange(random: Random, file: Path) -> None:
    """Put something else where a file was: a link to itself, a pipe, a device without end, a folder, nothing."""
    file.unlink()
    kinds: list[Callable[[], object]] = [
        lambda: file.symlink_to(file.name),
        lambda: os.mkfifo(file),
        lambda: file.symlink_to("/dev/zero"),
        lambda: file.symlink_to("/proc/self/mem"),
        lambda: file.symlink_to("nowhere"),
        file.mkdir,
        file.touch,
        lambda: file.write_bytes(bytes(100_000)),
    ]
    random.choice(kinds)()


def written(random: Random) -> list[str]:
    """Options that write the results once more, now and then."""
    words = []
    for option, file in (("--report", "out/r.html"), ("--csv", "out/r.csv"), ("--latex", "out/r.tex"),
                         ("--markdown", "out/r.md")):  # fmt: skip
        if random.random() < 0.12:
            words += [option, file]
    return words
