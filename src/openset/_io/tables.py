"""Tables of Parquet and CSV files as polars frames."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from openset._io.atomic import replacing
from openset._io.csv_cells import guarded_table, unguarded_table
from openset._io.csv_layout import csv_layout
from openset._io.parquet import read_parquet, readable
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
    plain = [_plain(name.strip(), names, prefixes) for name in table.columns]
    twice = next((name for name in plain if plain.count(name) > 1 or name.endswith("_duplicated_0")), None)
    if twice is not None:
        raise OpenSetError(f"{called} has the column '{twice.removesuffix('_duplicated_0')}' twice.")
    return table.rename(dict(zip(table.columns, plain, strict=True)))


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
    import polars as pl
    from polars import selectors

    # A float32 is written with the digits of a float64, which is what readers of text make of it: the few that tell it
    # from its neighbours give another number there, on the other side of a threshold.
    wide = guarded_table(table.with_columns(selectors.float().cast(pl.Float64)))
    with replacing(path) as temporary:
        wide.write_csv(temporary, separator=separator)
