"""Figures as tables for a terminal and for papers."""

from collections.abc import Sequence

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


def latex(names: Sequence[str], evaluations: Sequence[Evaluation], spreads: dict[str, list[str]]) -> str:
    """A booktabs table: one row per model with its headline figures, then mean and standard deviation rows."""
    titles = [result.title for result in evaluations[0].headline(evaluations[0].results[0].against)]
    rows = [
        [latex_escape(name), *(interval(r) for r in evaluation.headline(evaluation.results[0].against))]
        for name, evaluation in zip(names, evaluations, strict=True)
    ]
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{l{'c' * len(titles)}}}",
        r"\toprule",
        " & ".join(["Model", *map(latex_escape, titles)]) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
    ]
    if spreads:
        lines.append(r"\midrule")
        lines += [
            " & ".join([latex_escape(name), *cells]).replace("±", r"$\pm$") + r" \\" for name, cells in spreads.items()
        ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
