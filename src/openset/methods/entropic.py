"""Entropic open-set loss."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing


class EntropicLoss(nn.Module):
    """Cross-entropy with the true class as target of knowns and 1/K everywhere of negatives; mean over the batch.

    `negative_weight` multiplies the terms of negatives (the published losses use 1).

    >>> loss = EntropicLoss()
    >>> loss(torch.tensor([[0.0, 0.0], [1.0, 3.0]]), torch.tensor([0, -1])).item().__round__(4)
    0.91
    """

    def __init__(
        self, negative_weight: float = 1.0, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform"
    ) -> None:
        super().__init__()
        self.negative_weight = negative_weight
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of logits (n, K) and labels (n), those below 0 being negatives."""
        flat = -F.log_softmax(logits.float(), dim=1).mean(dim=1)
        own = self.classification.each(logits, labels)
        return torch.where(labels >= 0, own, self.negative_weight * flat).mean()


@METHODS.register("entropic")
class Entropic(Method):
    """Knowns are learned, negatives are driven to equal probabilities; unknown score = 1 - max_k p_k.

    Dhamija et al., NeurIPS 2018; EOS in the ImageNet protocols, eqs. 1 and 5.
    """

    title = "Entropic open-set"
    paper = "arXiv:1811.04110"
    score = "msp"
    uses_negatives = True

    def __init__(self, n_features: int, n_classes: int, *, negative_weight: float = 1.0, **options: Any) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = EntropicLoss(negative_weight, **options)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Cross-entropy with both kinds of target."""
        value: Tensor = self.criterion(batch.logits, batch.labels)
        return value
