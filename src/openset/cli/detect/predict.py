"""`openset detect predict`: COCO results of a detector."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._outputs import check_outputs
from openset.cli.detect._shared import KnownGt, say, stages

EXAMPLE = (
    "openset detect predict --model torchvision:fasterrcnn_resnet50_fpn --weights mine.safetensors "
    "--known-gt known.json --gt wild.json --images DIR --out wild_dt.json"
)


def command(
    model: Annotated[
        str,
        typer.Option(
            help="torchvision:NAME, transformers:FOLDER, zero-shot:FOLDER (OWL-ViT, Grounding DINO) or yolo:FILE.npz."
        ),
    ],
    known_gt: KnownGt,
    images: Annotated[Path, typer.Option(help="Folder with images.")],
    out: Annotated[Path, typer.Option(help="COCO results to write.")],
    gt: Annotated[Path | None, typer.Option(help="Only the images of this COCO file, called by its ids.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="torchvision: a file, or published weights such as DEFAULT.")
    ] = None,
    min_score: Annotated[float, typer.Option(help="Leave out detections below this score.")] = 0.05,
    passes: Annotated[int, typer.Option(help="More than 1: dropout sampling with that many passes (paper: 30).")] = 1,
    batch: Annotated[int, typer.Option(help="Images at a time.", min=1)] = 4,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Annotated[Path | None, typer.Option("--json", help="Write what was done as JSON.")] = None,
) -> None:
    """Run a detector over images and write COCO results, with the background score where the model has one."""
    from openset._io.json_files import write_json
    from openset.detection.adapters.detectors import Settings
    from openset.detection.adapters.predict import make_detector
    from openset.detection.adapters.predict import predict as run
    from openset.detection.read.coco import read_ground_truth

    model_files = [Path(text) for text in (weights, model.partition(":")[2]) if text]
    check_outputs(out, json, inputs=[known_gt, gt, *model_files])
    known = read_ground_truth(known_gt)
    with stages() as report:
        report("loading", 0.0)
        detector = make_detector(model, known, Settings(weights, min_score, passes, device))
        n_images, n_boxes = run(detector, known, images, out, gt=gt, batch=batch, report=report)
    if json is not None:
        write_json(json, {"schema": 1, "out": str(out), "n_images": n_images, "n_detections": n_boxes})
    say(f"{n_boxes} detections on {n_images} images. Wrote {out}")
