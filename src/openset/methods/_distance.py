"""Distances to learned points, as the prototype methods use them."""

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from openset.errors import OpenSetError, check_choice
from openset.methods._base import Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing


class Points(nn.Module):
    """One learned point per class; `forward` gives squared distances divided by the dimension, (n, K).

    The points start at 0.1 times standard normal values.
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__()
        self.points = nn.Parameter(0.1 * torch.randn(n_classes, n_features))

    def forward(self, embedding: Tensor) -> Tensor:
        """Squared distance of every embedding to every point, per dimension."""
        products = embedding @ self.points.T
        squares = (embedding**2).sum(1, keepdim=True) - 2 * products + (self.points**2).sum(1)
        return squares / embedding.shape[1]


def of_class(values: Tensor, labels: Tensor) -> Tensor:
    """The value of each sample's own class; of class 0 where the label is below 0."""
    return values.gather(1, labels.clamp(min=0)[:, None])[:, 0]


class DistanceLoss(nn.Module):
    """Base of distance losses: cross-entropy of logits, distances over a temperature, and a weighted term."""

    def __init__(
        self,
        weight: float = 0.1,
        label_smoothing: float = 0.0,
        smoothing: Smoothing = "uniform",
        *,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        if not temperature > 0:
            raise OpenSetError(f"{type(self).__name__}: 'temperature' must be above 0, got {temperature:g}.")
        self.weight, self.temperature = weight, temperature
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)


class DistanceMethod(Method):
    """Base of methods whose logits are the distances d to learned points, or minus them, divided by a temperature.

    Without a `temperature` it is 1, as published; for a backbone that multiplies its embeddings by a factor (fastnet)
    the square of that factor, so that logits are as large as they were without it.
    """

    score = "msp"
    sign: ClassVar[int]
    """1 if the farthest point wins, -1 if the nearest does."""

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        temperature: float | None = None,
        score: Literal["msp", "max_logit"] = "msp",
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        name = type(self).__name__.lower()
        self.score = check_choice(name, "score", score, ["msp", "max_logit"])
        self.given_temperature = temperature
        self.criterion: DistanceLoss  # a subclass makes it

    @property
    def loss_options(self) -> dict[str, Any]:
        """What the loss needs besides its weight."""
        smoothed = {name: getattr(self.classification, name) for name in ("label_smoothing", "smoothing")}
        return smoothed | ({} if self.given_temperature is None else {"temperature": self.given_temperature})

    def make_head(self) -> nn.Module:
        """The points."""
        return Points(self.n_features, self.n_classes)

    def adapt(self, backbone: nn.Module, shape: tuple[int, ...]) -> None:
        """Where nobody says another temperature, make up for a backbone that scales its embeddings."""
        if self.given_temperature is None:
            self.criterion.temperature = float(getattr(backbone, "embedding_scale", 1.0)) ** 2

    def forward(self, embedding: Tensor) -> Tensor:
        """Distances as logits."""
        return super().forward(embedding) * (self.sign / self.criterion.temperature)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification by distance, and a term that bounds it."""
        value: Tensor = self.criterion(batch.logits, batch.labels)
        return value
