"""`openset detect split`: a data set divided into known and wild images."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import JsonOption
from openset.cli._outputs import check_outputs
from openset.cli.detect._shared import say
from openset.errors import OpenSetError

EXAMPLE = "openset detect split test.json --hide bird,cat,dog --out split --dt results.json"


def command(
    gt: Annotated[Path, typer.Argument(help="Ground truth: COCO json, VOC or YOLO folder.")],
    out: Annotated[Path, typer.Option(help="Folder for known.json and wild.json.")],
    known: Annotated[
        str | None, typer.Option(help="Known classes, separated by commas, or a file with one per line.")
    ] = None,
    hide: Annotated[str | None, typer.Option(help="Classes to hide, instead of naming the known ones.")] = None,
    dt: Annotated[Path | None, typer.Option(help="COCO results to divide in the same way.")] = None,
    drop_mixed: Annotated[
        bool, typer.Option("--drop-mixed", help="Leave out images with known and hidden objects.")
    ] = False,
    keep_unknown: Annotated[
        bool, typer.Option("--keep-unknown", help="Keep hidden objects on known images, as the class 'unknown'.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Divide an annotated data set into known images and wild images, and say what was left out."""
    from openset._io.json_files import write_json
    from openset.detection.read.coco import read_ground_truth
    from openset.detection.split import find_classes, read_names, split_classes, write_split

    written = [out / f"{name}.json" for name in ("known", "wild", *(("known_dt", "wild_dt") if dt else ()))]
    names_files = [Path(text) for text in (known, hide) if text]
    check_outputs(*written, json, inputs=[gt, dt, *names_files])
    truth = read_ground_truth(gt)
    if (known is None) == (hide is None):
        raise OpenSetError(f"Give --known or --hide; the classes are: {', '.join(truth.class_names)}.")
    if known is not None:
        names = read_names(known)
    else:
        hidden = set(find_classes(truth, read_names(str(hide))))
        names = [name for i, name in enumerate(truth.class_names) if i not in hidden]
    parts = split_classes(truth, names, drop_mixed=drop_mixed, keep_unknown=keep_unknown)
    wording = write_split(parts, truth, dt, out)
    if json is not None:
        kinds = {
            kind: {"images": part.n_images, "objects": len(part.image), "classes": list(part.class_names)}
            for kind, part in (("known", parts.known), ("wild", parts.wild))
        }
        counts = {
            name: getattr(parts, name)
            for name in ("n_empty", "n_mixed", "mixed_dropped", "unknown_kept", "hidden_on_known")
        }
        write_json(json, {"schema": 1, **kinds, **counts, "files": [str(file) for file in written]})
    say(*wording)
