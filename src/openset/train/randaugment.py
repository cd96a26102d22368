"""RandAugment (Cubuk et al., 2020) on a batch: each image gets its own operations, drawn at random."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

GREATEST = 30  # magnitudes run from 0 to this


def randaugment(images: Tensor, n_operations: int, magnitude: float, generator: torch.Generator) -> Tensor:
    """`n_operations` random operations of strength `magnitude` (of 30) on images (n, C, H, W) in [0, 1]."""
    share = magnitude / GREATEST
    names = list(OPERATIONS)
    for _ in range(n_operations):
        chosen = torch.randint(len(names), (len(images),), generator=generator)
        signs = torch.where(torch.rand(len(images), generator=generator) < 0.5, -1.0, 1.0)
        out = images.clone()
        for number, name in enumerate(names):
            rows = (chosen == number).nonzero()[:, 0].to(images.device)
            if len(rows):
                signed = share * signs[rows.cpu()].to(images)
                out[rows] = OPERATIONS[name](images[rows], signed.view(-1, 1, 1, 1)).clamp(0, 1)
        images = out
    return images


def _warp(images: Tensor, matrices: Tensor) -> Tensor:
    grid = F.affine_grid(matrices, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def _matrices(amount: Tensor, row: int, column: int) -> Tensor:
    made = torch.eye(2, 3, device=amount.device, dtype=amount.dtype).repeat(len(amount), 1, 1)
    made[:, row, column] += amount.flatten()
    return made


def _rotate(images: Tensor, amount: Tensor) -> Tensor:
    angle = amount.flatten() * math.radians(30)
    matrices = torch.zeros(len(images), 2, 3, device=images.device, dtype=images.dtype)
    matrices[:, 0, 0] = matrices[:, 1, 1] = angle.cos()
    matrices[:, 0, 1], matrices[:, 1, 0] = -angle.sin(), angle.sin()
    return _warp(images, matrices)


def _grey(images: Tensor) -> Tensor:
    if images.shape[1] == 1:
        return images
    weights = torch.tensor([0.299, 0.587, 0.114], device=images.device, dtype=images.dtype).view(1, 3, 1, 1)
    return (images * weights).sum(dim=1, keepdim=True)


def _blend(images: Tensor, other: Tensor, amount: Tensor) -> Tensor:
    """Away from `other` for positive amounts, towards it for negative ones."""
    return other + (1 + 0.9 * amount) * (images - other)


def _smooth(images: Tensor) -> Tensor:
    kernel = torch.tensor([[1.0, 1, 1], [1, 5, 1], [1, 1, 1]], device=images.device, dtype=images.dtype) / 13
    padded = F.pad(images, (1, 1, 1, 1), mode="replicate")
    return F.conv2d(padded, kernel.expand(images.shape[1], 1, 3, 3), groups=images.shape[1])


def _posterize(images: Tensor, amount: Tensor) -> Tensor:
    levels = 2.0 ** (8 - (amount.abs() * 4).round())
    return ((images * 255) * levels / 256).floor() * (256 / levels) / 255


def _stretch(images: Tensor, _: Tensor) -> Tensor:
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    return torch.where(high > low, (images - low) / (high - low).clamp(min=1e-6), images)


def _equalize(images: Tensor, _: Tensor) -> Tensor:
    """Grey values such that all are equally frequent, per channel."""
    flat = (images * 255).round().long().flatten(2)
    counts = torch.zeros(*flat.shape[:2], 256, device=images.device).scatter_add_(
        2, flat, torch.ones_like(flat).float()
    )
    below = counts.cumsum(2)
    table = (below - below[..., :1]) / (flat.shape[2] - below[..., :1]).clamp(min=1)
    return table.gather(2, flat).view_as(images).to(images.dtype)


OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "identity": lambda images, _: images,
    "autocontrast": _stretch,
    "equalize": _equalize,
    "rotate": _rotate,
    "solarize": lambda images, amount: torch.where(images >= 1 - amount.abs(), 1 - images, images),
    "color": lambda images, amount: _blend(images, _grey(images), amount),
    "posterize": _posterize,
    "contrast": lambda images, amount: _blend(images, _grey(images).mean((1, 2, 3), keepdim=True), amount),
    "brightness": lambda images, amount: _blend(images, torch.zeros_like(images), amount),
    "sharpness": lambda images, amount: _blend(images, _smooth(images), amount),
    "shear_x": lambda images, amount: _warp(images, _matrices(0.3 * amount, 0, 1)),
    "shear_y": lambda images, amount: _warp(images, _matrices(0.3 * amount, 1, 0)),
    "translate_x": lambda images, amount: _warp(images, _matrices(0.9 * amount, 0, 2)),
    "translate_y": lambda images, amount: _warp(images, _matrices(0.9 * amount, 1, 2)),
}
