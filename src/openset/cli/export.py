"""`openset export`: a trained run as ONNX, which predicts without PyTorch."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import JsonOption, say
from openset.cli._outputs import check_outputs


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished training run.")],
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write.")],
    json: JsonOption = None,
) -> None:
    """Write a trained run as an ONNX file, with its classes, preparation of images and score inside.

    `openset outputs onnx:FILE` and `openset predict onnx:FILE` then work without PyTorch, with the run's threshold.

    Example: openset export runs/flowers --onnx flowers.onnx
    """
    from openset._io.json_files import write_json
    from openset.errors import need
    from openset.models.exporting import export_onnx
    from openset.models.runs import open_run_folder

    check_outputs(onnx, json, inputs=[run / "summary.json", run / "config.yaml", run / "threshold.json"])
    need("Writing an ONNX file", "onnx", "onnxruntime")
    model = open_run_folder(run)
    off = export_onnx(model, onnx)
    if json is not None:
        write_json(json, {"schema": 1, "out": str(onnx), "model": model.fingerprint, "largest_difference": off})
    say(f"Wrote {onnx}: {len(model.class_names)} classes; its logits differ from the run's by at most {off:.2g}.")
    say(f"Next: openset predict onnx:{onnx} YOUR_IMAGES/ --threshold {run / 'threshold.json'}")
