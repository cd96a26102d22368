"""`openset evaluate`: every figure of one or several models."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import (
    BackgroundOption,
    FitOption,
    JsonOption,
    ScoreOption,
    console,
    naming_files,
    progress,
    read,
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
    write_report,
    write_tables,
)
from openset.cli._plugins import MetricOption, parse_metrics
from openset.cli._splits import group_files, name_files
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.evaluation import Evaluation, Result


def command(
    files: Annotated[list[Path], typer.Argument(help="Scores files or files of logits: .parquet, .csv, .npz.")],
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="all, negative, unknown or a group; may be repeated."),
    ] = None,
    metric: MetricOption = None,
    score: ScoreOption = None,
    background: BackgroundOption = False,
    fit: FitOption = None,
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
) -> None:
    """Every open-set figure of one or several models, with 95 % intervals.

    Example: openset evaluate scores.csv --json result.json --require 'open_auc>=0.9'
    Example: openset evaluate a.parquet b.parquet --report report.html --figures figures
    """
    from openset.evaluation import evaluate, resamples_for
    from openset.results.metric_bars import check_metric_bars, needed_by, parse_metric_bar

    check_outputs(json, latex, markdown, csv, report, folder=figures, inputs=[*files, fit])
    asked = [(name, options, None) for name, options in parse_metrics(metric)]
    bars = [parse_metric_bar(text) for text in require or []]
    for bar in bars:
        if bar.end is not None and not intervals:
            raise OpenSetError(f"--require '{bar.text}' is about an interval: leave out --no-intervals.")
    models = [read(file, score, background, fit) for file in files]
    names = name_files(files)
    n_resamples = [resamples or resamples_for(len(scores)) for scores in models]
    evaluations = []
    with progress("Evaluating", sum(n_resamples) if intervals else 1) as advance:
        for file, scores, n in zip(files, models, n_resamples, strict=True):
            with naming_files(file):
                evaluations.append(
                    evaluate(
                        scores,
                        against=against,
                        also=[*asked, *needed_by(bars)],
                        intervals=intervals,
                        n_resamples=n,
                        seed=seed,
                        progress=advance,
                    )
                )
    groups = group_files(files, group_by)
    missed = [one for one in check_metric_bars(bars, names, evaluations, against=against) if not one.reached]
    write_files(json, latex, markdown, csv, files, names, evaluations, groups)
    if report is not None:
        write_report(report, files, names, models, evaluations, against, spreads=spread_rows(evaluations, groups))
    drawn: list[Path] = []
    if figures is not None:
        from openset.present.plots import write_figures

        drawn = write_figures(figures, names, models, evaluations, against=against)
    show(names, evaluations, groups)
    say_written(report, figures, drawn)
    if missed:
        for result in missed:
            typer.echo(f"Bar missed: {result.sentence}", err=True)
        raise typer.Exit(1)
    if bars:
        console().print(
            f"[green]All {len(bars)} bars reached.[/green]" if len(bars) > 1 else "[green]Bar reached.[/green]"
        )


# ---- several files -------------------------------------------------------------------------------------------------


def shared(evaluations: Sequence["Evaluation"], places: Sequence[int]) -> list["Result"]:
    """The figures that all splits of a model have; one may lack probabilities or negatives."""
    first, *others = (evaluations[place].results for place in places)
    keys = [{(r.name, r.against, str(r.params)) for r in results} for results in others]
    return [r for r in first if all((r.name, r.against, str(r.params)) in found for found in keys)]


def spread_of(evaluations: Sequence["Evaluation"], places: Sequence[int], result: "Result") -> dict[str, Any]:
    """Mean and standard deviation of one figure over the splits of a model."""
    from openset.intervals import over_splits

    values = [evaluations[place].find(result.name, against=result.against, **result.params).value for place in places]
    spread = over_splits(values)
    return {
        "name": result.name,
        "params": dict(result.params),
        "against": result.against,
        "value": spread.value,
        "sd": spread.sd,
        "low": spread.low,
        "high": spread.high,
        "n": len(values),
    }


def write_files(
    json: Path | None,
    latex: Path | None,
    markdown: Path | None,
    csv: Path | None,
    files: Sequence[Path],
    names: Sequence[str],
    evaluations: Sequence["Evaluation"],
    groups: dict[str, list[int]],
) -> None:
    """Write what was asked for."""
    from openset._io.files import write_json
    from openset.results import tables
    from openset.results.provenance import provenance

    if json is not None:
        entries = [
            {"name": name, "file": str(file), **evaluation.as_json()}
            for name, file, evaluation in zip(names, files, evaluations, strict=True)
        ]
        content: dict[str, Any] = {"schema": 1, "files": entries, "provenance": provenance()}
        if len(entries) == 1:
            content["metrics"] = entries[0]["metrics"]
        if groups:
            content["groups"] = [
                {
                    "name": key,
                    "files": [names[place] for place in places],
                    "metrics": [spread_of(evaluations, places, result) for result in shared(evaluations, places)],
                }
                for key, places in groups.items()
            ]
        write_json(json, content)
    made = tables.headline_table(names, evaluations, spread_rows(evaluations, groups))
    write_tables(latex, markdown, csv, [made], tables.metrics_table(names, evaluations))


def spread_rows(evaluations: Sequence["Evaluation"], groups: dict[str, list[int]]) -> dict[str, list[str]]:
    """Mean ± standard deviation of the headline figures of each group."""
    from openset.results.numbers import mean_and_sd

    rows = {}
    for key, places in groups.items():
        first = evaluations[places[0]]
        found = [spread_of(evaluations, places, result) for result in first.headline(first.results[0].against)]
        rows[f"{key} (mean ± sd of {len(places)})"] = [mean_and_sd(f["value"], f["sd"]) for f in found]
    return rows


# ---- terminal ------------------------------------------------------------------------------------------------------


def show(names: Sequence[str], evaluations: Sequence["Evaluation"], groups: dict[str, list[int]]) -> None:
    """Print one full table for one model, or one row per model."""
    from rich.markup import escape

    out = console()
    if len(evaluations) == 1:
        show_one(names[0], evaluations[0])
    else:
        from openset.results.tables import headline_table

        show_table(headline_table(names, evaluations, spread_rows(evaluations, groups), between="\n"))
        out.print("Each file's other metrics: --json, or evaluate one file alone.", style="dim")
    for name, evaluation in zip(names, evaluations, strict=True):
        for note in evaluation.notes:
            out.print(f"[yellow]Note[/yellow] ({escape(name)}): {escape(note)}")


def show_one(name: str, evaluation: "Evaluation") -> None:
    """Print all metrics of one model, one column per kind of open-set sample."""
    from openset.posthoc import score_text
    from openset.results.table import Cell, Content, Table
    from openset.results.tables import value_cell

    kinds = {"known": evaluation.n_known, "negative": evaluation.n_negative, "unknown": evaluation.n_unknown}
    counted = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    columns = list(dict.fromkeys(result.against for result in evaluation.results))
    cells: dict[str, dict[str, Content]] = {}
    for result in evaluation.results:
        cells.setdefault(result.title, {})[result.against] = value_cell(result)
    headline = {result.title for result in evaluation.headline(columns[0])}
    show_table(
        Table(
            [
                f"{evaluation.level:.0%} intervals in brackets" if evaluation.n_resamples else "",
                *(f"against {column}" if len(columns) > 1 else "value" for column in columns),
            ],
            [
                [Cell(title, best=title in headline), *(found.get(column) for column in columns)]
                for title, found in cells.items()
            ],
            title=f"{name}: {counted} samples, {evaluation.n_classes} known classes, "
            f"{evaluation.tied_pairs:.1%} of pairs tied"
            + (f", score {score_text(evaluation.meta['score'])}" if "score" in evaluation.meta else ""),
        )
    )
