"""Figures as tables for a terminal and for papers."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from openset._io import csv_cells
from openset.evaluation import Evaluation, Result


def number(value: float) -> str:
    """Three decimals, without the zero in front where there is nothing else: .912, 1.000, -.050."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(value: float) -> str:
    """A difference: +.041, -.204."""
    text = number(value)
    return text if text.startswith("-") else f"+{text}"


def counted(n: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def interval(result: Result, *, between: str = " ") -> str:
    """`.912 [.901, .923]`."""
    if result.low is None or result.high is None:
        return number(result.value)
    return f"{number(result.value)}{between}[{number(result.low)}, {number(result.high)}]"


def latex_escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": r"$<$",
        ">": r"$>$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
    return "".join(special.get(sign, sign) for sign in text)


def markdown_escape(text: str) -> str:
    """Text that Markdown shows as it is, inside a cell."""
    plain = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>|#~&$" else sign for sign in plain)


def headline_rows(names: Sequence[str], evaluations: Sequence[Evaluation]) -> tuple[list[str], list[list[str]]]:
    """Titles of the headline figures, and one row per model: its name and those figures with their intervals."""
    titles = [result.title for result in evaluations[0].headline(evaluations[0].results[0].against)]
    rows = [
        [name, *(interval(r) for r in evaluation.headline(evaluation.results[0].against))]
        for name, evaluation in zip(names, evaluations, strict=True)
    ]
    return titles, rows


@dataclass(frozen=True)
class PaperTable:
    """A table of texts: `below` are rows under a line of their own, such as means."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[Sequence[str]] = ()
    title: str = ""

    def markdown(self) -> str:
        """For README files and web pages."""
        made = ["| " + " | ".join(map(markdown_escape, row)) + " |" for row in (self.head, *self.rows, *self.below)]
        made.insert(1, "|---|" + "---:|" * (len(self.head) - 1))
        title = [f"**{markdown_escape(self.title)}**", ""] if self.title else []
        return "\n".join([*title, *made, ""])

    def latex(self) -> str:
        """For papers, with the lines of booktabs."""
        rule = [r"\midrule"] if self.below else []
        return "\n".join(
            [
                r"% needs \usepackage{booktabs}",
                *([f"% {' '.join(self.title.split())}"] if self.title else []),
                rf"\begin{{tabular}}{{l{'c' * (len(self.head) - 1)}}}",
                r"\toprule",
                _latex_row(self.head),
                r"\midrule",
                *map(_latex_row, self.rows),
                *rule,
                *map(_latex_row, self.below),
                r"\bottomrule",
                r"\end{tabular}",
                "",
            ]
        )


def _latex_row(cells: Sequence[str]) -> str:
    escaped = [re.sub(r"(?<![\w-])-(?=[.\d])", "$-$", latex_escape(cell)) for cell in cells]  # minus, not hyphen
    # A row that begins with a bracket would be read as an option of the line break before it.
    return "{}" * escaped[0].startswith("[") + " & ".join(escaped) + r" \\"


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lines for a spreadsheet, figures in full precision."""
    return csv_cells.csv_text([head, *rows])


def headline_table(
    names: Sequence[str], evaluations: Sequence[Evaluation], spreads: Mapping[str, Sequence[str]] | None = None
) -> PaperTable:
    """One row per model with its headline figures, then mean and standard deviation rows."""
    titles, rows = headline_rows(names, evaluations)
    return PaperTable(["Model", *titles], rows, [[name, *cells] for name, cells in (spreads or {}).items()])


def csv(names: Sequence[str], evaluations: Sequence[Evaluation]) -> str:
    """Every figure of every model in one line each, in full precision."""
    return csv_text(
        ["model", "name", "params", "against", "value", "low", "high"],
        (
            [name, found.name, params_text(found.params), found.against, found.value, found.low, found.high]
            for name, evaluation in zip(names, evaluations, strict=True)
            for found in evaluation.results
        ),
    )


def params_text(params: Mapping[str, object]) -> str:
    """Options of a metric as JSON, nothing where there are none."""
    return json.dumps(dict(params), sort_keys=True) if params else ""
