"""What is made of many samples, in parts: one Parquet file for each, written whole or not at all, by any process.

So a stopped run goes on, and what is done twice, after a worker was lost, leaves one file.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openset._io.json_files import read_json, write_json
from openset._io.parquet import readable, write_parquet
from openset._io.paths import reason
from openset._io.score_files import METADATA
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

_MOST, _SEVERAL = 2048, 64
"""Samples in a part, at most; and parts that even few samples are divided into, so that there is work for many."""
_PLAN = "parts.json"


def part_size(n: int, batch: int) -> int:
    """Samples in a part: whole batches, and the same number whoever does the work.

    >>> part_size(100, 32), part_size(10_000, 32), part_size(10**6, 32)
    (32, 160, 2048)
    """
    return -(-max(1, min(_MOST, n // _SEVERAL)) // batch) * batch


@dataclass(frozen=True)
class Parts:
    """Parts of `size` samples in a folder; `plan` says what they are of."""

    folder: Path
    plan: Mapping[str, Any]
    n: int
    size: int

    @classmethod
    def beside(cls, out: Path, plan: Mapping[str, Any], n: int, batch: int) -> "Parts":
        """In a hidden folder beside the file or folder that they will be."""
        return cls(out.with_name(f".{out.name}.parts"), plan, n, part_size(n, batch))

    @property
    def _written(self) -> dict[str, Any]:
        content = {"schema": 1, **self.plan, "samples_per_part": self.size}
        written: dict[str, Any] = json.loads(json.dumps(content))  # as it will be read
        return written

    def begin(self, progress: Callable[[int], object], tell: Callable[[str], object]) -> int:
        """How many samples are done, which is told; parts of another model or other samples are removed."""
        try:
            same = read_json(self.folder / _PLAN) == self._written
        except OpenSetError:
            same = False
        if not same:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_json(self.folder / _PLAN, self._written)
        for file in self.folder.glob("*.attempts"):  # of a command that was stopped: that was not their fault
            file.unlink()
        done = self.n - sum(stop - first for first, stop in map(self.rows, self.missing()))
        if done:
            tell(f"Resuming: {done} of {self.n} samples are done.")
            progress(done)
        return done

    def rows(self, number: int) -> tuple[int, int]:
        """The first sample of a part, and the one after its last."""
        return number * self.size, min((number + 1) * self.size, self.n)

    def file(self, number: int) -> Path:
        """Where a part is."""
        return self.folder / f"part-{number:06d}.parquet"

    @property
    def _numbers(self) -> range:
        return range(-(-self.n // self.size))

    def missing(self) -> list[int]:
        """Numbers of the parts that are not there."""
        return [number for number in self._numbers if not self.file(number).exists()]

    def write(self, number: int, table: "pl.DataFrame", metadata: Mapping[str, Any]) -> None:
        """Write a part, and what to know about it."""
        write_parquet(self.file(number), table, {METADATA: json.dumps(metadata, allow_nan=False)})

    def tables(self) -> "Iterator[tuple[pl.DataFrame, dict[str, Any]]]":
        """The parts in their order, with what is to be known about each."""
        import polars as pl

        for number in self._numbers:
            file = self.file(number)
            with readable(file):
                table, metadata = pl.read_parquet(file, glob=False), pl.read_parquet_metadata(file)[METADATA]
            yield table, json.loads(metadata)

    # ---- attempts --------------------------------------------------------------------------------------------------

    def count_attempt(self, number: int) -> int:
        """Note that a part is begun; returns how often it has been."""
        with self._attempts(number).open("ab") as stream:
            stream.write(b".")
        return self._attempts(number).stat().st_size

    def forget_attempts(self, number: int) -> None:
        """It is done, or given up."""
        self._attempts(number).unlink(missing_ok=True)

    def _attempts(self, number: int) -> Path:
        return self.folder / f"part-{number:06d}.attempts"

    # ---- the end ---------------------------------------------------------------------------------------------------

    def publish(self, out: Path) -> None:
        """Make the folder what the user asked for: parts with rows in them, and what they are of, and nothing else."""
        import polars as pl

        wanted = {_PLAN} | {self.file(one).name for one in self._numbers}
        for file in self.folder.iterdir():
            empty = file.suffix == ".parquet" and file.name in wanted
            empty = empty and not pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
            if empty or file.name not in wanted:  # a killed worker leaves the file that it was writing
                file.unlink()
        old = out.with_name(f".{out.name}.old")
        try:
            shutil.rmtree(old, ignore_errors=True)
            with suppress(FileNotFoundError):
                out.rename(old)
            self.folder.rename(out)
        except OSError as error:
            raise OpenSetError(f"Cannot write {out}: {reason(error)}.") from error
        shutil.rmtree(old, ignore_errors=True)

    def remove(self) -> None:
        """What was asked for is written: the parts are not needed any more."""
        shutil.rmtree(self.folder, ignore_errors=True)


def is_folder_of_parts(path: Path) -> bool:
    """Whether a folder was made by `publish`, so that it may be made again."""
    return path.name != "" and path.is_dir() and ((path / _PLAN).exists() or not any(path.iterdir()))
