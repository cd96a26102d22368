"""Run a detector over images and write COCO results, which every other command takes.

An adapter turns pictures into `Found`; the classes of its results are those of the known ground truth, matched by
name where the model has names, else in file order. Results go through files, so a detector we never saw is measured
by the same code.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from openset._io.json_files import write_json
from openset._io.paths import is_folder
from openset._io.pictures import open_picture
from openset.detection.adapters.detectors import Detector, Found, Settings
from openset.detection.gallery import find_inside
from openset.detection.read.coco import GroundTruth, read_ground_truth
from openset.errors import OpenSetError, did_you_mean, needing

_MODELS = "'torchvision:fasterrcnn_resnet50_fpn', 'transformers:FOLDER', 'zero-shot:FOLDER' or 'yolo:FILE'"
_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}


def make_detector(model: str, known: GroundTruth, settings: Settings) -> Detector:
    """The detector that `family:name` stands for, where the family is torchvision, transformers, zero-shot or yolo."""
    family, _, name = model.partition(":")
    makers: dict[str, Callable[[str, GroundTruth, Settings], Detector]] = {
        "torchvision": _torchvision,
        "transformers": _transformers,
        "zero-shot": _zero_shot,
        "yolo": _yolo,
    }
    if family not in makers:
        raise OpenSetError(f"Cannot read the model {model!r}: write it like {_MODELS}. {did_you_mean(family, makers)}")
    if not name:
        raise OpenSetError(f"The model {model!r} has no name: write it like {_MODELS}.")
    if settings.passes < 1:
        raise OpenSetError(f"predict: 'passes' must be 1 or more, got {settings.passes}.")
    with needing(f"The model {model!r}"):
        return makers[family](name, known, settings)


def _torchvision(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.adapters.torchvision import torchvision_detector

    return torchvision_detector(name, known, settings)


def _transformers(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.adapters.transformers import transformers_detector

    return transformers_detector(name, known, settings)


def _zero_shot(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.adapters.zero_shot import zero_shot_detector

    return zero_shot_detector(name, known, settings)


def _yolo(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.adapters.yolo_folder import yolo_detector

    return yolo_detector(name, known, settings)


# ---- running -------------------------------------------------------------------------------------------------------


def predict(
    detector: Detector,
    known: GroundTruth,
    images: str | Path,
    out: str | Path,
    *,
    gt: Any = None,
    batch: int = 4,
    report: Callable[[str, float], None] | None = None,
) -> tuple[int, int]:
    """Detect on the images of a folder, or on those of a COCO file that lie in it; returns counts of images and boxes.

    Images are called by their id in `gt`, or, without it, by their file name.
    """
    todo = _images(Path(images), gt)
    rows: list[dict[str, Any]] = []
    for start in range(0, len(todo), batch):
        part = todo[start : start + batch]
        found = detector([open_picture(file) for _, file in part])
        for (name, _), one in zip(part, found, strict=True):
            rows += _rows(name, one, known)
        if report is not None:
            report(f"{start + len(part)} of {len(todo)} images", (start + len(part)) / len(todo))
    write_json(out, rows)
    return len(todo), len(rows)


def _images(folder: Path, gt: Any) -> list[tuple[Any, Path]]:
    """What to call each image, and its file."""
    if not is_folder(folder):
        raise OpenSetError(f"There is no folder {folder} with images.")
    if gt is None:
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in _ENDINGS)
        if not files:
            raise OpenSetError(f"There are no images in {folder}.")
        return [(file.name, file) for file in files]
    truth = read_ground_truth(gt)
    found = [(one, find_inside(folder, name)) for one, name in zip(truth.image_ids, truth.file_names, strict=True)]
    missing = [one for one, file in found if file is None]
    if missing:
        raise OpenSetError(
            f"{len(missing)} images of {truth.source} are not in {folder}, for example id {missing[0]!r}."
        )
    return [(one, file) for one, file in found if file is not None]


def _rows(name: Any, found: Found, known: GroundTruth) -> Iterator[dict[str, Any]]:
    for i in np.flatnonzero(found.labels >= 0):
        row = {
            "image_id": name,
            "category_id": known.class_ids[found.labels[i]],
            "bbox": [round(float(value), 3) for value in found.boxes[i]],
            "score": round(float(found.scores[i]), 6),
        }
        if found.background is not None:
            row["background_score"] = round(float(found.background[i]), 6)
        yield row
