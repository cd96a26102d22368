"""`openset compare`: two models on the same samples."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import (
    AgainstOption,
    BackgroundOption,
    FitOption,
    JsonOption,
    ScoreOption,
    console,
    progress,
    read,
    table,
)
from openset.cli._outputs import ReportOption, check_outputs, say_written, write_report

if TYPE_CHECKING:
    from openset.evaluation import Result
    from openset.intervals import Comparison
    from openset.scores import Scores


def command(
    first: Annotated[Path, typer.Argument(help="Scores of the first model.")],
    second: Annotated[Path, typer.Argument(help="Scores of the second model on the same samples.")],
    against: AgainstOption = "all",
    score: ScoreOption = None,
    background: BackgroundOption = False,
    fit: FitOption = None,
    json: JsonOption = None,
    report: ReportOption = None,
    resamples: Annotated[int | None, typer.Option("--resamples", min=2, help="Bootstrap resamples.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = 0,
) -> None:
    """Difference of two models on the same samples, with its 95 % interval and p-value.

    Samples are joined by id where both files have ids, otherwise the labels must be equal, row by row.

    Example: openset compare baseline.parquet ours.parquet --report comparison.html
    """
    from rich.markup import escape

    from openset.evaluation import Result, provenance, resamples_for
    from openset.files import write_json
    from openset.intervals import Comparison, align, compare
    from openset.metrics import METRICS
    from openset.tables import number

    check_outputs(json, report, inputs=[first, second, fit])
    a, b = align(*(read(file, score, background, fit) for file in (first, second)))
    cards = [card for card in METRICS.values() if card.headline]
    results: list[tuple[Result, Comparison]] = []
    with progress("Comparing", len(cards)) as advance:
        for card in cards:
            params = card.variants[0]
            found = compare(
                a,
                b,
                card.name,
                against=against,
                n_resamples=resamples or resamples_for(len(a)),
                seed=seed,
                **params,
            )
            results.append((Result(card.name, params, against, found.difference.value, None, None), found))
            advance(1)
    if json is not None:
        entries = [
            {
                "name": result.name,
                "params": dict(result.params),
                "against": against,
                "first": asdict(found.first),
                "second": asdict(found.second),
                "difference": asdict(found.difference),
                "value": found.difference.value,
                "low": found.difference.low,
                "high": found.difference.high,
                "p_value": found.p_value,
            }
            for result, found in results
        ]
        write_json(
            json,
            {
                "schema": 1,
                "first": str(first),
                "second": str(second),
                "n": len(a),
                "metrics": entries,
                "provenance": provenance(),
            },
        )
    made = table(
        "",
        "first",
        "second",
        "difference",
        "95 % interval",
        "p",
        title=f"{len(a):,} samples, against {escape(against)}",
    )
    for result, found in results:
        gap = found.difference
        sure = gap.low > 0 or gap.high < 0
        better = (gap.value > 0) == (METRICS[result.name].better == "higher")
        colour = ("green" if better else "red") if sure else ""
        made.add_row(
            result.title,
            number(found.first.value),
            number(found.second.value),
            f"{gap.value:+.3f}".replace("0.", ".", 1),
            escape(f"[{gap.low:+.3f}, {gap.high:+.3f}]"),
            "<.001" if found.p_value < 0.001 else f"{found.p_value:.3f}".lstrip("0"),
            style=colour,
        )
    out = console()
    out.print(f"first:  {escape(str(first))}\nsecond: {escape(str(second))}\n")
    out.print(made)
    out.print(
        "Difference = first - second. OpenAUC and AUROC: DeLong's paired test; others: paired bootstrap.",
        style="dim",
    )
    if report is not None:
        _report(report, [first, second], [a, b], results, against, resamples, seed)
        say_written(report)


def _report(
    path: Path,
    files: Sequence[Path],
    models: Sequence["Scores"],
    results: Sequence[tuple["Result", "Comparison"]],
    against: str,
    resamples: int | None,
    seed: int,
) -> None:
    """The page of both models, with the tests just made."""
    from openset.cli.evaluate import name_files
    from openset.evaluation import evaluate
    from openset.report import Paired

    names = name_files(files)
    parts = None if against == "all" else [against]
    evaluations = [evaluate(scores, against=parts, n_resamples=resamples, seed=seed) for scores in models]
    tests = [Paired(names[0], names[1], result.title, found, found.p_value) for result, found in results]
    write_report(path, files, names, models, evaluations, parts, tests=tests)
