"""`openset predict`: class or "unknown" for your own images or texts, with any model."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from openset._core.numbers import exact
from openset.cli._console import ScoreOption, console, naming_files, progress, say, table
from openset.cli._models import (
    BatchOption,
    ClassesOption,
    ColumnOption,
    CpusOption,
    DeviceOption,
    EngineOption,
    FeaturesOption,
    GpusOption,
    MeanOption,
    ModelArgument,
    SizeOption,
    StdOption,
    WeightsOption,
    WorkersOption,
    make_engine,
    read_options,
)
from openset.cli._outputs import check_outputs
from openset.cli.apply import FittedOption
from openset.cli.threshold import ForceOption, read_threshold

if TYPE_CHECKING:
    from openset.models import Model
    from openset.models.parts import Parts
    from openset.models.predicting import Predictor

_SHOWN = 20
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
        Path | None,
        typer.Option(
            "--out", "-o", help="Where the decisions go: .csv, .tsv, .parquet, .json, or a folder, for parts."
        ),
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
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    cpus_per_worker: CpusOption = 1,
    gpus_per_worker: GpusOption = 0.0,
) -> None:
    """Say for each image or text which class it is of, or that it is unknown.

    A sample is unknown if its unknown score is above the threshold, which was chosen on validation data of the same
    model; a threshold of another score, fit, model or number of classes stops the command. Images that cannot be read
    are named and left out, with exit code 1. A stopped run resumes when the same command is given again.

    Example: openset predict runs/flowers photos/ --out decisions.csv
    Example: openset predict hf:my-model photos/ --threshold threshold.json --out decisions.csv
    Example: openset predict runs/flowers photos/ --out decisions --engine ray
    """
    from openset._io.table_sinks import check_sink
    from openset.errors import OpenSetError
    from openset.models.engines import Resources
    from openset.models.predicting import Predictor, make_decisions
    from openset.models.samples import Reading, open_samples
    from openset.reading import NO_WORDS, read_fit

    files = [Path(one) for one in (*data, model, model.partition(":")[2]) if one]
    run = [Path(model) / name for name in _OF_A_RUN]
    file, folder = (None, out) if out is not None and not out.suffix else (out, None)
    check_outputs(file, json, csv, parts=folder, inputs=[*files, *run, threshold, fit, weights, classes])
    frozen = threshold or Path(model) / "threshold.json"
    if threshold is None and not frozen.exists() and ":" in model:
        raise OpenSetError(
            f"Say by which threshold {model} decides: --threshold T.json, chosen with openset threshold on validation "
            "outputs of the model."
        )
    options = read_options(weights, features, classes, size, mean, std, device)
    runner = make_engine(engine, model, options, Resources(workers, cpus_per_worker, gpus_per_worker))
    beside = out or csv
    if beside is None and runner.elsewhere:
        raise OpenSetError(f"--engine {engine}: say where the decisions go, with --out; all machines must see it.")
    opened = runner.open_model()
    samples = open_samples(data, opened.takes, Reading(opened.class_names, column=column, labels="none"))
    check_outputs(file, json, csv, parts=folder, inputs=[Path(one) for one in samples.ids.tolist()[:100_000]])
    for path in (file, csv):
        if path is not None:
            check_sink(path)
    learned = None if fit is None else read_fit(fit, opened.background, NO_WORDS)
    with naming_files(frozen, Path(model)):
        predictor = Predictor.of(opened, read_threshold(frozen), score=score, fitted=learned, force=force)
    with TemporaryDirectory(prefix="openset-") as temporary:
        with progress("Predicting", len(samples), unit="samples") as advance:
            parts = make_decisions(
                predictor,
                opened,
                samples,
                beside or Path(temporary) / "decisions",
                engine=runner,
                batch=batch,
                progress=advance,
                tell=lambda text: say(text, err=True),
            )
        report = Report(predictor, opened, parts)
        report.write(file, csv, json)
        if folder is not None:
            parts.publish(folder)
        parts.remove()
    report.show([one for one in (out, csv) if one is not None])
    if report.left_out:
        raise typer.Exit(1)


class Report:
    """What was decided: the first rows and the counts; all rows are in the parts."""

    def __init__(self, predictor: "Predictor", model: "Model", parts: "Parts") -> None:
        from openset.errors import OpenSetError

        self.predictor, self.model, self.parts = predictor, model, parts
        self.n = self.rejected = 0
        self.first: list[dict[str, object]] = []
        self.left_out: list[str] = []
        for made, metadata in parts.tables():
            self.n += made.height
            self.rejected += int((made["margin"] < 0).sum())
            self.first += made.head(_SHOWN - len(self.first)).to_dicts()
            self.left_out += metadata["left_out"]
        for trouble in self.left_out:
            say(f"Left out: {trouble}.", err=True)
        if not self.n:  # before anything is written
            raise OpenSetError(f"None of the {parts.n} {self.kind} can be read.")

    @property
    def kind(self) -> str:
        """What the samples are."""
        return "texts" if self.model.takes == "texts" else "images"

    @property
    def notes(self) -> list[str]:
        """What to know about the threshold and the model."""
        from openset.operating.notes import notes_on_unlabelled

        frozen = self.predictor.threshold
        return [
            *frozen.notes,
            *(frozen.origin.notes_for(self.predictor.origin) if frozen.made.get("schema") != 1 else []),
            *self.model.notes,
            *notes_on_unlabelled(self.rejected, self.n),
        ]

    def write(self, out: Path | None, csv: Path | None, json: Path | None) -> None:
        """Write the files that were asked for."""
        from openset._io.json_files import write_json
        from openset._io.table_sinks import write_batches
        from openset.models.predicting import schema

        metadata = self.predictor.metadata
        for path in (out, csv):
            if path is not None:
                tables = (made for made, _ in self.parts.tables())
                write_batches(path, tables, schema(), name="decisions", metadata=metadata)
        if json is not None:
            rows = [row for made, _ in self.parts.tables() for row in made.to_dicts()]
            write_json(json, {**metadata, "notes": self.notes, "decisions": rows})

    def show(self, written: list[Path]) -> None:
        """The first decisions, where no file has them, the counts and the notes."""
        from rich.markup import escape

        screen = console()
        if not written:
            made = table("id", "decision", "best class", "unknown score", "margin")
            for one in self.first:
                texts = [escape(str(one[key])) for key in ("id", "decision", "prediction")]
                style = "yellow" if float(str(one["margin"])) < 0 else ""
                made.add_row(*texts, f"{one['unknown_score']:.4g}", f"{one['margin']:.4g}", style=style)
            screen.print(made)
            if self.n > _SHOWN:
                screen.print(f"... and {self.n - _SHOWN} more; write them all with --out.")
        frozen = self.predictor.threshold
        screen.print(
            f"{self.rejected} of {self.n} {self.kind} are unknown: their score is above the threshold "
            f"{exact(frozen.value)} ({frozen.rule}).",
            highlight=False,
            markup=False,
        )
        for note in self.notes:
            screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
        for path in written:
            screen.print(f"The decisions are in {path}.", soft_wrap=True, highlight=False, markup=False)
