"""Tables as CSV, for spreadsheets, in full precision."""

import csv
import io

from openset.results.table import Cell, Content, Table


def csv_table(table: Table) -> str:
    """Lines for a spreadsheet: numbers in full, and no text that a spreadsheet would run as a formula.

    >>> print(csv_table(Table(["model", "value"], [["=1+1", 0.912345678], ["ours", None]])), end="")
    model,value
    '=1+1,0.912345678
    ours,
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_plain(cell) for cell in row] for row in (table.head, *table.rows, *table.below))
    return out.getvalue()


def _plain(cell: Content) -> str | float | None:
    if isinstance(cell, Cell):
        return guarded(cell.text) if cell.value is None else cell.value
    return guarded(cell) if isinstance(cell, str) else cell


def guarded(text: str) -> str:
    """Text that begins like a formula gets an apostrophe in front, which spreadsheets leave out."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
