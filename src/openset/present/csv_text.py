"""Tables as CSV, for spreadsheets, in full precision."""

from openset._io.csv_cells import csv_text
from openset.results.table import Cell, Content, Table


def csv_table(table: Table) -> str:
    """Lines for a spreadsheet: numbers in full, and no text that a spreadsheet would run as a formula.

    >>> print(csv_table(Table(["model", "value"], [["=1+1", 0.912345678], ["ours", None]])), end="")
    model,value
    '=1+1,0.912345678
    ours,
    """
    return csv_text([_plain(cell) for cell in row] for row in (table.head, *table.rows, *table.below))


def _plain(cell: Content) -> str | float | None:
    if isinstance(cell, Cell):
        return cell.text if cell.value is None else cell.value
    return cell
