"""Tables as Markdown, for README files and web pages."""

from collections.abc import Sequence

from openset.results.table import Cell, Content, Table, text_of

_RULES = {"l": "---", "c": ":---:", "r": "---:"}


def markdown_escape(text: str) -> str:
    r"""Text that Markdown shows as it is, inside a cell.

    >>> print(markdown_escape("a_b | c"))
    a\_b \| c
    """
    plain = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>|#~&$" else sign for sign in plain)


def markdown_table(table: Table) -> str:
    r"""A table, its title in bold above, its note below.

    >>> print(markdown_table(Table(["Model", "AUROC"], [["ours", Cell(".9", best=True)], ["a_b", ".8"]])))
    | Model | AUROC |
    |---|---:|
    | ours | **.9** |
    | a\_b | .8 |
    <BLANKLINE>
    """
    title = [f"**{markdown_escape(table.title)}**", ""] if table.title else []
    rule = "|" + "|".join(_RULES[letter] for letter in table.align) + "|"
    note = ["", markdown_escape(table.note)] if table.note else []
    return "\n".join([*title, _row(table.head), rule, *map(_row, (*table.rows, *table.below)), *note, ""])


def _row(cells: Sequence[Content]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(cell: Content) -> str:
    text = markdown_escape(text_of(cell))
    return f"**{text}**" if isinstance(cell, Cell) and cell.best else text
