"""Options of the commands that run a model, and what they say while it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.models import Options
    from openset.models.engines import Engine, Resources

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="hf:NAME_OR_FOLDER, timm:NAME, torchvision:NAME, onnx:FILE, or the folder of a training run.",
    ),
]
WeightsOption = Annotated[
    Path | None, typer.Option("--weights", help="timm, torchvision: the weights, a .safetensors file.")
]
FeaturesOption = Annotated[
    str | None,
    typer.Option("--features", help="onnx: the output that holds the features; else what enters the last layer."),
]
ClassesOption = Annotated[
    Path | None,
    typer.Option("--classes", help="Names of the model's classes: a text file, one per line, or a JSON list."),
]
SizeOption = Annotated[int | None, typer.Option("--size", min=1, help="Side of the images in pixels.")]
MeanOption = Annotated[str | None, typer.Option("--mean", help="Mean of the pixels in [0, 1]: 0.5 or 0.48,0.46,0.41.")]
StdOption = Annotated[str | None, typer.Option("--std", help="Their standard deviation.")]
DeviceOption = Annotated[str, typer.Option("--device", help="cpu, cuda or cuda:1.")]
BatchOption = Annotated[int, typer.Option("--batch", min=1, help="Samples at a time.")]
EngineOption = Annotated[
    str, typer.Option("--engine", help="Where the model runs: local (this process) or ray; see the page On a cluster.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Ray: how many at once; else as many as there is room for.")
]
CpusOption = Annotated[int, typer.Option("--cpus-per-worker", min=1, help="Ray: cores for each worker.")]
GpusOption = Annotated[
    float, typer.Option("--gpus-per-worker", min=0, help="Ray: GPUs for each worker, also 0.25; with --device cuda.")
]
ColumnOption = Annotated[str, typer.Option("--column", help="The column of texts in a table.")]


def make_engine(engine: str, model: str, options: "Options", resources: "Resources") -> "Engine":
    """Who runs a model; an engine that cannot be used here is named before any work."""
    from openset.models.engines import ENGINES, Opening

    ENGINES[engine].check()
    return ENGINES[engine](Opening(model, options), resources)


def read_options(
    weights: Path | None,
    features: str | None,
    classes: Path | None,
    size: int | None,
    mean: str | None,
    std: str | None,
    device: str,
) -> "Options":
    """What is said about a model."""
    from openset.models import Options

    return Options(weights, features, classes, size, _numbers("--mean", mean), _numbers("--std", std), device)


def _numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        found = tuple(float(one) for one in text.split(","))
    except ValueError as error:
        raise OpenSetError(
            f"{option} takes numbers with commas between them, such as 0.5 or 0.48,0.46,0.41."
        ) from error
    if option == "--std" and not all(one > 0 for one in found):
        raise OpenSetError("--std must be above 0.")
    return found
