"""Heads of the small detector: how it says what is in a box, and that nothing is. The paper's families, in small.

All heads sit on the same backbone, anchors and box regression, so detectors differ in their family alone.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional

from openset._core.registry import Registry

OBJECT, ELSEWHERE = 5.0, 0.5
"""Weights in the loss: of places that answer for an object, and of all the others, which are many."""

Place = tuple[Tensor, Tensor, Tensor, Tensor]
"""Picture, row, column and anchor that answer for each object."""


class Head(ABC):
    """A family of detectors."""

    title: str
    published: str
    """The paper's detector of this family."""

    @abstractmethod
    def n_outputs(self, n_classes: int) -> int:
        """Numbers that it needs for each box."""

    @abstractmethod
    def read(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Score of each class, and of background, from raw outputs."""

    @abstractmethod
    def loss(self, outputs: Tensor, place: Place, label: Tensor, overlap: Tensor) -> Tensor:
        """Sum over all places; objects are at `place`, and `overlap` is the IoU of the boxes predicted there."""


HEADS: Registry[Head] = Registry("head of the small detector")


class Objectness(Head):
    """Whether there is an object, times, for each class, whether it is that.

    Objectness learns the IoU of the predicted box, as in YOLOv2, so that it also tells how well a box fits.
    """

    title = "objectness"
    published = "yolov2"

    def n_outputs(self, n_classes: int) -> int:
        """Objectness, then classes."""
        return 1 + n_classes

    def read(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Objectness x class; background is what objectness leaves."""
        objectness = outputs[..., 0].sigmoid()
        return objectness[..., None] * outputs[..., 1:].sigmoid(), 1 - objectness

    def loss(self, outputs: Tensor, place: Place, label: Tensor, overlap: Tensor) -> Tensor:
        """Objectness everywhere, classes where an object is."""
        wanted = torch.zeros_like(outputs[..., 0])
        wanted[place] = overlap
        entropy = functional.binary_cross_entropy_with_logits(outputs[..., 0], wanted, reduction="none")
        one_hot = functional.one_hot(label, outputs.shape[-1] - 1).float()
        classes = functional.binary_cross_entropy_with_logits(outputs[place][:, 1:], one_hot, reduction="sum")
        return (_weights(wanted, place) * entropy).sum() + classes


class BackgroundClass(Head):
    """Softmax over the classes and one more for background, as two-stage detectors have it."""

    title = "background class"
    published = "faster-rcnn"

    def n_outputs(self, n_classes: int) -> int:
        """Classes, then background."""
        return n_classes + 1

    def read(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities, which sum to 1 with that of background."""
        probability = outputs.softmax(dim=-1)
        return probability[..., :-1], probability[..., -1]

    def loss(self, outputs: Tensor, place: Place, label: Tensor, overlap: Tensor) -> Tensor:
        """Cross-entropy everywhere."""
        wanted = torch.full(outputs.shape[:-1], outputs.shape[-1] - 1, device=outputs.device)
        wanted[place] = label
        entropy = functional.cross_entropy(outputs.flatten(0, -2), wanted.flatten(), reduction="none")
        return (_weights(outputs[..., 0], place).flatten() * entropy).sum()


class OneVersusRest(Head):
    """For each class whether it is that, against all other things, as RetinaNet has it."""

    title = "one versus rest"
    published = "retinanet"

    def n_outputs(self, n_classes: int) -> int:
        """Classes alone."""
        return n_classes

    def read(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Independent scores; background is what the highest leaves."""
        score = outputs.sigmoid()
        return score, 1 - score.amax(dim=-1)

    def loss(self, outputs: Tensor, place: Place, label: Tensor, overlap: Tensor) -> Tensor:
        """Binary cross-entropy of every class everywhere."""
        wanted = torch.zeros_like(outputs)
        wanted[(*place, label)] = 1.0
        entropy = functional.binary_cross_entropy_with_logits(outputs, wanted, reduction="none").sum(dim=-1)
        return (_weights(entropy, place) * entropy).sum()


def _weights(like: Tensor, place: Place) -> Tensor:
    weight = torch.full_like(like, ELSEWHERE)
    weight[place] = OBJECT
    return weight


HEADS.add("objectness", Objectness())
HEADS.add("background", BackgroundClass())
HEADS.add("one_versus_rest", OneVersusRest())
