"""Tables as small pieces of HTML, for notebooks."""

from collections.abc import Sequence
from html import escape

from openset.results.table import Cell, Content, Table, text_of

_ALIGN = {"l": "left", "c": "center", "r": "right"}


def html_table(table: Table) -> str:
    """A table without scripts or style sheets; every text is escaped, the best of a column is bold.

    >>> html_table(Table(["Model"], [["<b>"]]))
    '<table><thead><tr><th style="text-align: left">Model</th></tr></thead><tbody><tr><td ...>&lt;b&gt;</td></tr>...'
    """
    styles = [f'style="text-align: {_ALIGN[letter]}"' for letter in table.align]
    caption = f'<caption style="text-align: left">{escape(table.title)}</caption>' if table.title else ""
    head = "".join(f"<th {style}>{escape(name)}</th>" for name, style in zip(table.head, styles, strict=True))
    body = "".join(_row(row, styles) for row in (*table.rows, *table.below))
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _row(cells: Sequence[Content], styles: Sequence[str]) -> str:
    made = (f"<td {style}>{_shown(cell)}</td>" for cell, style in zip(cells, styles, strict=True))
    return f"<tr>{''.join(made)}</tr>"


def _shown(cell: Content) -> str:
    text = escape(text_of(cell)).replace("\n", "<br>")
    return f"<strong>{text}</strong>" if isinstance(cell, Cell) and cell.best else text
