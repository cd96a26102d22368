"""`openset evaluate`: every metric of one or several models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import (
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
    say,
    show_table,
)
from openset.cli._outputs import (
    CsvOption,
    FiguresOption,
    LatexOption,
    MarkdownOption,
    ReportOption,
    check_outputs,
    say_written,
    write_tables,
)
from openset.cli._plugins import MetricOption, parse_metrics
from openset.cli._scale import BoundsOption, EngineOption, ExactOption, Scale, TempOption, read_all
from openset.cli._splits import group_files, name_files, split_of
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.results.document import Document


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Scores files or files of logits: .parquet, .csv, .npz. A folder or a quoted pattern, "
            "'logs/*.parquet', is one model."
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="all, negative, unknown or a group; may be repeated."),
    ] = None,
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
    figures: FiguresOption = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            help="A bar for every file and --against: 'open_auc>=0.9'; 'open_auc.low>=0.9' for the end of the "
            "interval; 'ccr_at_fpr(fpr=0.05)>=0.5' with any option; 'auroc@letters>=0.8' against these alone. "
            "Exit code 1 if one is missed.",
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option("--group-by", help="Regular expression; files with the same match are splits of one model."),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option("--resamples", min=2, max=1_000_000, help="Bootstrap resamples.")
    ] = None,
    intervals: Annotated[bool, typer.Option("--intervals/--no-intervals", help="Confidence intervals.")] = True,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")] = 0,
    engine: EngineOption = None,
    bounds: BoundsOption = False,
    exact: ExactOption = False,
    temp: TempOption = None,
) -> None:
    """Every open-set metric of one or several models, with 95 % intervals.

    Example: openset evaluate scores.csv --json result.json --require 'open_auc>=0.9'
    Example: openset evaluate a.parquet b.parquet --report report.html --figures figures
    Example: openset evaluate 'logs/*.parquet' --bounds
    """
    from openset.evaluation import evaluate, resamples_for
    from openset.results import tables
    from openset.results.document import Document
    from openset.results.metric_bars import needed_by, parse_metric_bar

    paths = [Path(file) for file in files]
    check_outputs(json, latex, markdown, csv, report, folder=figures, inputs=[*paths, fit])
    asked = [(name, options, None) for name, options in parse_metrics(metric)]
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    bars = [parse_metric_bar(text) for text in require or []]
    for bar in bars:
        if bar.end is not None and not intervals:
            raise OpenSetError(f"--require '{bar.text}' is about an interval: leave out --no-intervals.")
    scale = Scale(engine, bounds, exact, temp)
    sources = [scale.open(file) for file in files]
    many = {file: one for file, one in zip(files, sources, strict=True) if one is not None and not scale.fits(one)}
    if any(sources) and reading != Reading(background=background):
        raise OpenSetError("--score, --fit and labels as words are for single files: score the rows first.")
    if many and figures is not None:
        raise OpenSetError(f"{next(iter(many))} has too many rows to draw curves of: leave out --figures.")
    models = [
        None if file in many else reading.read(path) if source is None else read_all(source)
        for file, path, source in zip(files, paths, sources, strict=True)
    ]
    n_resamples = [0 if scores is None else resamples or resamples_for(len(scores)) for scores in models]
    also = [*asked, *needed_by(bars)]
    found = {
        file: scale.evaluate(source, against=against, also=also, intervals=intervals, n_resamples=resamples, seed=seed)
        for file, source in many.items()
    }
    evaluations = []
    with progress("Evaluating", sum(n_resamples) if intervals else 1) as advance:
        for file, path, scores, n in zip(files, paths, models, n_resamples, strict=True):
            if scores is None:
                evaluations.append(found[file])
                continue
            with naming_files(path):
                evaluations.append(
                    evaluate(
                        scores,
                        against=against,
                        also=also,
                        intervals=intervals,
                        n_resamples=n,
                        seed=seed,
                        progress=advance,
                    )
                )
    document = Document.of(
        evaluations,
        names=name_files(paths),
        files=files,
        models=None if many else [one for one in models if one is not None],
        groups=group_files(paths, group_by),
        splits=[split_of(path, one.meta) or str(path) for path, one in zip(paths, evaluations, strict=True)],
        bars=bars,
        against=against,
    )
    if json is not None:
        document.save(json)
    write_tables(latex, markdown, csv, [tables.headline_table(document)], tables.metrics_table(document))
    if report is not None:
        from openset.present.page import evaluation_page, write_page

        write_page(report, evaluation_page(document))
    drawn: list[Path] = []
    if figures is not None:
        from openset.present.plots import write_figures

        drawn = write_figures(figures, document)
    show(document)
    say_written(report, figures, drawn)
    missed = [result for result in document.gate if not result.reached]
    for result in missed:
        say(f"Bar missed: {result.sentence}", err=True)
    if missed:
        raise typer.Exit(1)
    if bars:
        reached = "Bar reached." if len(bars) == 1 else f"All {len(bars)} bars reached."
        console().print(f"[green]{reached}[/green]")


def show(document: "Document") -> None:
    """Print one full table for one model, or one row per model."""
    from rich.markup import escape

    from openset.results.tables import headline_table, model_table

    out = console()
    if len(document.names) == 1:
        show_table(model_table(document.names[0], document.evaluations[0]))
    else:
        show_table(headline_table(document, between="\n"))
        out.print("Each file's other metrics: --json, or evaluate one file alone.", style="dim")
    for name, note in document.notes:
        out.print(f"[yellow]Note[/yellow] ({escape(name)}): {escape(note)}")
