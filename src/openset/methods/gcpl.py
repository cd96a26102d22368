"""Generalised convolutional prototype learning."""

from typing import Any

import torch  # noqa: F401  its example needs it
from torch import Tensor

from openset.methods._base import METHODS
from openset.methods._cross_entropy import mean_over
from openset.methods._distance import DistanceLoss, DistanceMethod, of_class


class GCPLLoss(DistanceLoss):
    """CE(-d / temperature) + weight * mean d_y / 2, d_k = squared distance to the prototype of class k, per dimension.

    Takes the logits -d / temperature (n, K) and labels (n).

    >>> GCPLLoss(weight=0.5)(torch.tensor([[-1.0, -1.0]]), torch.tensor([0])).item().__round__(4)
    0.9431
    """

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch."""
        value: Tensor = self.classification(logits, labels)
        distance = -self.temperature * of_class(logits, labels)
        return value + self.weight * mean_over(distance, labels >= 0) / 2


@METHODS.register("gcpl")
class GCPL(DistanceMethod):
    """Logits are minus the distances to learned prototypes; unknown score = 1 - max_k p_k, p = softmax(-d / T).

    Yang et al., CVPR 2018: CE(-d / T) + weight * d_y / 2, d_k = ||x - c_k||^2 / D. With `score="max_logit"` it is the
    distance to the nearest prototype. That needs a large `weight`: with a small one, confident knowns move away from
    all prototypes, and the distance may point the wrong way.
    """

    title = "Prototypes (GCPL)"
    paper = "arXiv:1805.03438"
    sign = -1

    def __init__(self, n_features: int, n_classes: int, *, weight: float = 0.1, **options: Any) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = GCPLLoss(weight, **self.loss_options)
