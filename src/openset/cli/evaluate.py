"""`openset evaluate`: every open-set metric of one or several models, with intervals."""

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
    show_table,
)
from openset.cli._gate import pass_gate
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
from openset.cli._page import FrozenOption, SamplesOption
from openset.cli._plugins import MetricOption, parse_metrics
from openset.cli._scale import BoundsOption, EngineOption, ExactOption, Scale, TempOption
from openset.cli._splits import group_files, split_of
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
    tune: Annotated[
        Path | None,
        typer.Option(
            "--tune",
            help="Validation outputs on which the parameters of each --score are chosen: against their open-set "
            "samples, or against held-out known classes where they have none.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            help="The model, or score, that all others are tested against; else the one "
            "that --tune chose, or the best.",
        ),
    ] = None,
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    json: JsonOption = None,
    latex: LatexOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    report: ReportOption = None,
    samples: SamplesOption = None,
    threshold: FrozenOption = None,
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
    Example: openset evaluate outputs.npz --fit train.npz --score all --latex scores.tex
    """
    from openset.evaluation import evaluate, resamples_for
    from openset.results import tables
    from openset.results.document import Document
    from openset.results.metric_bars import needed_by, parse_metric_bar
    from openset.results.score_tables import scores_table
    from openset.scoring import SEVERAL_RESAMPLES

    paths = [Path(file) for file in files]
    as_written = dict(zip(paths, files, strict=True))  # an address is no path: s3:// would lose a stroke
    check_outputs(json, latex, markdown, csv, report, folder=figures, inputs=[*paths, fit, tune, threshold])
    if report is None and (samples is not None or threshold is not None):
        raise OpenSetError("--samples and --threshold are shown on the page: add --report FILE.html.")
    asked = [(name, options, None) for name, options in parse_metrics(metric)]
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    bars = [parse_metric_bar(text) for text in require or []]
    for bar in bars:
        if bar.end is not None and not intervals:
            raise OpenSetError(f"--require '{bar.text}' is about an interval: leave out --no-intervals.")
    also = [*asked, *needed_by(bars)]
    scale = Scale(engine, bounds, exact, temp)
    given, models, sources = scale.read_models(files, reading, tune, seed)
    in_memory = [scores for scores in models if scores is not None]
    if len(in_memory) < len(models) and (figures or samples or threshold):
        raise OpenSetError(
            "Curves and samples are drawn of rows in memory: leave out --figures, --samples, --threshold."
        )
    counted = {
        place: scale.evaluate(source, against=against, also=also, intervals=intervals, n_resamples=resamples, seed=seed)
        for place, source in sources.items()
    }
    few = SEVERAL_RESAMPLES if given.several else None
    n_resamples = [0 if scores is None else resamples or few or resamples_for(len(scores)) for scores in models]
    evaluations = []
    with progress("Evaluating", sum(n_resamples) if intervals else 1) as advance:
        for place, (file, scores, n) in enumerate(zip(given.files, models, n_resamples, strict=True)):
            if scores is None:
                evaluations.append(counted[place])
                continue
            with naming_files(file):
                evaluations.append(
                    evaluate(
                        scores,
                        against=against,
                        also=also,
                        headline=given.several,
                        intervals=intervals,
                        n_resamples=n,
                        seed=seed,
                        progress=advance,
                    )
                )
    document = Document.of(
        evaluations,
        names=given.names,
        files=[as_written.get(file, str(file)) for file in given.files],
        models=None if counted else in_memory,
        groups={} if given.several else group_files(given.files, group_by),
        splits=[split_of(file, one.meta) or str(file) for file, one in zip(given.files, evaluations, strict=True)],
        bars=bars,
        against=against,
        reference=reference or given.chosen,
        remarks=given.remarks,
    )
    if json is not None:
        document.save(json)
    paper = scores_table(document) if given.several else tables.headline_table(document)
    write_tables(latex, markdown, csv, [paper], tables.metrics_table(document))
    if report is not None:
        from openset.cli._page import frozen_thresholds, open_samples
        from openset.present.page import evaluation_page, write_page

        frozen = None if counted else frozen_thresholds(given.files, in_memory, threshold)
        write_page(report, evaluation_page(document, frozen=frozen, contents=open_samples(samples)))
    drawn: list[Path] = []
    if figures is not None:
        from openset.present.plots import write_figures

        drawn = write_figures(figures, document)
    show(document, several=given.several)
    say_written(report, figures, drawn)
    pass_gate(document.gate)


def show(document: "Document", *, several: bool = False) -> None:
    """Print one full table for one model, or one row per model; `several` are scores of the same outputs."""
    from rich.markup import escape

    from openset.results.score_tables import scores_table
    from openset.results.tables import headline_table, model_table

    out = console()
    if several:
        show_table(scores_table(document, between="\n"))
    elif len(document.names) == 1:
        show_table(model_table(document.names[0], document.evaluations[0]))
    else:
        show_table(headline_table(document, between="\n"))
        out.print("Each file's other metrics: --json, or evaluate one file alone.", style="dim")
    for remark in document.remarks:
        out.print(f"Note: {remark}", style="yellow", highlight=False, markup=False)
    for name, note in document.notes:
        out.print(f"[yellow]Note[/yellow] ({escape(name)}): {escape(note)}")
