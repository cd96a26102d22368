"""Archives of named arrays, some rows at a time, so that the number of samples in them does not matter."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from openset._io.npz import plainly
from openset._io.paths import existing
from openset._io.room import check_room
from openset.errors import OpenSetError

_ENDING = ".npy"


@dataclass(frozen=True)
class StoredArray:
    """What the header of an array says."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool
    """Stored column after column: rows can then not be read one after the other."""

    @property
    def row_size(self) -> int:
        """Bytes of a row."""
        return int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize


@dataclass(frozen=True)
class NpzRows:
    """An NPZ file whose arrays are read some rows at a time; pickled objects are refused."""

    file: Path
    arrays: dict[str, StoredArray]

    @classmethod
    def open(cls, path: str | Path) -> "NpzRows":
        """Look at the headers of the arrays."""
        file = existing(path)
        found = {}
        with plainly(file, "NPZ"):
            if not zipfile.is_zipfile(file):
                raise OpenSetError(f"{file} is not an NPZ file.")
            with zipfile.ZipFile(file) as archive:
                for name in archive.namelist():
                    if name.endswith(_ENDING):
                        with archive.open(name) as stream:
                            found[name.removesuffix(_ENDING)] = _header(stream)
        return cls(file, found)

    def read(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Those of the arrays that there are, whole."""
        found = {}
        with plainly(self.file, "NPZ"), zipfile.ZipFile(self.file) as archive:
            for name in names:
                if name in self.arrays:
                    check_room(self.file, "NPZ", archive.getinfo(name + _ENDING).file_size)
                    with archive.open(name + _ENDING) as stream:
                        found[name] = np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
        return found

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[dict[str, NDArray[Any]]]:
        """So many rows of each of these arrays at a time; all of them must have the same number."""
        lengths = {name: self.arrays[name].shape[0] if self.arrays[name].shape else -1 for name in names}
        if len(set(lengths.values())) > 1:
            lengths_text = ", ".join(f"{name} {max(length, 1)}" for name, length in lengths.items())
            raise OpenSetError(
                f"{self.file}: the arrays differ in length ({lengths_text}); each sample needs one entry in every one."
            )
        total = max(lengths.values(), default=0)
        if total < 1:
            raise OpenSetError(f"{self.file} has no samples: its arrays are empty.")
        whole = self.read([name for name in names if self.arrays[name].by_columns])
        with ExitStack() as opened:
            with plainly(self.file, "NPZ"):
                archive = opened.enter_context(zipfile.ZipFile(self.file))
                streams = {n: opened.enter_context(archive.open(n + _ENDING)) for n in names if n not in whole}
                for stream in streams.values():
                    _header(stream)
            for start in range(0, total, n_rows):
                count = min(n_rows, total - start)
                with plainly(self.file, "NPZ"):
                    part = {name: array[start : start + count] for name, array in whole.items()}
                    part |= {name: _rows(stream, self.arrays[name], count) for name, stream in streams.items()}
                yield {name: part[name] for name in names}


def _header(stream: IO[bytes]) -> StoredArray:
    """The header; the stream then stands at the first number."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("pickled objects")
    return StoredArray(tuple(shape), dtype, bool(by_columns) and len(shape) > 1)


def _rows(stream: IO[bytes], array: StoredArray, count: int) -> NDArray[Any]:
    wanted = count * array.row_size
    if not wanted:  # empty texts, or no columns
        return np.zeros((count, *array.shape[1:]), dtype=array.dtype)
    found = stream.read(wanted)
    if len(found) < wanted:
        raise EOFError
    return np.frombuffer(found, dtype=array.dtype).reshape(count, *array.shape[1:])
