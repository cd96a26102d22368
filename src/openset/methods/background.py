"""A class of its own for everything negative."""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from openset.errors import OpenSetError, check_choice
from openset.methods._base import METHODS, Batch, Method
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing

Divide = Literal["samples", "weights"]
Weights = Literal["balanced", "equal"]


class BackgroundLoss(nn.Module):
    """Weighted cross-entropy over K+1 classes; labels below 0 belong to the last one.

    `class_weights` (K+1) default to 1. Eq. 1 divides the weighted sum by the number of samples (`divide="samples"`),
    torch by the sum of their weights (`divide="weights"`), which is larger whenever rare classes weigh less than 1.

    >>> loss = BackgroundLoss(class_weights=torch.tensor([1.0, 0.5]))
    >>> loss(torch.zeros(2, 2), torch.tensor([0, -1])).item().__round__(4)
    0.5199
    """

    class_weights: Tensor | None

    def __init__(
        self,
        class_weights: Tensor | None = None,
        divide: Divide = "samples",
        label_smoothing: float = 0.0,
        smoothing: Smoothing = "uniform",
    ) -> None:
        super().__init__()
        self.divide = check_choice("background", "divide", divide, ["samples", "weights"])
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)
        self.register_buffer("class_weights", class_weights)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of logits (n, K+1) and labels (n)."""
        targets = torch.where(labels >= 0, labels, logits.shape[1] - 1)
        each = self.classification.each(logits, targets)
        if self.class_weights is None:
            return each.mean()
        weights = self.class_weights[targets]
        return (weights * each).sum() / (len(labels) if self.divide == "samples" else weights.sum())


@METHODS.register("background")
class Background(Method):
    """Negatives are one more class; its probability is dropped, and unknown score = 1 - max_k p_k over the K knowns.

    BG in the ImageNet protocols, eqs. 1 and 4: class weights w_c = N / (C N_c) (`weights="balanced"`); that of the
    negatives is multiplied by `negative_weight`.
    """

    title = "Background class"
    paper = "arXiv:2210.06789"
    score = "msp"
    background = True
    uses_negatives = True

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        weights: Weights = "balanced",
        negative_weight: float = 1.0,
        divide: Divide = "samples",
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        self.weights = check_choice("background", "weights", weights, ["balanced", "equal"])
        self.negative_weight = negative_weight
        self.criterion = BackgroundLoss(torch.ones(n_classes + 1), divide, **options)

    def prepare(self, labels: Tensor) -> None:
        """Set the class weights from the training labels."""
        n_outputs = self.n_classes + 1
        counts = torch.bincount(torch.where(labels >= 0, labels, self.n_classes), minlength=n_outputs)
        weights = torch.ones(n_outputs)
        if self.weights == "balanced":
            if (counts == 0).any():
                empty = int(counts.argmin())
                what = "negative samples" if empty == self.n_classes else f"samples of class {empty}"
                raise OpenSetError(f"background: the training part has no {what}, so its weight is undefined.")
            weights = len(labels) / (n_outputs * counts.float())
        weights[-1] *= self.negative_weight
        assert self.criterion.class_weights is not None
        self.criterion.class_weights.copy_(weights)

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Weighted cross-entropy."""
        value: Tensor = self.criterion(batch.logits, batch.labels)
        return value
