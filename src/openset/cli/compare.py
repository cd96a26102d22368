"""`openset compare`: difference of two models on the same samples, with interval and p-value."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

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
    show_table,
)
from openset.cli._outputs import (
    CsvOption,
    LatexOption,
    MarkdownOption,
    ReportOption,
    check_outputs,
    say_written,
    write_tables,
)
from openset.cli._plugins import MetricOption, parse_metrics
from openset.cli._scale import read_one
from openset.cli._splits import name_files


def command(
    first: Annotated[str, typer.Argument(help="Scores of the first model: a file, or many by folder or pattern.")],
    second: Annotated[str, typer.Argument(help="Scores of the second model on the same samples.")],
    against: AgainstOption = "all",
    metric: MetricOption = None,
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
    from openset.evaluation import evaluate, resamples_for
    from openset.metrics import METRICS
    from openset.results import tables
    from openset.results.document import Document
    from openset.results.paired import paired_tests

    check_outputs(json, latex, markdown, csv, report, inputs=[Path(first), Path(second), fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    files = [Path(first), Path(second)]
    names = name_files(files)
    models = [read_one(text, reading) for text in (first, second)]
    asked = [(card.name, dict(card.variants[0])) for card in METRICS.values() if card.headline]
    asked += [one for one in parse_metrics(metric) if one not in asked]
    with naming_files(*files):
        models = list(align(*models))
        n_resamples = resamples or resamples_for(len(models[0]))
        parts = None if against == "all" else [against]
        with progress("Comparing", len(asked) + 2 * n_resamples) as advance:
            tests = paired_tests(
                asked,
                names,
                models[0],
                models[1],
                against=against,
                n_resamples=n_resamples,
                seed=seed,
                progress=advance,
            )
            evaluations = [
                evaluate(scores, against=parts, n_resamples=n_resamples, seed=seed, progress=advance)
                for scores in models
            ]
    document = Document.of(evaluations, names=names, files=[first, second], models=models, tests=tests)
    if json is not None:
        document.save(json)
    paper = tables.pair_table(document, (names[0], names[1]))
    write_tables(latex, markdown, csv, [paper], tables.differences_table(document))
    console().print(f"first:  {escape(first)}\nsecond: {escape(second)}\n")
    note = (
        "Difference = first - second. OpenAUC and AUROC: DeLong's paired test; others: paired bootstrap, where "
        f"{n_resamples:,} resamples cannot show a p-value below {2 / (n_resamples + 1):.2g}."
    )
    show_notes(dict(zip(files, models, strict=True)))
    title = f"{len(models[0]):,} samples, against {against}"
    show_table(replace(tables.pair_table(document, ("first", "second")), title=title, note=note))
    if report is not None:
        from openset.present.page import evaluation_page, write_page

        write_page(report, evaluation_page(document))
        say_written(report)
