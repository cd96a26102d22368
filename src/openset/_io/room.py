"""Is there room? A file that cannot fit into memory is refused before it is read, not by an abort in the middle."""

from pathlib import Path

from openset._core.memory import free_memory
from openset.errors import OpenSetError

COPIES = {"Parquet": 2.5, "CSV": 5.0, "NPZ": 1.5, "NPY": 1.5, "JSON": 5.0, "images": 1.0}
"""Memory that reading takes at least, as a multiple of the numbers in a file (of the whole file for CSV and JSON)."""


def check_room(file: Path, kind: str, n_bytes: int) -> None:
    """Stop if a file of a kind, with so many bytes of numbers or text, does not fit."""
    needed, free = n_bytes * COPIES[kind], free_memory()
    if free is not None and needed > free:
        raise OpenSetError(
            f"{file} does not fit into memory: it holds {as_size(n_bytes)}, reading takes about {as_size(needed)}, and "
            f"{as_size(free)} are free. Take fewer rows or columns, or more memory."
        )


def as_size(n_bytes: float) -> str:
    """Bytes for people.

    >>> as_size(1500), as_size(5e9), as_size(12)
    ('1.5 kB', '5 GB', '12 bytes')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{max(n_bytes, 0):.0f} bytes"
