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
    KnownClassOption,
    NegativeLabelOption,
    Reading,
    ScoreOption,
    UnknownLabelOption,
    console,
    naming_files,
    progress,
    show_notes,
    table,
)
from openset.cli._outputs import (
    CsvOption,
    LatexOption,
    MarkdownOption,
    ReportOption,
    check_outputs,
    say_written,
    write_report,
    write_tables,
)
from openset.cli._splits import name_files

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
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    json: JsonOption = None,
    latex: LatexOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    report: ReportOption = None,
    resamples: Annotated[
        int | None, typer.Option("--resamples", min=2, max=1_000_000, help="Bootstrap resamples.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = 0,
) -> None:
    """Difference of two models on the same samples, with its 95 % interval and p-value.

    Samples are joined by id where both files have ids, otherwise the labels must be equal, row by row.

    Example: openset compare baseline.parquet ours.parquet --report comparison.html
    """
    from rich.markup import escape

    from openset._core.alignment import align
    from openset._io.json_files import write_json
    from openset.evaluation import Result, provenance, resamples_for
    from openset.intervals import Comparison, compare
    from openset.metrics import METRICS

    check_outputs(json, latex, markdown, csv, report, inputs=[first, second, fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    models = [reading.read(file) for file in (first, second)]
    with naming_files(first, second):
        a, b = align(*models)
    cards = [card for card in METRICS.values() if card.headline]
    n_resamples = resamples or resamples_for(len(a))
    results: list[tuple[Result, Comparison]] = []
    with naming_files(first, second), progress("Comparing", len(cards)) as advance:
        for card in cards:
            params = card.variants[0]
            found = compare(
                a,
                b,
                card.name,
                against=against,
                n_resamples=n_resamples,
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
    made = table(*_HEAD, title=f"{len(a):,} samples, against {escape(against)}")
    rows = [_row(result, found) for result, found in results]
    for row, (result, found) in zip(rows, results, strict=True):
        gap = found.difference
        sure = gap.low > 0 or gap.high < 0
        better = (gap.value > 0) == (METRICS[result.name].better == "higher")
        made.add_row(*map(escape, row), style=("green" if better else "red") if sure else "")
    if latex or markdown or csv:
        _tables(latex, markdown, csv, [first, second], rows, results)
    out = console()
    out.print(f"first:  {escape(str(first))}\nsecond: {escape(str(second))}\n")
    show_notes({first: a, second: b})
    out.print(made)
    out.print(
        "Difference = first - second. OpenAUC and AUROC: DeLong's paired test; others: paired bootstrap, where "
        f"{n_resamples:,} resamples cannot show a p-value below {2 / (n_resamples + 1):.2g}.",
        style="dim",
    )
    if report is not None:
        _report(report, [first, second], [a, b], results, against, resamples, seed)
        say_written(report)


_HEAD = ("", "first", "second", "difference", "95 % interval", "p")


def _row(result: "Result", found: "Comparison") -> list[str]:
    from openset.results.tables import number, signed

    gap = found.difference
    return [
        result.title,
        number(found.first.value),
        number(found.second.value),
        signed(gap.value),
        f"[{signed(gap.low)}, {signed(gap.high)}]",
        "<.001" if found.p_value < 0.001 else f"{found.p_value:.3f}".lstrip("0"),
    ]


def _tables(
    latex: Path | None,
    markdown: Path | None,
    csv: Path | None,
    files: Sequence[Path],
    rows: Sequence[Sequence[str]],
    results: Sequence[tuple["Result", "Comparison"]],
) -> None:
    """The comparison as printed, and every figure of it in full."""
    from openset.results.tables import PaperTable, csv_text, params_text

    lines = csv_text(
        ["name", "params", "against", "first", "second", "difference", "low", "high", "p_value"],
        (
            [
                result.name,
                params_text(result.params),
                result.against,
                found.first.value,
                found.second.value,
                found.difference.value,
                found.difference.low,
                found.difference.high,
                found.p_value,
            ]
            for result, found in results
        ),
    )
    write_tables(latex, markdown, csv, [PaperTable(["Metric", *name_files(files), *_HEAD[3:]], rows)], lines)


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
    from openset.evaluation import evaluate
    from openset.present.page import Paired

    names = name_files(files)
    parts = None if against == "all" else [against]
    evaluations = [evaluate(scores, against=parts, n_resamples=resamples, seed=seed) for scores in models]
    tests = [Paired(names[0], names[1], result.title, found, found.p_value) for result, found in results]
    write_report(path, files, names, models, evaluations, parts, tests=tests)
