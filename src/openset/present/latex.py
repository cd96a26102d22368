"""Tables as LaTeX, for papers, with the lines of booktabs."""

import re
from collections.abc import Sequence

from openset.results.table import Cell, Content, Table, text_of

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"$<$",
    ">": r"$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex_escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(latex_escape("50 % ± a_b"))
    50 \% $\pm$ a\_b
    """
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def latex_table(table: Table) -> str:
    """A tabular; title and note are comments, as captions belong to the paper."""
    rule = [r"\midrule"] if table.below else []
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            *(f"% {' '.join(text.split())}" for text in (table.title, table.note) if text),
            rf"\begin{{tabular}}{{{table.align}}}",
            r"\toprule",
            _row(table.head),
            r"\midrule",
            *map(_row, table.rows),
            *rule,
            *map(_row, table.below),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _row(cells: Sequence[Content]) -> str:
    made = list(map(_cell, cells))
    # A row that begins with a bracket would be read as an option of the line break before it.
    return "{}" * made[0].startswith("[") + " & ".join(made) + r" \\"


def _cell(cell: Content) -> str:
    text = re.sub(r"(?<![\w-])-(?=[.\d])", "$-$", latex_escape(text_of(cell)))  # minus, not hyphen
    return rf"\textbf{{{text}}}" if isinstance(cell, Cell) and cell.best else text
