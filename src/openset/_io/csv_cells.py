"""CSV for people with spreadsheets: a name that begins like a formula must not become one."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_FORMULA = r"^('*[=+\-@\t\r])"
"""How a formula begins; with the apostrophes that a name may have of its own, so that taking one off gives it back."""
_GUARDED = r"^'('*[=+\-@\t\r])"


def guarded(text: str) -> str:
    """Text that begins like a formula, with an apostrophe in front, which spreadsheets take for "this is text".

    >>> guarded("=1+1"), guarded("cat"), guarded("'=1")
    ("'=1+1", 'cat', "''=1")
    """
    return re.sub(_FORMULA, r"'\1", text)


def unguarded(text: str) -> str:
    """The way back.

    >>> unguarded("'=1+1"), unguarded("'tis"), unguarded("''=1")
    ('=1+1', "'tis", "'=1")
    """
    return re.sub(_GUARDED, r"\1", text)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Lines of a CSV file: numbers in full, texts guarded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def guarded_table(table: "pl.DataFrame") -> "pl.DataFrame":
    """A table with its texts guarded."""
    import polars as pl

    return table.with_columns(pl.col(pl.String).str.replace(_FORMULA, "'${1}"))


def unguarded_table(table: "pl.DataFrame") -> "pl.DataFrame":
    """The way back."""
    import polars as pl

    return table.with_columns(pl.col(pl.String).str.replace(_GUARDED, "${1}"))
