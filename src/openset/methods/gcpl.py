"""Generalised convolutional prototype learning."""

from typing import Any, Literal

import torch  # noqa: F401  its example needs it
from torch import Tensor, nn

from openset.errors import check_choice
from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing, mean_over
from openset.methods._distance import Points, keep_scale, of_class


class GCPLLoss(nn.Module):
    """CE(-d) + weight * mean d_y / 2, with d_k the squared distance to the prototype of class k, per dimension.

    Takes the logits -d (n, K) and labels (n).

    >>> GCPLLoss(weight=0.5)(torch.tensor([[-1.0, -1.0]]), torch.tensor([0])).item().__round__(4)
    0.9431
    """

    def __init__(self, weight: float = 0.1, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform") -> None:
        super().__init__()
        self.weight = weight
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch."""
        value: Tensor = self.classification(logits, labels)
        return value + self.weight * mean_over(of_class(-logits, labels), labels >= 0) / 2


@METHODS.register("gcpl")
class GCPL(Method):
    """Logits are minus the distances to learned prototypes; unknown score = 1 - max_k p_k, p = softmax(-d).

    Yang et al., CVPR 2018: CE(-d) + weight * ||x - c_y||^2 / 2 D, d_k = ||x - c_k||^2 / D. With `score="max_logit"` it is
    the distance to the nearest prototype. That needs a large `weight`: with a small one, confident knowns move far away
    from all prototypes, and the distance points the wrong way.
    """

    title = "Prototypes (GCPL)"
    paper = "arXiv:1805.03438"
    score = "msp"

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        weight: float = 0.1,
        score: Literal["msp", "max_logit"] = "msp",
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        self.score = check_choice("gcpl", "score", score, ["msp", "max_logit"])
        self.criterion = GCPLLoss(weight, **options)

    def adapt(self, backbone: nn.Module, shape: tuple[int, ...]) -> None:
        """Distances are measured in embeddings as they are."""
        keep_scale(backbone)

    def make_head(self) -> nn.Module:
        """Prototypes."""
        return Points(self.n_features, self.n_classes)

    def forward(self, embedding: Tensor) -> Tensor:
        """Minus the distances."""
        return -super().forward(embedding)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification by distance, and a pull towards the own prototype."""
        value: Tensor = self.criterion(batch.logits, batch.labels)
        return value
