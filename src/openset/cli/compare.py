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
from openset.cli._scale import EngineOption, Scale, TempOption
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
    engine: EngineOption = None,
    temp: TempOption = None,
) -> None:
    """Difference of two models on the same samples, with its 95 % interval and p-value.

    Samples are joined by id where both files have ids, otherwise the labels must be equal, row by row. Many rows, in
    folders or by patterns, are paired in their order.

    Example: openset compare baseline.parquet ours.parquet --report comparison.html
    Example: openset compare 'baseline/*.parquet' 'ours/*.parquet' --engine ray --temp /shared/scratch
    """
    from rich.markup import escape

    from openset._core.alignment import align
    from openset.evaluation import evaluate, resamples_for
    from openset.metrics import METRICS
    from openset.results import tables
    from openset.results.document import Document
    from openset.results.paired import Paired, paired_tests

    check_outputs(json, latex, markdown, csv, report, inputs=[Path(first), Path(second), fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    files = [Path(first), Path(second)]
    names = name_files(files)
    asked = [(card.name, dict(card.variants[0])) for card in METRICS.values() if card.headline]
    asked += [one for one in parse_metrics(metric) if one not in asked]
    scale = Scale(engine, temp=temp)
    models = scale.read_pair((first, second), reading)
    if isinstance(models, tuple):
        made, evaluations = scale.compare(models, asked, against=against, n_resamples=resamples, seed=seed)
        tests = [Paired(names[0], names[1], one, one.p_value) for one in made]
        n_resamples, n_samples, in_memory = evaluations[0].n_resamples, models[0].n_rows, None
    else:
        with naming_files(*files):
            in_memory = list(align(*models))
            n_samples = len(in_memory[0])
            n_resamples = resamples or resamples_for(n_samples)
            parts = None if against == "all" else [against]
            with progress("Comparing", len(asked) + 2 * n_resamples) as advance:
                tests = paired_tests(
                    asked,
                    names,
                    in_memory[0],
                    in_memory[1],
                    against=against,
                    n_resamples=n_resamples,
                    seed=seed,
                    progress=advance,
                )
                evaluations = [
                    evaluate(scores, against=parts, n_resamples=n_resamples, seed=seed, progress=advance)
                    for scores in in_memory
                ]
    document = Document.of(evaluations, names=names, files=[first, second], models=in_memory, tests=tests)
    if json is not None:
        document.save(json)
    paper = tables.pair_table(document, (names[0], names[1]))
    write_tables(latex, markdown, csv, [paper], tables.differences_table(document))
    console().print(f"first:  {escape(first)}\nsecond: {escape(second)}\n")
    note = (
        "Difference = first - second. OpenAUC and AUROC: DeLong's paired test; others: paired bootstrap, where "
        f"{n_resamples:,} resamples cannot show a p-value below {2 / (n_resamples + 1):.2g}."
    )
    show_notes(dict(zip(files, in_memory or (), strict=False)))
    title = f"{n_samples:,} samples, against {against}"
    show_table(replace(tables.pair_table(document, ("first", "second")), title=title, note=note))
    if report is not None:
        from openset.present.page import evaluation_page, write_page

        write_page(report, evaluation_page(document))
        say_written(report)
