"""Objectosphere loss."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openset.errors import OpenSetError
from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import Smoothing
from openset.methods.entropic import EntropicLoss
from openset.posthoc import SCORES, Outputs


class ObjectosphereLoss(nn.Module):
    """Entropic loss + weight * mean of max(0, radius - |x|)^2 for knowns and |x|^2 for negatives.

    Takes logits (n, K), labels (n; below 0 = negative) and embeddings (n, D).

    >>> loss = ObjectosphereLoss(radius=5.0, weight=0.5)
    >>> embedding = torch.tensor([[3.0, 0.0], [0.0, 2.0]])
    >>> loss(torch.zeros(2, 2), torch.tensor([0, -1]), embedding).item().__round__(4)
    2.6931
    """

    def __init__(
        self,
        radius: float = 10.0,
        weight: float = 1e-3,
        negative_weight: float = 1.0,
        label_smoothing: float = 0.0,
        smoothing: Smoothing = "uniform",
    ) -> None:
        super().__init__()
        if radius <= 0:
            raise OpenSetError(f"objectosphere: 'radius' must be above 0, got {radius:g}.")
        self.radius, self.weight, self.negative_weight = radius, weight, negative_weight
        self.entropic = EntropicLoss(negative_weight, label_smoothing, smoothing)

    def forward(self, logits: Tensor, labels: Tensor, embedding: Tensor) -> Tensor:
        """The loss of a batch."""
        squares = (embedding.float() ** 2).sum(dim=1)
        short = (self.radius - (squares + 1e-12).sqrt()).clamp(min=0) ** 2  # the root has no slope at 0
        value: Tensor = self.entropic(logits, labels)
        return value + self.weight * torch.where(labels >= 0, short, self.negative_weight * squares).mean()


@METHODS.register("objectosphere")
class Objectosphere(Method):
    """Knowns get long embeddings, negatives short ones; unknown score = -|x| * max_k p_k.

    Dhamija et al., NeurIPS 2018: entropic loss + weight * [max(0, radius - |x|)^2 for knowns, |x|^2 for negatives].
    """

    title = "Objectosphere"
    paper = "arXiv:1811.04110"
    score = "msp"
    uses_negatives = True

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        radius: float = 10.0,
        weight: float = 1e-3,
        negative_weight: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = ObjectosphereLoss(radius, weight, negative_weight, **options)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Entropic loss and the length of the embeddings."""
        value: Tensor = self.criterion(batch.logits, batch.labels, batch.embedding)
        return value

    def unknown_score(self, outputs: Outputs) -> NDArray[np.float64]:
        """Minus the largest probability times the length of the embedding."""
        length = np.linalg.norm(outputs.embedding(), axis=1)
        return np.asarray(-length * (1.0 - SCORES["msp"].compute(outputs, None)))

    def score_used(self) -> dict[str, Any]:
        """A score of its own."""
        return {"name": "objectosphere", "params": {}}
