"""Reciprocal point learning."""

from typing import Any

import torch
from torch import Tensor, nn

from openset.methods._base import METHODS
from openset.methods._cross_entropy import Smoothing, mean_over
from openset.methods._distance import DistanceLoss, DistanceMethod, of_class


class RPLLoss(DistanceLoss):
    """CE(d / temperature) + weight * mean (d_y - R)^2, d_k = squared distance to the class's reciprocal point, over D.

    Takes the logits d / temperature (n, K) and labels (n); the radius R is learned and starts at 0.

    >>> RPLLoss(weight=0.5)(torch.tensor([[2.0, 2.0]]), torch.tensor([0])).item().__round__(4)
    2.6931
    """

    def __init__(
        self,
        weight: float = 0.1,
        label_smoothing: float = 0.0,
        smoothing: Smoothing = "uniform",
        *,
        temperature: float = 1.0,
    ) -> None:
        super().__init__(weight, label_smoothing, smoothing, temperature=temperature)
        self.radius = nn.Parameter(torch.zeros(()))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch."""
        value: Tensor = self.classification(logits, labels)
        distance = self.temperature * of_class(logits, labels)
        return value + self.weight * mean_over((distance - self.radius) ** 2, labels >= 0)


@METHODS.register("rpl")
class RPL(DistanceMethod):
    """A sample is of the class whose reciprocal point is farthest; unknown score = 1 - max_k p_k, p = softmax(d / T).

    Chen et al., ECCV 2020: CE(d / T) + weight * (d_y - R)^2, d_k = ||x - c_k||^2 / D, R learned. With
    `score="max_logit"` the score is minus the largest distance.
    """

    title = "Reciprocal points (RPL)"
    paper = "ECCV 2020, Chen et al., Learning Open Set Network with Discriminative Reciprocal Points"
    sign = 1

    def __init__(self, n_features: int, n_classes: int, *, weight: float = 0.1, **options: Any) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = RPLLoss(weight, **self.loss_options)
