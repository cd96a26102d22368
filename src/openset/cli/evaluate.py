"""`openset evaluate`: every figure of one or several models."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    table,
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
            help="A bar such as 'open_auc>=0.9' or 'ccr_at_fpr(fpr=0.1)>=0.5'; exit code 1 if it is missed.",
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

    check_outputs(json, latex, markdown, csv, report, folder=figures, inputs=[*files, fit])
    reading = Reading(score, background, fit, unknown_label, negative_label, known_class)
    bars = [parse_bar(text) for text in require or []]
    models = [reading.read(file) for file in files]
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
                        intervals=intervals,
                        n_resamples=n,
                        seed=seed,
                        progress=advance,
                    )
                )
    groups = group_files(files, group_by)
    missed = [sentence for bar in bars for sentence in bar.missed(names, evaluations)]
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
        for sentence in missed:
            say(f"Bar missed: {sentence}", err=True)
        raise typer.Exit(1)
    if bars:
        console().print(
            f"[green]All {len(bars)} bars reached.[/green]" if len(bars) > 1 else "[green]Bar reached.[/green]"
        )


# ---- bars ----------------------------------------------------------------------------------------------------------


class Bar:
    """A figure that must be reached: `open_auc>=0.9`, `ccr_at_fpr(fpr=0.1)>=0.5`, `auroc@unknown>0.8`."""

    def __init__(
        self, text: str, name: str, params: dict[str, Any], against: str | None, sign: str, level: float
    ) -> None:
        self.text, self.name, self.params = text, name, params
        self.against, self.sign, self.level = against, sign, level

    def missed(self, names: Sequence[str], evaluations: Sequence["Evaluation"]) -> list[str]:
        """One sentence per model that misses the bar."""
        sentences = []
        for name, evaluation in zip(names, evaluations, strict=True):
            try:
                result = evaluation.find(
                    self.name, against=self.against or evaluation.results[0].against, **self.params
                )
            except KeyError as error:
                raise OpenSetError(f"--require '{self.text}': there is no such figure. {error.args[0]}") from error
            holds = {
                ">=": result.value >= self.level,
                "<=": result.value <= self.level,
                ">": result.value > self.level,
                "<": result.value < self.level,
            }[self.sign]
            if not holds:
                sentences.append(f"{name}: {self.text}, found {result.value:.4f}.")
        return sentences


def parse_bar(text: str) -> Bar:
    """Read a bar; the name must be a metric's."""
    from openset.metrics import METRICS

    found = re.fullmatch(r"\s*(\w+)\s*(?:\(([^)]*)\))?\s*(?:@([^<>=]+?))?\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*", text)
    if not found:
        raise OpenSetError(
            f"--require '{text}' is not understood; write for example 'open_auc>=0.9', 'ccr_at_fpr(fpr=0.1)>=0.5' "
            "or 'auroc@unknown>=0.8'."
        )
    name, options, against, sign, level = found.groups()
    METRICS[name]
    params = {}
    for option in (options or "").split(","):
        if option.strip():
            key, _, value = option.partition("=")
            params[key.strip()] = _value(value.strip())
    try:
        return Bar(text, name, params, against, sign, float(level))
    except ValueError as error:
        raise OpenSetError(f"--require '{text}': '{level}' is not a number.") from error


def _value(text: str) -> Any:
    if text in ("True", "False", "true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


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
    from openset._io.json_files import write_json
    from openset.evaluation import provenance
    from openset.results import tables

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
    write_tables(latex, markdown, csv, [made], tables.csv(names, evaluations))


def spread_rows(evaluations: Sequence["Evaluation"], groups: dict[str, list[int]]) -> dict[str, list[str]]:
    """Mean ± standard deviation of the headline figures of each group."""
    from openset.results.tables import number

    rows = {}
    for key, places in groups.items():
        first = evaluations[places[0]]
        found = [spread_of(evaluations, places, result) for result in first.headline(first.results[0].against)]
        rows[f"{key} (mean ± sd of {len(places)})"] = [f"{number(f['value'])} ± {number(f['sd'])}" for f in found]
    return rows


# ---- terminal ------------------------------------------------------------------------------------------------------


def show(names: Sequence[str], evaluations: Sequence["Evaluation"], groups: dict[str, list[int]]) -> None:
    """Print one full table for one model, or one row per model."""
    from rich.markup import escape

    out = console()
    if len(evaluations) == 1:
        show_one(names[0], evaluations[0])
    else:
        from openset.results.tables import interval

        first = evaluations[0].headline(evaluations[0].results[0].against)
        made = table("Model", *(result.title for result in first))
        for name, evaluation in zip(names, evaluations, strict=True):
            found = evaluation.headline(evaluation.results[0].against)
            made.add_row(escape(name), *(escape(interval(result, between="\n")) for result in found))
        if groups:
            made.add_section()
            for name, cells in spread_rows(evaluations, groups).items():
                made.add_row(escape(name), *cells, style="bold")
        out.print(made)
        out.print("Each file's other figures: --json, or evaluate one file alone.", style="dim")
    for name, evaluation in zip(names, evaluations, strict=True):
        for note in evaluation.notes:
            out.print(f"[yellow]Note[/yellow] ({escape(name)}): {escape(note)}")


def show_one(name: str, evaluation: "Evaluation") -> None:
    """Print all figures of one model, one column per kind of open-set sample."""
    from rich.markup import escape

    from openset.results.tables import interval

    kinds = {"known": evaluation.n_known, "negative": evaluation.n_negative, "unknown": evaluation.n_unknown}
    counted = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    columns = list(dict.fromkeys(result.against for result in evaluation.results))
    made = table(
        f"{evaluation.level:.0%} intervals in brackets" if evaluation.n_resamples else "",
        *(f"against {escape(column)}" if len(columns) > 1 else "value" for column in columns),
        title=f"{escape(name)}: {counted} samples, {evaluation.n_classes} known classes, "
        f"{evaluation.tied_pairs:.1%} of pairs tied"
        + (f", score {escape(str(evaluation.meta['score']))}" if "score" in evaluation.meta else ""),
    )
    cells: dict[str, dict[str, str]] = {}
    for result in evaluation.results:
        cells.setdefault(result.title, {})[result.against] = escape(interval(result))
    headline = {result.title for result in evaluation.headline(columns[0])}
    for title, found in cells.items():
        made.add_row(title, *(found.get(column, "") for column in columns), style="bold" if title in headline else "")
    console().print(made)
