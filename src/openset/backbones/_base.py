"""What every backbone is: stages in a row, from inputs to embeddings."""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from openset._core.registry import Registry
from openset.errors import OpenSetError


class Backbone(nn.Module):
    """A chain of `stages`; a method may look between them. Options are keyword arguments of `__init__`."""

    n_axes: ClassVar[int] = 3
    """3 for images (C, H, W), 1 for vectors."""
    title: ClassVar[str] = ""
    stages: nn.ModuleList
    n_features: int
    embedding_scale: float = 1.0
    """What embeddings were multiplied by, for methods that measure distances in them."""

    def __init__(self, shape: tuple[int, ...], n_outputs: int, **options: Any) -> None:
        super().__init__()

    @classmethod
    def own_name(cls, name: str) -> str | None:
        """What a tensor of published weights is called here; None for one that belongs to no backbone, as a head's."""
        return name

    def observe_inputs(self, inputs: Tensor) -> None:
        """Look at some training inputs, shifted and scaled, once before training."""

    def forward(self, values: Tensor, start: int = 0, stop: int | None = None) -> Tensor:
        """Embeddings of inputs; or only the stages `start` up to `stop`."""
        if stop is not None and stop >= len(self.stages):
            raise OpenSetError(
                f"This backbone has {len(self.stages)} stages; 'mix_at' must be below that, got {stop}. "
                "Use 'embedding' to mix after the last one."
            )
        for stage in list(self.stages)[start:stop]:
            values = stage(values)
        return values


BACKBONES: Registry[type[Backbone]] = Registry("backbone")


class GlobalMean(nn.Module):
    """Mean over all pixels."""

    def forward(self, values: Tensor) -> Tensor:
        """(n, C, H, W) to (n, C)."""
        return torch.mean(values, dim=(2, 3))
