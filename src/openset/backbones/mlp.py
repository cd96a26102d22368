"""A network for feature vectors."""

from itertools import pairwise

from torch import nn

from openset.backbones._base import BACKBONES, Backbone
from openset.errors import OpenSetError, check_share


@BACKBONES.register("mlp")
class Mlp(Backbone):
    """Layers of the sizes in `hidden`, with ReLU; dropout in front of each if asked for.

    Without any, `hidden: []`, the embedding is the vector itself, and a linear head on it makes a linear classifier.
    """

    title = "Layers for feature vectors"
    n_axes = 1

    def __init__(
        self, shape: tuple[int, ...], n_outputs: int, *, hidden: tuple[int, ...] = (128, 128), dropout: float = 0.0
    ) -> None:
        super().__init__(shape, n_outputs)
        if min(hidden, default=1) < 1:
            raise OpenSetError(f"mlp: 'hidden' must be sizes of layers, 1 or more each, got {list(hidden)}.")
        check_share("mlp", "dropout", dropout, zero=True, one=False)
        widths = (shape[0], *hidden)
        self.n_features = widths[-1]
        layers = [_layer(before, after, dropout) for before, after in pairwise(widths)]
        self.stages = nn.ModuleList(layers or [nn.Dropout(dropout)])


def _layer(before: int, after: int, dropout: float) -> nn.Sequential:
    first = [nn.Dropout(dropout)] if dropout else []
    return nn.Sequential(*first, nn.Linear(before, after), nn.ReLU())
