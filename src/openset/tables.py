"""Figures as tables for a terminal and for papers."""

import csv as csv_format
import io
import json
from collections.abc import Mapping, Sequence

from openset.evaluation import Evaluation, Result


def number(value: float) -> str:
    """Three decimals, without the zero in front where there is nothing else: .912, 1.000, -.050."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


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


def markdown(
    names: Sequence[str], evaluations: Sequence[Evaluation], spreads: Mapping[str, Sequence[str]] | None = None
) -> str:
    """A Markdown table: one row per model with its headline figures, then mean and standard deviation rows."""
    titles, rows = headline_rows(names, evaluations)
    rows += [[name, *cells] for name, cells in (spreads or {}).items()]
    lines = [["Model", *titles], *rows]
    made = ["| " + " | ".join(map(markdown_escape, line)) + " |" for line in lines]
    made.insert(1, "|---|" + "---:|" * len(titles))
    return "\n".join([*made, ""])


def csv(names: Sequence[str], evaluations: Sequence[Evaluation]) -> str:
    """Every figure of every model in one line each, in full precision."""
    out = io.StringIO()
    writer = csv_format.writer(out, lineterminator="\n")
    writer.writerow(["model", "name", "params", "against", "value", "low", "high"])
    for name, evaluation in zip(names, evaluations, strict=True):
        for found in evaluation.results:
            params = json.dumps(dict(found.params), sort_keys=True) if found.params else ""
            writer.writerow([name, found.name, params, found.against, found.value, found.low, found.high])
    return out.getvalue()


def latex(names: Sequence[str], evaluations: Sequence[Evaluation], spreads: dict[str, list[str]]) -> str:
    """A booktabs table: one row per model with its headline figures, then mean and standard deviation rows."""
    titles, rows = headline_rows(names, evaluations)
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{l{'c' * len(titles)}}}",
        r"\toprule",
        " & ".join(["Model", *map(latex_escape, titles)]) + r" \\",
        r"\midrule",
        *(" & ".join([latex_escape(name), *cells]) + r" \\" for name, *cells in rows),
    ]
    if spreads:
        lines.append(r"\midrule")
        lines += [
            " & ".join([latex_escape(name), *cells]).replace("±", r"$\pm$") + r" \\" for name, cells in spreads.items()
        ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
