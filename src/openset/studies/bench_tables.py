"""Tables of a grid for papers and web pages: Markdown, LaTeX, CSV; the best of each protocol in bold."""

from collections.abc import Callable, Sequence

from openset._io.csv_cells import csv_text
from openset.results.tables import latex_escape
from openset.studies.bench import COLUMNS, TITLES, Row


def cell_text(row: Row, metric: str, between: str = " ± ") -> str:
    """`98.5 ± 0.2`, in percent."""
    sd = row.sds[metric]
    return f"{100 * row.means[metric]:.1f}" + ("" if sd is None else f"{between}{100 * sd:.1f}")


def is_best(row: Row, metric: str, rows: Sequence[Row]) -> bool:
    """Whether no method is better on the same protocol, as printed."""
    mine = round(100 * row.means[metric], 1)
    return all(round(100 * one.means[metric], 1) <= mine for one in rows if one.protocol == row.protocol)


def _body(rows: Sequence[Row], bold: Callable[[str], str], between: str, name: Callable[[str], str]) -> list[list[str]]:
    return [
        [name(row.protocol), name(row.method), str(row.n)]
        + [
            bold(cell_text(row, metric, between)) if is_best(row, metric, rows) else cell_text(row, metric, between)
            for metric in COLUMNS
        ]
        for row in rows
    ]


_HEAD = ["Protocol", "Method", "Runs", *(TITLES[metric] for metric in COLUMNS)]


def markdown(rows: Sequence[Row]) -> str:
    """A table for README files."""
    lines = [_HEAD, ["---"] * 3 + ["---:"] * len(COLUMNS), *_body(rows, lambda text: f"**{text}**", " ± ", str)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def latex(rows: Sequence[Row]) -> str:
    """A booktabs table."""
    body = _body(rows, lambda text: rf"\textbf{{{text}}}", r" $\pm$ ", latex_escape)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}; figures in percent, mean and standard deviation",
            rf"\begin{{tabular}}{{lll{'r' * len(COLUMNS)}}}",
            r"\toprule",
            " & ".join(_HEAD) + r" \\",
            r"\midrule",
            *(" & ".join(line) + r" \\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def comma_separated(rows: Sequence[Row]) -> str:
    """Every figure, unrounded."""
    head = ["protocol", "method", "runs", *(f"{metric}_{kind}" for metric in COLUMNS for kind in ("mean", "sd"))]
    lines = [
        [row.protocol, row.method, row.n, *(one for metric in COLUMNS for one in (row.means[metric], row.sds[metric]))]
        for row in rows
    ]
    return csv_text([head, *lines])
