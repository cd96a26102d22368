"""A network for feature vectors."""

from itertools import pairwise

from torch import nn

from openset.backbones._base import BACKBONES, Backbone
from openset.errors import OpenSetError, check_share


@BACKBONES.register("mlp")
class Mlp(Backbone):
    """Layers of the sizes in `hidden`, with ReLU; dropout between them if asked for."""

    title = "Layers for feature vectors"
    n_axes = 1

    def __init__(
        self, shape: tuple[int, ...], n_outputs: int, *, hidden: tuple[int, ...] = (128, 128), dropout: float = 0.0
    ) -> None:
        super().__init__(shape, n_outputs)
        if not hidden or min(hidden) < 1:
            raise OpenSetError(f"mlp: 'hidden' must be sizes of one or more layers, got {list(hidden)}.")
        check_share("mlp", "dropout", dropout, zero=True, one=False)
        self.n_features = hidden[-1]
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Dropout(dropout), nn.Linear(before, after), nn.ReLU())
            if dropout
            else nn.Sequential(nn.Linear(before, after), nn.ReLU())
            for before, after in pairwise((shape[0], *hidden))
        )
