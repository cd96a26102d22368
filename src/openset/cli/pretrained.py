"""`openset pretrained`: weights of a network that was trained on many images, as a folder to start from."""

from pathlib import Path
from typing import Annotated, Any

import typer

from openset.cli._console import JsonOption, console, say, table


def command(
    weights: Annotated[
        Path | None, typer.Argument(help="Weights: .safetensors, or .pth of which only tensors are loaded.")
    ] = None,
    backbone: Annotated[
        str, typer.Option("--backbone", help="Whose weights: efficientnet_lite0, resnet50, timm:NAME.")
    ] = "efficientnet_lite0",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to make; else OPENSET_DATA/pretrained/NAME.")
    ] = None,
    mean: Annotated[
        str, typer.Option("--mean", help="Of the pixels in [0, 1] that it was trained on, one number or three.")
    ] = "0.498,0.498,0.498",
    std: Annotated[str, typer.Option("--std", help="What they were divided by.")] = "0.502,0.502,0.502",
    json: JsonOption = None,
) -> None:
    """Turn a weights file into a folder that training can start from; without a file, list the folders there are.

    No code in the file is run. Then: openset train fast/photos --protocol PHOTOS --backbone pretrained:NAME

    Example: openset pretrained efficientnet-lite0-57934424.pth --backbone efficientnet_lite0
    """
    from openset._io.json_files import write_json
    from openset.data.place import data_root
    from openset.train.pretrained import FOLDER, convert, read_pretrained

    place = data_root() / FOLDER
    if weights is not None:
        folder = out or place / backbone.removeprefix("timm:").replace("_", "-")
        made = [convert(weights, backbone, folder, mean=_numbers(mean, "--mean"), std=_numbers(std, "--std"))]
        say(f"Wrote {folder}: start from it with --backbone pretrained:{folder.name if out is None else folder}")
    else:
        names = sorted(one.parent.name for one in place.glob("*/config.json"))
        made = [read_pretrained(str(place / name)) for name in names]
        if not made:
            say(f"There is no pretrained network in {place}.")
        else:
            shown = table("name", "backbone", "folder")
            for one in made:
                shown.add_row(one.folder.name, one.backbone, str(one.folder))
            console().print(shown)
    if json is not None:
        listed: list[dict[str, Any]] = [
            {"folder": str(one.folder), "backbone": one.backbone, "mean": list(one.mean), "std": list(one.std)}
            for one in made
        ]
        write_json(json, {"schema": 1, "pretrained": listed})


def _numbers(text: str, option: str) -> list[float]:
    from openset.errors import OpenSetError

    try:
        return [float(one) for one in text.split(",")]
    except ValueError as error:
        raise OpenSetError(
            f"{option} must be numbers separated by commas, such as 0.5,0.5,0.5, got '{text}'."
        ) from error
