"""The small detector of the demo, run on any pictures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from openset._io.npz import read_npz
from openset.detection.adapters.detectors import Detector, Found, Settings
from openset.detection.adapters.yolo import SmallYolo, detect
from openset.detection.read.coco import GroundTruth
from openset.detection.scenes import SIZE
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image


def yolo_detector(path: str, known: GroundTruth, settings: Settings) -> Detector:
    """A detector from the weights that `openset detect demo` leaves; its classes are those of `known`, in order."""
    model = SmallYolo(known.n_classes)
    try:
        model.load_state_dict({name: torch.from_numpy(value) for name, value in read_npz(path).items()})
    except (RuntimeError, TypeError) as error:
        raise OpenSetError(
            f"{path} does not hold this detector with the {known.n_classes} classes of {known.source}."
        ) from error

    def run(pictures: "Sequence[Image]") -> list[Found]:
        small = [np.asarray(picture.resize((SIZE, SIZE))).transpose(2, 0, 1) for picture in pictures]
        found = detect(model, np.stack(small), min_score=settings.min_score, passes=settings.passes)
        return [
            Found(boxes * np.tile(np.array(picture.size) / SIZE, 2), labels, scores, background)
            for picture, (boxes, labels, scores, background) in zip(pictures, found, strict=True)
        ]

    return run
