"""`openset audit`: how each metric could be fooled on your own scores."""

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
    show_table,
)
from openset.cli._outputs import check_outputs

if TYPE_CHECKING:
    from openset.audit import Audit

_COLUMNS = {
    "f_macro": "macro F",
    "f_micro": "micro F",
    "youden_macro": "macro Youden",
    "youden_micro": "micro Youden",
    "normalized_accuracy": "norm. accuracy",
    "ccr": "CCR",
}


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
    fewer correct knowns, which a metric cannot tell from yours or even prefers.

    Example: openset audit scores.parquet
    """
    from rich.markup import escape

    from openset._core.numbers import number
    from openset._io.json_files import write_json
    from openset.audit import audit
    from openset.results.table import Cell, Table
    from openset.results.verdict import open_set

    check_outputs(json, inputs=[scores, fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    given = reading.read(scores)
    with naming_files(scores):
        found = audit(given, against=against, threshold=threshold)
    if json is not None:
        write_json(json, _as_json(found, against))
    show_notes({scores: given})
    out = console()
    if against != "all":
        out.print(
            f"Unknowns below are the {escape(open_set(against))} alone (--against {escape(against)}).", style="dim"
        )
    for finding in found.findings:
        out.print(f"[bold]{finding.construction}[/bold]  {escape(finding.sentence)}")
    out.print()
    show_table(
        Table(
            ["unknowns", *_COLUMNS.values()],
            [[f"{share:.0%} caught", *map(number, row)] for share, row in _along_recall(found).items()],
            title="What each metric says at a fraction of unknowns caught (paper's Fig. 1)",
        )
    )
    marks = {True: Cell("yes", tone="good"), False: Cell("no", tone="bad"), None: Cell("-")}
    show_table(
        Table(
            ["metric", "sees misclassified knowns", "sees missed unknowns", "needs no threshold", "one number"],
            [
                [line.metric, marks[line.close], marks[line.open], marks[line.threshold], marks[line.numeric]]
                for line in found.table
            ],
            title="Table 1 on these scores",
            note=f"{found.tied_pairs:.1%} of the pairs are tied. '-': the construction found nothing to exchange here.",
        )
    )


def _along_recall(found: "Audit") -> dict[float, list[float]]:
    """The metrics at each fraction of unknowns caught, in the order of `_COLUMNS`."""
    return {
        share: [float(getattr(found.curve, name)[at]) for name in _COLUMNS] for share, at in found.at_recall.items()
    }


def _as_json(found: "Audit", against: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "against": against,
        "findings": [{**asdict(finding), "sentence": finding.sentence} for finding in found.findings],
        "table": [asdict(row) for row in found.table],
        "curve": [
            {"unknown_recall": share, **dict(zip(_COLUMNS, row, strict=True))}
            for share, row in _along_recall(found).items()
        ],
        "tied_pairs": found.tied_pairs,
    }
