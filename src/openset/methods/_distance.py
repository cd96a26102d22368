"""Distances to learned points, as the prototype methods use them."""

import torch
from torch import Tensor, nn


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


def keep_scale(backbone: nn.Module) -> None:
    """Ask a backbone that shrinks its embeddings not to: small distances would make small logits for ever."""
    switch = getattr(backbone, "keep_scale", None)
    if switch is not None:
        switch()
