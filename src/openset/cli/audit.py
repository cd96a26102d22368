"""`openset audit`: how each metric could be fooled on these scores."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import (
    AgainstOption,
    BackgroundOption,
    FitOption,
    JsonOption,
    KnownClassOption,
    NegativeLabelOption,
    Reading,
    ScoreOption,
    UnknownLabelOption,
    console,
    naming_files,
    show_notes,
    table,
)
from openset.cli._outputs import check_outputs

if TYPE_CHECKING:
    from openset.audit import Audit


def command(
    scores: Annotated[Path, typer.Argument(help="Scores file or file of logits.")],
    against: AgainstOption = "all",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Attack here instead of where each metric is largest.")
    ] = None,
    score: ScoreOption = None,
    background: BackgroundOption = False,
    fit: FitOption = None,
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    json: JsonOption = None,
) -> None:
    """How each metric could be fooled here, and what OpenAUC says to it.

    Runs the three constructions of the OpenAUC paper on your scores: other models that catch fewer unknowns, or accept
    fewer right knowns, which a metric cannot tell from yours or even prefers.

    Example: openset audit scores.parquet
    """
    from rich.markup import escape

    from openset._io.json_files import write_json
    from openset.audit import audit
    from openset.results.tables import number

    check_outputs(json, inputs=[scores, fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    given = reading.read(scores)
    with naming_files(scores):
        found = audit(given, against=against, threshold=threshold)
    if json is not None:
        write_json(json, _as_json(found, against))
    out = console()
    show_notes({scores: given})
    if against != "all":
        meant = {"negative": "negatives", "unknown": "true unknowns"}.get(against, f"samples of group {against}")
        out.print(f"Unknowns below are the {escape(meant)} alone (--against {escape(against)}).", style="dim")
    for finding in found.findings:
        out.print(f"[bold]{finding.construction}[/bold]  {escape(finding.sentence)}")
    made = table(
        "unknowns", "macro F", "micro F", "macro Youden", "micro Youden", "norm. accuracy", "CCR",
        title="What each metric says at a share of unknowns caught (paper's Fig. 1)",
    )  # fmt: skip
    for share, row in _along_recall(found).items():
        made.add_row(f"{share:.0%} caught", *(number(value) for value in row))
    out.print()
    out.print(made)
    marks = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "-"}
    made = table(
        "metric",
        "sees wrong knowns",
        "sees missed unknowns",
        "needs no threshold",
        "one number",
        title="Table 1 on these scores",
    )
    for line in found.table:
        made.add_row(line.metric, marks[line.close], marks[line.open], marks[line.threshold], marks[line.numeric])
    out.print(made)
    out.print(
        f"{found.tied_pairs:.1%} of the pairs are tied. '-': the construction found nothing to exchange here.",
        style="dim",
    )


def _along_recall(found: "Audit") -> dict[float, list[float]]:
    """The curve at 0, 25, 50, 75, 90, 95 and 99 % of unknowns caught: the largest threshold that catches so many."""
    curve = found.curve
    rows = {}
    for share in (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99):
        at = int((curve.unknown_recall >= share).sum()) - 1
        columns = (
            curve.f_macro, curve.f_micro, curve.youden_macro, curve.youden_micro, curve.normalized_accuracy, curve.ccr
        )  # fmt: skip
        rows[share] = [float(column[at]) for column in columns]
    return rows


def _as_json(found: "Audit", against: str) -> dict[str, Any]:
    names = ("f_macro", "f_micro", "youden_macro", "youden_micro", "normalized_accuracy", "ccr")
    return {
        "schema": 1,
        "against": against,
        "findings": [{**asdict(finding), "sentence": finding.sentence} for finding in found.findings],
        "table": [asdict(row) for row in found.table],
        "curve": [
            {"unknown_recall": share, **dict(zip(names, row, strict=True))}
            for share, row in _along_recall(found).items()
        ],
        "tied_pairs": found.tied_pairs,
    }
