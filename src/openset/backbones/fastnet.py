"""A network that learns quickly on a CPU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from openset.backbones._base import BACKBONES, Backbone
from openset.errors import OpenSetError

_SMALLEST = 6  # pixels per side that are worth halving


@BACKBONES.register("fastnet")
class FastNet(Backbone):
    """Whitened 2x2 patches, then three blocks of two convolutions; `width`, 4 and 4 times `width` channels.

    Made to get far in few epochs (as the fast CIFAR10 training runs of K. Jordan, arXiv:2404.00498): the first layer is
    computed from the training images and stays, convolutions start as the identity, every channel reports its
    largest value, and embeddings are multiplied by `scale`, so that logits start small.
    """

    title = "Few, large convolutions that learn quickly on a CPU"

    def __init__(self, shape: tuple[int, ...], n_outputs: int, *, width: int = 16, scale: float = 1 / 9) -> None:
        super().__init__(shape, n_outputs)
        if width < 1:
            raise OpenSetError(f"fastnet: 'width' must be 1 or more, got {width}.")
        self.whiten = Whiten(shape[0])
        before, side = self.whiten.n_filters, min(shape[1:]) - 1
        stages: list[nn.Module] = [self.whiten]
        for channels in (width, 4 * width, 4 * width):
            stages.append(_Block(before, channels, halve=side >= _SMALLEST))
            before, side = channels, side // 2 if side >= _SMALLEST else side
        self.embedding_scale = scale
        stages[-1] = nn.Sequential(stages[-1], _ScaledMaximum(scale))
        self.stages = nn.ModuleList(stages)
        self.n_features = before

    def observe_inputs(self, inputs: Tensor) -> None:
        """The first layer's weights from training images."""
        self.whiten.fit(inputs)


class Whiten(nn.Module):
    """2x2 patches as uncorrelated values of equal spread, each with both signs; not trained."""

    filters: Tensor

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        size = 4 * n_channels
        self.n_filters = 2 * size
        self.register_buffer("filters", self._both_signs(torch.eye(size)))

    def forward(self, images: Tensor) -> Tensor:
        """(n, C, H, W) to (n, 8 C, H - 1, W - 1), nothing below zero."""
        return F.relu(F.conv2d(images, self.filters))

    @torch.no_grad()
    def fit(self, images: Tensor) -> None:
        """From the covariance of all patches of `images`."""
        size = self.n_filters // 2
        patches = F.unfold(images.double(), 2).transpose(1, 2).reshape(-1, size)
        spread, axes = torch.linalg.eigh(patches.T @ patches / len(patches))
        # Axes with next to no spread (a dark border) are not blown up.
        self.filters.copy_(self._both_signs((axes / (spread + 5e-4).sqrt()).T.float()))

    @staticmethod
    def _both_signs(rows: Tensor) -> Tensor:
        return torch.cat([rows, -rows]).view(2 * len(rows), -1, 2, 2)


class _Block(nn.Sequential):
    def __init__(self, before: int, channels: int, *, halve: bool) -> None:
        pool = [nn.MaxPool2d(2)] if halve else []
        super().__init__(
            *(_convolution(before, channels), *pool, _norm(channels), nn.ReLU()),
            *(_convolution(channels, channels), _norm(channels), nn.ReLU()),
        )


def _convolution(before: int, after: int) -> nn.Conv2d:
    """Hands its channels on unchanged at the start; further ones are drawn at random."""
    layer = nn.Conv2d(before, after, 3, padding=1, bias=False)
    with torch.no_grad():
        nn.init.dirac_(layer.weight[: min(before, after)])
    return layer


def _norm(channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels, momentum=0.4)  # short training runs need statistics that follow quickly
    norm.weight.requires_grad_(False)
    return norm


class _ScaledMaximum(nn.Module):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, values: Tensor) -> Tensor:
        return values.amax(dim=(2, 3)) * self.scale
