"""Parquet files by polars, which trusts them more than it should."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openset._io.atomic import replacing
from openset._io.parquet_pages import check_pages
from openset._io.room import check_room
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl


def read_parquet(file: Path) -> "pl.DataFrame":
    """A Parquet file whose pages and rows, by its own account, fit into the file and into memory."""
    import polars as pl

    with readable(file), without_panics():
        check_pages(file)
        lazy = pl.scan_parquet(file, glob=False)  # a name is a name: polars would read brackets and stars as a pattern
        width = sum(map(_width, lazy.collect_schema().dtypes()))
        check_room(file, "Parquet", lazy.select(pl.len()).collect().item() * width)
        return pl.read_parquet(file, glob=False)


def read_schema(file: Path) -> "pl.Schema":
    """Names and types of the columns."""
    import polars as pl

    with readable(file), without_panics():
        check_pages(file)
        return pl.scan_parquet(file, glob=False).collect_schema()


def write_parquet(path: str | Path, table: "pl.DataFrame", metadata: Mapping[str, str]) -> None:
    """Write a table as Parquet, whole or not at all."""
    with replacing(path) as temporary:
        table.write_parquet(temporary, metadata=dict(metadata))


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """One sentence for each of the ways in which polars fails on a table."""
    try:
        yield
    except OpenSetError:
        raise
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file} is not a text file in UTF-8; save it as CSV UTF-8.") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars' own errors, and its panics on broken files, which are no Exceptions
        first = (str(error) or type(error).__name__).splitlines()[0]
        kind = file.suffix[1:].upper().replace("PARQUET", "Parquet")
        raise OpenSetError(f"{file} is not a readable {kind} file, or it is cut off: {first}") from error


@contextmanager
def without_panics() -> Iterator[None]:
    """Hold back what is printed on standard error: where a damaged file fails, polars prints where in its own code."""
    try:
        real = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    with tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(real, 2)
            os.close(real)
        held.seek(0)
        os.write(2, held.read())  # of others, who had nothing to do with it


def _width(kind: "pl.DataType") -> int:
    """Bytes of a value; of a text the least that it takes."""
    import polars as pl

    if kind.is_numeric():
        return int(np.dtype(str(kind).lower()).itemsize) if kind.is_float() or kind.is_integer() else 16
    return 16 if kind in (pl.String, pl.Binary) else 4
