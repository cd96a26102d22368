"""`openset detect gallery`: the worst false detections, drawn."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import JsonOption, progress
from openset.cli._outputs import check_outputs
from openset.cli.detect._shared import Classes, KnownGt, WildGt, say

EXAMPLE = "openset detect gallery --known-gt known.json --wild-gt w.json --wild-dt dt.json --images D --out O"


def command(
    known_gt: KnownGt,
    wild_gt: WildGt,
    wild_dt: Annotated[Path, typer.Option(help="COCO results; those on other than wild images are passed over.")],
    images: Annotated[Path, typer.Option(help="Folder with the wild images.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    n: Annotated[int, typer.Option("--n", "-n", help="How many to draw.")] = 16,
    thresholds: Annotated[Path | None, typer.Option(help="Draw only what these frozen thresholds accept.")] = None,
    classes: Classes = None,
    json: JsonOption = None,
) -> None:
    """Draw the worst false detections on wild images: red is what the detector claims, green what is really there."""
    from openset._io.json_files import write_json
    from openset.detection.gallery import draw_gallery
    from openset.detection.measure.sets import load_wild
    from openset.detection.thresholds import Thresholds

    check_outputs(json, inputs=[known_gt, wild_gt, wild_dt, thresholds, classes])
    known, wild, found = load_wild(known_gt, wild_gt, wild_dt, classes=classes)
    bars = None if thresholds is None else Thresholds.read(thresholds).for_classes(known.class_names, str(known_gt))
    with progress("Drawing", 1):
        drawn = draw_gallery(wild, found, known.class_names, images, out, n=n, thresholds=bars)
    if json is not None:
        files = [str(file) for file in drawn.files]
        write_json(json, {"schema": 1, "sheet": str(drawn.sheet), "files": files, "n_missing": drawn.n_missing})
    if drawn.n_missing:
        say(f"{drawn.n_missing} images are not in {images}; their detections were passed over.")
    say(f"Drew {len(drawn.files)} false detections. Wrote {drawn.sheet}")
