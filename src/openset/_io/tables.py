"""Tables of Parquet and CSV files as polars frames: whole, or some rows at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from openset._io.atomic import replacing
from openset._io.csv_cells import guarded_table, unguarded_table
from openset._io.csv_layout import csv_layout
from openset._io.parquet import read_parquet, readable, without_panics
from openset._io.parquet_pages import check_pages
from openset._io.paths import existing
from openset._io.room import check_room
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl


def read_table(path: str | Path, *, names: Sequence[str] = (), prefixes: Sequence[str] = ()) -> "pl.DataFrame":
    """A Parquet, CSV or TSV file as a polars frame; CSV columns are text, to be converted where the row can be named.

    A file may write the columns that are called for, `names` and those that begin with one of `prefixes`, with capitals
    and blanks: they are given back as called for. What follows a prefix is the user's own, and stays as it is.
    """
    file = existing(path)
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": read_parquet,
        ".csv": _read_csv,
        ".tsv": _read_csv,
    }
    if file.suffix.lower() not in readers:
        raise OpenSetError(f"{file}: cannot read '{file.suffix}' files; use .parquet, .csv or .tsv.")
    table = readers[file.suffix.lower()](file)
    return with_plain_names(table, str(file), names=names, prefixes=prefixes)


def with_plain_names(
    table: "pl.DataFrame", called: str, *, names: Sequence[str] = (), prefixes: Sequence[str] = ()
) -> "pl.DataFrame":
    """A table of at least one row with its columns called as `read_table` says; an error calls the table `called`."""
    if table.height == 0:
        raise OpenSetError(f"{called} has column names but no rows.")
    return table.rename(_plain_names(called, table.columns, names, prefixes))


@dataclass(frozen=True)
class TableRows:
    """A Parquet, CSV or TSV file that is read some rows at a time, so that its length does not matter."""

    file: Path
    lazy: "pl.LazyFrame"
    kinds: dict[str, "pl.DataType"]
    """Names of the columns, as they are called for, with what they hold."""

    @classmethod
    def open(cls, path: str | Path, *, names: Sequence[str] = (), prefixes: Sequence[str] = ()) -> "TableRows":
        """Look at the columns; `names` and `prefixes` are called for, as in `read_table`."""
        file = existing(path)
        if file.suffix.lower() not in _SCANNERS:
            raise OpenSetError(f"{file}: cannot read '{file.suffix}' files; use .parquet, .csv or .tsv.")
        with readable(file), without_panics():
            lazy = _SCANNERS[file.suffix.lower()](file)
            schema = lazy.collect_schema()
        plain = _plain_names(str(file), schema.names(), names, prefixes)
        return cls(file, lazy.rename(plain), {plain[name]: kind for name, kind in schema.items()})

    def batches(self, columns: Sequence[str], n_rows: int) -> "Iterator[pl.DataFrame]":
        """These columns of about so many rows at a time, in the order of the file; text as it stands in CSV files."""
        with readable(self.file), without_panics():
            found = iter(self.lazy.select(columns).collect_batches(chunk_size=n_rows, maintain_order=True))
        seen = 0
        while True:
            with readable(self.file), without_panics():  # not while the caller works, whose own words must be seen
                table = next(found, None)
            if table is None:
                break
            seen += table.height
            if table.height:
                yield table if self.file.suffix.lower() == ".parquet" else unguarded_table(table)
        if not seen:
            raise OpenSetError(f"{self.file} has column names but no rows.")


def _scan_parquet(file: Path) -> "pl.LazyFrame":
    import polars as pl

    check_pages(file)
    return pl.scan_parquet(file, glob=False)


def _scan_csv(file: Path) -> "pl.LazyFrame":
    import polars as pl

    layout = csv_layout(file)
    return pl.scan_csv(
        file,
        separator=layout.separator,
        eol_char=layout.line_end,
        skip_rows=layout.n_skipped,
        infer_schema=False,
        glob=False,
    )


_SCANNERS: dict[str, Callable[[Path], "pl.LazyFrame"]] = {
    ".parquet": _scan_parquet,
    ".csv": _scan_csv,
    ".tsv": _scan_csv,
}


def _plain_names(called: str, columns: Sequence[str], names: Sequence[str], prefixes: Sequence[str]) -> dict[str, str]:
    """What each column of a table is called for as; an error calls the table `called`."""
    plain = [_plain(name.strip(), names, prefixes) for name in columns]
    twice = next((name for name in plain if plain.count(name) > 1 or name.endswith("_duplicated_0")), None)
    if twice is not None:
        raise OpenSetError(f"{called} has the column '{twice.removesuffix('_duplicated_0')}' twice.")
    return dict(zip(columns, plain, strict=True))


def _plain(name: str, names: Sequence[str], prefixes: Sequence[str]) -> str:
    plain = name.lower().replace(" ", "_")
    prefix = next((one for one in prefixes if plain.startswith(one)), None)
    if prefix is not None:
        return prefix + name[len(prefix) :].strip()
    return plain if plain in names else name


def _read_csv(file: Path) -> "pl.DataFrame":
    """CSV as spreadsheets write it: comma, semicolon or tab; a byte order mark; blanks around the names."""
    import polars as pl

    check_room(file, "CSV", file.stat().st_size)
    with readable(file):
        layout = csv_layout(file)
        table = pl.read_csv(
            file,
            separator=layout.separator,
            eol_char=layout.line_end,
            skip_rows=layout.n_skipped,
            infer_schema=False,
            glob=False,
        )
        return unguarded_table(table)


def write_csv(path: str | Path, table: "pl.DataFrame", *, separator: str = ",") -> None:
    """Write a table as CSV, whole or not at all, with the digits and texts that `read_table` gives back."""
    with replacing(path) as temporary, temporary.open("wb") as stream:
        add_csv(stream, table, separator=separator)


def add_csv(stream: BinaryIO, table: "pl.DataFrame", *, separator: str = ",", header: bool = True) -> None:
    """Write the rows of a table into an open CSV file."""
    import polars as pl
    from polars import selectors

    # A float32 is written with the digits of a float64, which is what readers of text make of it: the few that tell it
    # from its neighbours give another number there, on the other side of a threshold.
    wide = table.with_columns(selectors.float().cast(pl.Float64), selectors.categorical().cast(pl.String))
    guarded_table(wide).write_csv(stream, separator=separator, include_header=header)
