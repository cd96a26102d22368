"""One adapter for detectors of the transformers library: DETR, YOLOS, RT-DETR, D-FINE and their like.

Models with one score more than they have classes (DETR, YOLOS) end in a softmax whose last entry means "no object":
it is kept as the background score. The others score classes independently and have none.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from openset._io.json_files import read_json
from openset.detection.adapters.detectors import Detector, Found, Settings, match_classes
from openset.detection.read.coco import GroundTruth, Ints
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image

_MEAN, _SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_LONGEST = 1333
"""Pixels of the longest edge, unless a model says something else."""
_MOST = 300
"""Detections per image that models with independent scores return."""


def transformers_detector(name: str, known: GroundTruth, settings: Settings) -> Detector:
    """A detector from a local folder, or by its name on the model hub, which downloads it."""
    from transformers import AutoModelForObjectDetection

    if settings.weights is not None:
        raise OpenSetError(
            "A transformers model brings its weights: leave out --weights and give its folder as the model."
        )
    try:
        model = AutoModelForObjectDetection.from_pretrained(name, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise OpenSetError(f"Cannot load the model {name!r}: {str(error).splitlines()[0]}") from error
    labels = model.config.id2label
    places = match_classes([str(labels[i]) for i in range(len(labels))], known)
    return wrap(model, places, settings, Preparation.read(name))


class Preparation:
    """How the model wants its pictures: size, mean and standard deviation."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.target = _target(content.get("size") or 800, content.get("max_size") or _LONGEST)
        normal = content.get("do_normalize", True)
        self.mean = np.array(content.get("image_mean", _MEAN) if normal else (0, 0, 0), dtype=np.float32)
        self.sd = np.array(content.get("image_std", _SD) if normal else (1, 1, 1), dtype=np.float32)

    @classmethod
    def read(cls, folder: str) -> "Preparation":
        """From the model's own description, or the usual values of DETR if it has none."""
        file = Path(folder) / "preprocessor_config.json"
        if file.is_file():
            return cls(read_json(file))
        if Path(folder).is_dir():
            return cls({})
        from transformers import AutoImageProcessor

        return cls(AutoImageProcessor.from_pretrained(folder).to_dict())

    def __call__(self, picture: "Image") -> Tensor:
        """The picture as the model's input."""
        small = picture.resize(self.target(*picture.size))
        array = (np.asarray(small, dtype=np.float32) / 255 - self.mean) / self.sd
        return torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))


def _target(size: Any, longest: float) -> Callable[[int, int], tuple[int, int]]:
    """From the width and height of a picture to those the model wants, for each way to say it in `size`.

    A number alone, with the longest edge beside it as `max_size`, is how older descriptions say it.
    """
    if isinstance(size, int):
        size = {"shortest_edge": size, "longest_edge": longest}
    keys = set(size) if isinstance(size, dict) else set()

    def scaled(width: int, height: int, scale: float) -> tuple[int, int]:
        return max(1, round(width * scale)), max(1, round(height * scale))

    if keys == {"height", "width"}:
        return lambda width, height: (size["width"], size["height"])
    if keys == {"max_height", "max_width"}:
        return lambda width, height: scaled(width, height, min(size["max_width"] / width, size["max_height"] / height))
    if keys in ({"shortest_edge"}, {"shortest_edge", "longest_edge"}):
        short, long = size["shortest_edge"], size.get("longest_edge", longest)
        return lambda width, height: scaled(width, height, min(short / min(width, height), long / max(width, height)))
    raise OpenSetError(
        f"preprocessor_config.json of the model has the size {size!r:.80}: give it as height and width, as "
        "shortest_edge and longest_edge, or as max_height and max_width."
    )


def wrap(model: nn.Module, places: Ints, settings: Settings, prepare: Preparation) -> Detector:
    """Run a transformers model picture by picture; `places[label]` is the known class of its label, -1 for none."""
    model.eval().to(settings.device)
    if settings.passes > 1:
        model.train()  # switches dropout on; statistics of batches must stay what they are
        for module in model.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.eval()

    @torch.no_grad()
    def run(pictures: "Sequence[Image]") -> list[Found]:
        return [_one(model, prepare(picture), picture.size, len(places), settings, places) for picture in pictures]

    return run


def _one(
    model: nn.Module, pixels: Tensor, size: tuple[int, int], n_labels: int, settings: Settings, places: Ints
) -> Found:
    samples = [_scores(model, pixels.to(settings.device), n_labels) for _ in range(settings.passes)]
    if settings.passes > 1 and torch.equal(samples[0][0], samples[1][0]):
        raise OpenSetError("Dropout sampling needs a detector with dropout; every pass of this one gives the same.")
    scores, boxes = (torch.stack(part).mean(dim=0) for part in zip(*samples, strict=True))
    if scores.shape[1] == n_labels:
        return independent(scores, boxes, size, places, settings.min_score)
    value, label = scores[:, :n_labels].max(dim=1)  # a softmax names one class per query
    row = torch.arange(len(scores), device=scores.device)
    return _found((row, label, value), boxes, size, places, settings.min_score, scores[:, n_labels])


def independent(scores: Tensor, boxes: Tensor, size: tuple[int, int], places: Ints, min_score: float) -> Found:
    """The highest of scores (queries x classes) that do not exclude one another; boxes are shares of the picture."""
    value, flat = scores.flatten().topk(min(_MOST, scores.numel()))
    return _found((flat // scores.shape[1], flat % scores.shape[1], value), boxes, size, places, min_score)


def _found(
    chosen: tuple[Tensor, Tensor, Tensor],
    boxes: Tensor,
    size: tuple[int, int],
    places: Ints,
    min_score: float,
    background: Tensor | None = None,
) -> Found:
    """Detections from queries, labels and scores that were chosen."""
    row, label, value = (part[chosen[2] >= min_score] for part in chosen)
    centre, extent = boxes[row, :2].double().cpu().numpy(), boxes[row, 2:].double().cpu().numpy()
    box = np.column_stack([centre - extent / 2, extent]) * np.tile(np.array(size, dtype=np.float64), 2)
    return Found(
        box,
        places[label.cpu().numpy()],
        value.double().cpu().numpy(),
        None if background is None else background[row].double().cpu().numpy(),
    )


def _scores(model: nn.Module, pixels: Tensor, n_labels: int) -> tuple[Tensor, Tensor]:
    """Probabilities (queries x classes, "no object" last if the model has it), boxes as fractions of the picture."""
    output = model(pixel_values=pixels[None])
    logits = output.logits[0]
    return (logits.softmax(-1) if logits.shape[-1] == n_labels + 1 else logits.sigmoid()), output.pred_boxes[0]
