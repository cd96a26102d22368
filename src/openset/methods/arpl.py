"""Adversarial reciprocal point learning."""

from typing import Any

import torch
from torch import Tensor, nn

from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing, mean_over
from openset.methods._distance import Points, of_class


class ARPLLoss(nn.Module):
    """CE(logits) + weight * mean max(0, d_y - R + 1); the radius R is learned and starts at 0.

    Takes logits d - x.c (n, K), labels (n) and the distances d (n, K).

    >>> loss = ARPLLoss(weight=0.5)
    >>> loss(torch.tensor([[2.0, 2.0]]), torch.tensor([0]), torch.tensor([[3.0, 1.0]])).item().__round__(4)
    2.6931
    """

    def __init__(self, weight: float = 0.1, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform") -> None:
        super().__init__()
        self.weight = weight
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)
        self.radius = nn.Parameter(torch.zeros(()))

    def forward(self, logits: Tensor, labels: Tensor, distances: Tensor) -> Tensor:
        """The loss of a batch."""
        value: Tensor = self.classification(logits, labels)
        outside = (of_class(distances, labels) - self.radius + 1).clamp(min=0)
        return value + self.weight * mean_over(outside, labels >= 0)


@METHODS.register("arpl")
class ARPL(Method):
    """Farthest reciprocal point by distance and by angle; unknown score = -max logit.

    Chen et al., TPAMI 2021: logits = d - x.c, d_k = ||x - c_k||^2 / D; CE + weight * max(0, d_y - R + 1), R learned.
    """

    title = "Adversarial reciprocal points (ARPL)"
    paper = "arXiv:2103.00953"

    def __init__(self, n_features: int, n_classes: int, *, weight: float = 0.1, **options: Any) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = ARPLLoss(weight, **options)

    def make_head(self) -> nn.Module:
        """Reciprocal points."""
        return Points(self.n_features, self.n_classes)

    def forward(self, embedding: Tensor) -> Tensor:
        """Distance minus inner product."""
        points = self.head.points
        assert isinstance(points, Tensor)
        return super().forward(embedding) - embedding @ points.T

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification, and a bound on the distance to the own reciprocal point."""
        value: Tensor = self.criterion(batch.logits, batch.labels, self.head(batch.embedding))
        return value
