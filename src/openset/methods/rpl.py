"""Reciprocal point learning."""

from typing import Any

import torch
from torch import Tensor, nn

from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing, mean_over
from openset.methods._distance import Points, keep_scale, of_class


class RPLLoss(nn.Module):
    """CE(d) + weight * mean (d_y - R)^2, d_k being the squared distance to the reciprocal point of class k, over D.

    Takes the logits d (n, K) and labels (n); the radius R is learned and starts at 0.

    >>> RPLLoss(weight=0.5)(torch.tensor([[2.0, 2.0]]), torch.tensor([0])).item().__round__(4)
    2.6931
    """

    def __init__(self, weight: float = 0.1, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform") -> None:
        super().__init__()
        self.weight = weight
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)
        self.radius = nn.Parameter(torch.zeros(()))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch."""
        value: Tensor = self.classification(logits, labels)
        return value + self.weight * mean_over((of_class(logits, labels) - self.radius) ** 2, labels >= 0)


@METHODS.register("rpl")
class RPL(Method):
    """A sample is of the class whose reciprocal point is farthest; unknown score = -max_k d_k.

    Chen et al., ECCV 2020: CE(d) + weight * (d_y - R)^2, d_k = ||x - c_k||^2 / D, R learned.
    """

    title = "Reciprocal points (RPL)"
    paper = "ECCV 2020, Chen et al., Learning Open Set Network with Discriminative Reciprocal Points"

    def __init__(self, n_features: int, n_classes: int, *, weight: float = 0.1, **options: Any) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = RPLLoss(weight, **options)

    def adapt(self, backbone: nn.Module, shape: tuple[int, ...]) -> None:
        """Distances are measured in embeddings as they are."""
        keep_scale(backbone)

    def make_head(self) -> nn.Module:
        """Reciprocal points."""
        return Points(self.n_features, self.n_classes)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification by distance, and a bound on it."""
        value: Tensor = self.criterion(batch.logits, batch.labels)
        return value
