"""`openset outputs`: store logits, features and last layer of a model you have."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import (
    JsonOption,
    KnownClassOption,
    NegativeLabelOption,
    SkipCorruptOption,
    UnknownLabelOption,
    console,
    progress,
    say,
)
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
from openset.cli.train import DataRootOption


def command(
    model: ModelArgument,
    data: Annotated[
        list[str],
        typer.Argument(
            help="Images or folders of them, a list of images (path[,label]), a table of texts (text[,label]), or a "
            "protocol by name or file, whose labels come along."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="NPZ file; or a folder, for parts in Parquet.")],
    weights: WeightsOption = None,
    features: FeaturesOption = None,
    classes: ClassesOption = None,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    device: DeviceOption = "cpu",
    batch: BatchOption = 32,
    part: Annotated[str, typer.Option("--part", help="Of a protocol: train, val or test.")] = "test",
    split: Annotated[int, typer.Option("--split", help="Of a protocol.")] = 0,
    data_root: DataRootOption = None,
    column: ColumnOption = "text",
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="Whether folders in DATA are labels: auto (if all are named like classes), folders or none.",
        ),
    ] = "auto",
    unknown_label: UnknownLabelOption = None,
    negative_label: NegativeLabelOption = None,
    known_class: KnownClassOption = None,
    skip_corrupt: SkipCorruptOption = False,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    cpus_per_worker: CpusOption = 1,
    gpus_per_worker: GpusOption = 0.0,
    json: JsonOption = None,
) -> None:
    """Run a classifier over data and store what it says: logits, features, the last layer, and labels if there are any.

    The file is what evaluate, threshold and apply read. Images that cannot be read are named and left out, with exit
    code 1; in a protocol they stop the command unless --skip-corrupt is given. A stopped run resumes when the
    same command is given again.

    Example: openset outputs hf:my-model validation/ --out val.npz
    Example: openset outputs hf:my-model photos/ --out photos-outputs --engine ray
    """
    from openset._core.labels import LabelWords
    from openset._io.json_files import write_json
    from openset.errors import check_choice
    from openset.models.engines import Resources
    from openset.models.outputs import write_outputs
    from openset.models.samples import Reading, open_samples

    check_choice("openset outputs", "--labels", labels, ["auto", "folders", "none"])
    files = [Path(one) for one in (*data, model, model.partition(":")[2]) if one]
    file, folder = (out, None) if out.suffix else (None, out)
    check_outputs(file, json, parts=folder, inputs=[*files, weights, classes])
    options = read_options(weights, features, classes, size, mean, std, device)
    runner = make_engine(engine, model, options, Resources(workers, cpus_per_worker, gpus_per_worker))
    opened = runner.open_model()
    words = LabelWords.of(unknown_label, negative_label, known_class)
    reading = Reading(opened.class_names, words, part, split, data_root, skip_corrupt, column, labels)
    samples = open_samples(data, opened.takes, reading)
    with progress("Running", len(samples), unit="samples") as advance:
        written = write_outputs(
            opened, samples, out, engine=runner, batch=batch, progress=advance, tell=lambda text: say(text, err=True)
        )
    for trouble in written.left_out:
        say(f"Left out: {trouble}.", err=True)
    if json is not None:
        write_json(
            json,
            {
                "schema": 1,
                "out": str(out),
                "n": written.n,
                "arrays": list(written.arrays),
                "model": opened.fingerprint,
                "left_out": list(written.left_out),
                "notes": list(written.notes),
            },
        )
    screen = console()
    labelled = "" if "labels" in written.arrays else " There are no labels: see openset apply."
    screen.print(
        f"{', '.join(written.arrays)} of {written.n:,} samples are in {out}.{labelled}", highlight=False, markup=False
    )
    for note in written.notes:
        screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
    if written.left_out:
        raise typer.Exit(1)
