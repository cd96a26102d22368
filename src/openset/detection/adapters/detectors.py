"""What every adapter to a detector has in common: its settings, its output, its classes and its weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from openset._io.paths import existing
from openset.detection.read.coco import Floats, GroundTruth, Ints
from openset.detection.read.names import Names
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image


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


def match_classes(model_names: Sequence[str], known: GroundTruth) -> Ints:
    """For each class of the model its position among the known classes, or -1."""
    classes = Names(known.class_names, known.source)
    places = [classes.find(name) for name in model_names]
    matched = np.array([-1 if place is None else place for place in places], dtype=np.int64)
    if (matched < 0).all():
        raise OpenSetError(
            f"The model's classes ({', '.join(model_names[:5])}, ...) have none in common with {known.source} "
            f"({', '.join(known.class_names[:5])}, ...)."
        )
    return matched


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
