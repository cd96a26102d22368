"""Run a detector over images and write COCO results, which every other command takes.

An adapter turns pictures into `Found`; the classes of its results are those of the known ground truth, matched by
name where the model has names, else in file order. Results go through files, so a detector we never saw is measured
by the same code.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from openset.detection.coco import Floats, GroundTruth, Ints, read_ground_truth
from openset.detection.gallery import find_inside, open_picture
from openset.detection.names import plain
from openset.errors import OpenSetError, did_you_mean
from openset.files import existing, write_json

if TYPE_CHECKING:
    from PIL.Image import Image

_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}


@dataclass(frozen=True, eq=False)
class Found:
    """Detections on one picture."""

    boxes: Floats
    """x, y, width, height in pixels of the picture."""
    labels: Ints
    """Position of the class in the known ground truth; -1 for a class of the model that is not known there."""
    scores: Floats
    background: Floats | None = None
    """Probability of "no object", where the model has a class for that."""


class Detector(Protocol):
    """Pictures in, detections out."""

    def __call__(self, pictures: "Sequence[Image]") -> list[Found]:
        """Detections on each picture."""
        ...


@dataclass(frozen=True)
class Settings:
    """What all adapters understand."""

    weights: str | None = None
    """A file, or for torchvision the name of published weights."""
    min_score: float = 0.05
    passes: int = 1
    """More than one: dropout sampling, the mean of that many passes with dropout switched on."""
    device: str = "cpu"


def make_detector(model: str, known: GroundTruth, settings: Settings) -> Detector:
    """The detector that `family:name` stands for: `torchvision:...`, `transformers:...` or `yolo:FILE.npz`."""
    family, _, name = model.partition(":")
    makers: dict[str, Callable[[str, GroundTruth, Settings], Detector]] = {
        "torchvision": _torchvision,
        "transformers": _transformers,
        "yolo": _yolo,
    }
    if family not in makers or not name:
        raise OpenSetError(
            f"Cannot read the model {model!r}: write it like 'torchvision:fasterrcnn_resnet50_fpn', 'transformers:FOLDER' "
            f"or 'yolo:detector.npz'. {did_you_mean(family, makers) if family not in makers else ''}".strip()
        )
    if settings.passes < 1:
        raise OpenSetError(f"predict: 'passes' must be 1 or more, got {settings.passes}.")
    try:
        return makers[family](name, known, settings)
    except ImportError as error:
        need = {"yolo": "torch", "torchvision": "torch torchvision", "transformers": "torch transformers"}[family]
        raise OpenSetError(f"This model needs more packages: pip install {need} ({error}).") from error


def _torchvision(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.predict_torchvision import torchvision_detector

    return torchvision_detector(name, known, settings)


def _transformers(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.predict_transformers import transformers_detector

    return transformers_detector(name, known, settings)


def _yolo(name: str, known: GroundTruth, settings: Settings) -> Detector:
    from openset.detection.predict_yolo import yolo_detector

    return yolo_detector(name, known, settings)


def match_classes(model_names: Sequence[str], known: GroundTruth) -> Ints:
    """For each class of the model its position among the known classes, or -1."""
    place = {plain(name): i for i, name in enumerate(known.class_names)}
    matched = np.array([place.get(plain(name), -1) for name in model_names], dtype=np.int64)
    if (matched < 0).all():
        raise OpenSetError(
            f"The model's classes ({', '.join(model_names[:5])}, ...) have none in common with {known.source} "
            f"({', '.join(known.class_names[:5])}, ...)."
        )
    return matched


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
    if not folder.is_dir():
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


def read_weights(path: str) -> dict[str, Any]:
    """Tensors by name from a .safetensors file or a PyTorch checkpoint, without running code from it."""
    import torch

    file = existing(path)
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return dict(load_file(file))
        content = torch.load(file, map_location="cpu", weights_only=True)
    except ImportError:
        raise
    except Exception as error:  # each format fails in its own way
        raise OpenSetError(f"{file} does not hold plain weights, or it is damaged: save a state_dict.") from error
    for key in ("model", "state_dict"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    if not isinstance(content, dict) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise OpenSetError(f"{file} does not hold plain weights: save a state_dict.")
    return content
