"""Large temporary files, which are written once and read once: they do not stay in the system's cache of files.

There they would push out what others need, and count as memory of a container; and where a machine gets its memory as
it touches it, every new page of the cache costs more than the work on the rows that it holds.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGE = 1 << 24
"""Bytes of a file that is worth it."""


def write_passing(file: Path, array: NDArray[Any]) -> None:
    """Write an array as it lies in memory."""
    with file.open("wb") as stream:
        array.tofile(stream)
        if array.nbytes >= _LARGE:
            stream.flush()
            os.fsync(stream.fileno())  # only what is on the disk can be let go
            _let_go(stream.fileno(), 0, 0)


def read_passing(file: str, dtype: np.dtype[Any], first: int, count: int) -> NDArray[Any]:
    """So many items from the first on; fewer where the file is cut off."""
    start = first * dtype.itemsize
    with Path(file).open("rb", buffering=0) as stream:
        found = np.fromfile(stream, dtype=dtype, count=count, offset=start)
        if stream.seek(0, os.SEEK_END) >= _LARGE:
            _let_go(stream.fileno(), start, count * dtype.itemsize)
    return found


def _let_go(stream: int, start: int, n_bytes: int) -> None:
    if hasattr(os, "posix_fadvise"):  # not on every system
        os.posix_fadvise(stream, start, n_bytes, os.POSIX_FADV_DONTNEED)
