"""Confusing samples: a small generator and discriminator (DCGAN), and batch norms kept apart for real and generated."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import pairwise

import torch  # noqa: F401  its example needs it
from torch import Tensor, nn

N_NOISE = 100


class Generator(nn.Module):
    """Noise to images in [0, 1]: from 4 x 4 pixels, doubled until large enough, then cut to size."""

    def __init__(self, shape: tuple[int, ...], filters: int = 64) -> None:
        super().__init__()
        channels, self.height, self.width = shape
        doublings = max(1, (max(self.height, self.width) - 1).bit_length() - 2)
        widths = [filters * 2 ** min(2, doublings - 1 - step) for step in range(doublings)]
        layers: list[nn.Module] = [nn.ConvTranspose2d(N_NOISE, widths[0], 4, bias=False), *_norm(widths[0])]
        for before, after in pairwise(widths):
            layers += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1, bias=False), *_norm(after)]
        layers += [nn.ConvTranspose2d(widths[-1], channels, 4, stride=2, padding=1), nn.Sigmoid()]
        self.layers = nn.Sequential(*layers)

    def forward(self, noise: Tensor) -> Tensor:
        """Images of noise (n, 100)."""
        images: Tensor = self.layers(noise[:, :, None, None])
        return images[:, :, : self.height, : self.width]


class Discriminator(nn.Module):
    """Images to the logit of being real."""

    def __init__(self, shape: tuple[int, ...], filters: int = 64) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before, side = shape[0], max(shape[1:])
        while side > 4:
            after = filters if not layers else min(4 * filters, 2 * before)
            layers += [nn.Conv2d(before, after, 4, stride=2, padding=1), nn.LeakyReLU(0.2)]
            before, side = after, side // 2
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1))

    def forward(self, images: Tensor) -> Tensor:
        """Logits (n)."""
        logits: Tensor = self.layers(images)
        return logits[:, 0]


def _norm(width: int) -> list[nn.Module]:
    return [nn.BatchNorm2d(width), nn.ReLU()]


class DualBatchNorm(nn.Module):
    """One batch norm for real samples, another for generated ones."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.real, self.generated = norm, deepcopy(norm)
        self.sees_generated = False

    def forward(self, values: Tensor) -> Tensor:
        """Normalised values."""
        out: Tensor = (self.generated if self.sees_generated else self.real)(values)
        return out


def split_batch_norms(module: nn.Module) -> None:
    """Replace every batch norm by a pair."""
    for name, child in module.named_children():
        if isinstance(child, nn.modules.batchnorm._BatchNorm):
            setattr(module, name, DualBatchNorm(child))
        else:
            split_batch_norms(child)


@contextmanager
def seeing_generated(module: nn.Module) -> Iterator[None]:
    """Batch norms take what they see for generated."""
    pairs = [one for one in module.modules() if isinstance(one, DualBatchNorm)]
    for pair in pairs:
        pair.sees_generated = True
    try:
        yield
    finally:
        for pair in pairs:
            pair.sees_generated = False


def mean_entropy(logits: Tensor) -> Tensor:
    """Mean entropy of the softmax of logits (n, K), in nats.

    >>> mean_entropy(torch.zeros(3, 2)).item().__round__(4)
    0.6931
    """
    log_probabilities = logits.float().log_softmax(dim=1)
    return -(log_probabilities.exp() * log_probabilities).sum(dim=1).mean()
