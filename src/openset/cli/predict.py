"""`openset predict`: class or "unknown" for your own images or texts, with any model."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import ScoreOption, console, say, table
from openset.cli._models import (
    BatchOption,
    ClassesOption,
    ColumnOption,
    DeviceOption,
    FeaturesOption,
    MeanOption,
    ModelArgument,
    SizeOption,
    StdOption,
    WeightsOption,
    open_named,
    running_bar,
)
from openset.cli._outputs import check_outputs
from openset.cli.apply import FittedOption
from openset.cli.threshold import ForceOption, read_threshold

if TYPE_CHECKING:
    import polars as pl

    from openset.models.predicting import Predictor

_SHOWN = 40
_OF_A_RUN = ("config.yaml", "summary.json", "threshold.json")


def command(
    model: ModelArgument,
    data: Annotated[
        list[str], typer.Argument(metavar="IMAGES...", help="Image files, folders or lists of them; a table of texts.")
    ],
    threshold: Annotated[
        Path | None,
        typer.Option("--threshold", help="Frozen threshold (see: openset threshold); a run folder has its own."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the decisions to this file: .csv, .tsv, .parquet, .json.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write threshold, notes and decisions to this JSON file.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the decisions to this CSV file.")] = None,
    score: ScoreOption = None,
    fit: FittedOption = None,
    weights: WeightsOption = None,
    features: FeaturesOption = None,
    classes: ClassesOption = None,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    device: DeviceOption = "cpu",
    batch: BatchOption = 32,
    column: ColumnOption = "text",
    force: ForceOption = False,
) -> None:
    """Say for each image or text which class it is of, or that it is unknown.

    A sample is unknown if its unknown score is above the threshold, which was chosen on validation data of the same
    model; a threshold of another score, fit, model or number of classes stops the command. Images that cannot be read
    are named and left out, with exit code 1.

    Example: openset predict runs/flowers photos/ --out decisions.csv
    Example: openset predict hf:my-model photos/ --threshold threshold.json --out decisions.csv
    """
    from openset._io.table_sinks import check_sink
    from openset.errors import OpenSetError
    from openset.models.predicting import Predictor, decisions
    from openset.models.samples import Reading, open_samples
    from openset.reading import NO_WORDS, read_fit

    files = [Path(one) for one in (*data, model, model.partition(":")[2]) if one]
    run = [Path(model) / name for name in _OF_A_RUN]
    check_outputs(out, json, csv, inputs=[*files, *run, threshold, fit, weights, classes])
    frozen = threshold or Path(model) / "threshold.json"
    if threshold is None and not frozen.exists() and ":" in model:
        raise OpenSetError(
            f"Say by which threshold {model} decides: --threshold T.json, chosen with openset threshold on validation "
            "outputs of the model."
        )
    opened = open_named(model, weights, features, classes, size, mean, std, device)
    samples = open_samples(data, opened.takes, Reading(opened.class_names, column=column, labels="none"))
    check_outputs(out, json, csv, inputs=[Path(one) for one in samples.ids.tolist()[:100_000]])
    for path in (out, csv):
        if path is not None:
            check_sink(path)
    learned = None if fit is None else read_fit(fit, opened.background, NO_WORDS)
    try:
        predictor = Predictor.of(opened, read_threshold(frozen), score=score, fitted=learned, force=force)
    except OpenSetError as error:
        raise OpenSetError(f"{frozen} and {model}: {error}") from error
    report = Report(predictor)
    with running_bar("Predicting", len(samples)) as advance:

        def counted() -> "Iterator[pl.DataFrame]":
            for made, n in decisions(predictor, samples, batch=batch, trouble=report.left_out):
                report.add(made, keep=json is not None or None not in (out, csv))
                advance(n)
                yield made
            if not report.n:  # here, so that no empty file is written
                raise OpenSetError(f"None of the {len(samples)} images can be read.")

        report.write(counted(), out, csv, json)
    report.show()
    if report.bad:
        raise typer.Exit(1)


class Report:
    """What was decided: the first rows, the counts, and all rows where a second file needs them."""

    def __init__(self, predictor: "Predictor") -> None:
        self.predictor = predictor
        self.n = self.rejected = self.bad = 0
        self.kept: list[pl.DataFrame] = []
        self.first: list[dict[str, object]] = []

    def left_out(self, trouble: str) -> None:
        """A sample that cannot be read."""
        self.bad += 1
        say(f"Left out: {trouble}.", err=True)

    def add(self, made: "pl.DataFrame", *, keep: bool) -> None:
        """Some more decisions."""
        self.n += made.height
        self.rejected += int((made["margin"] < 0).sum())
        self.first += made.head(_SHOWN - len(self.first)).to_dicts()
        if keep:
            self.kept.append(made)

    @property
    def notes(self) -> list[str]:
        """What to know about the threshold and the model."""
        from openset.operating.notes import notes_on_unlabelled

        frozen = self.predictor.threshold
        doubt = frozen.origin.doubt(self.predictor.origin)
        return [
            *frozen.notes,
            *([doubt] if doubt and frozen.made.get("schema") != 1 else []),
            *self.predictor.model.notes,
            *notes_on_unlabelled(self.rejected, self.n),
        ]

    def write(self, batches: "Iterator[pl.DataFrame]", out: Path | None, csv: Path | None, json: Path | None) -> None:
        """Write what was asked for: the first table as the decisions come, others when all are known."""
        from openset._io.json_files import write_json
        from openset._io.table_sinks import write_batches
        from openset.models.predicting import schema

        tables = [path for path in (out, csv) if path is not None]
        about = {"schema": 2, "threshold": self.predictor.threshold.as_json()}
        if tables:
            write_batches(tables[0], batches, schema(), name="predictions", about=about)
        else:
            for _ in batches:
                pass
        for path in tables[1:]:
            write_batches(path, self.kept, schema(), name="predictions", about=about)
        if json is not None:
            rows = [row for made in self.kept for row in made.to_dicts()]
            write_json(json, {**about, "notes": self.notes, "predictions": rows})

    def show(self) -> None:
        """The first decisions, the counts and the notes."""
        from rich.markup import escape

        made = table("id", "decision", "best class", "unknown score", "margin")
        for one in self.first:
            texts = [escape(str(one[key])) for key in ("id", "decision", "prediction")]
            style = "yellow" if float(str(one["margin"])) < 0 else ""
            made.add_row(*texts, f"{one['unknown_score']:.4g}", f"{one['margin']:.4g}", style=style)
        screen = console()
        screen.print(made)
        if self.n > _SHOWN:
            screen.print(f"... and {self.n - _SHOWN} more; write them all with --out.")
        frozen = self.predictor.threshold
        kind = "texts" if self.predictor.model.takes == "texts" else "images"
        screen.print(
            f"{self.rejected} of {self.n} {kind} are unknown: their score is above the threshold {frozen.value:.4g} "
            f"({frozen.rule}).",
            highlight=False,
            markup=False,
        )
        for note in self.notes:
            screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
