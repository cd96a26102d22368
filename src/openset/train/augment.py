"""Changes of training images, on the whole batch at once: RandAugment, crop, mirror, cutout, shrink."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from openset.train.config import Augment
from openset.train.randaugment import randaugment


def augment(images: Tensor, config: Augment, seed: int, *, epoch: int = 0, odd: Tensor | None = None) -> Tensor:
    """Changed images (n, C, H, W) in [0, 1]; the same for the same seed.

    `odd` says of each image whether it is mirrored in odd epochs or in even ones, where they take turns.
    """
    if images.ndim != 4:
        return images
    generator = torch.Generator().manual_seed(seed)
    if config.randaugment:
        n_operations, magnitude = config.randaugment
        images = randaugment(images, n_operations, magnitude, generator)
    if config.crop_padding:
        mode = "reflect" if config.padding == "reflect" else "constant"
        images = random_crop(F.pad(images, (config.crop_padding,) * 4, mode=mode), images.shape[2:], generator)
    if config.crop:
        images = random_crop(images, (config.crop, config.crop), generator)
    if config.flip:
        by_chance = torch.rand(len(images), generator=generator) < 0.5
        mirrored = by_chance if odd is None else odd == bool(epoch % 2)
        images = torch.where(mirrored.to(images.device)[:, None, None, None], images.flip(3), images)
    if config.cutout:
        images = cutout(images, config.cutout, generator)
    if epoch < config.shrink_epochs and config.shrink < min(images.shape[2:]):
        side = (config.shrink, config.shrink)
        images = F.interpolate(images, size=side, mode="bilinear", antialias=True, align_corners=False)
    return images


def center_crop(images: Tensor, config: Augment) -> Tensor:
    """What `augment` does to the size, without chance: for validation and test."""
    if images.ndim != 4 or not config.crop:
        return images
    top, left = (images.shape[2] - config.crop) // 2, (images.shape[3] - config.crop) // 2
    return images[:, :, top : top + config.crop, left : left + config.crop]


def views(images: Tensor, n: int) -> Iterator[tuple[float, Tensor]]:
    """The images as they are seen when not training, with weights that add up to 1.

    2: each image and its mirror image. 3: each image, and shifted by a pixel along either diagonal, which counts half.
    6: those and their mirror images.
    """
    if images.ndim != 4:
        n = 1
    height, width = images.shape[2:] if n > 1 else (0, 0)
    seen = [(1.0, images)]
    if n in (3, 6):
        wide = F.pad(images, (1,) * 4, mode="reflect")
        seen = [(0.5, images), (0.25, wide[:, :, :height, :width]), (0.25, wide[:, :, 2:, 2:])]
    for weight, one in seen:
        if n in (2, 6):
            yield weight / 2, one
            yield weight / 2, one.flip(3)
        else:
            yield weight, one


def random_crop(images: Tensor, size: tuple[int, ...] | torch.Size, generator: torch.Generator) -> Tensor:
    """A window of `size` (H, W) at a random place of each image."""
    n, _, height, width = images.shape
    top = torch.randint(height - size[0] + 1, (n,), generator=generator)
    left = torch.randint(width - size[1] + 1, (n,), generator=generator)
    rows = (top[:, None] + torch.arange(size[0]))[:, None, :, None].to(images.device)
    columns = (left[:, None] + torch.arange(size[1]))[:, None, None, :].to(images.device)
    each = torch.arange(n, device=images.device)[:, None, None, None]
    channel = torch.arange(images.shape[1], device=images.device)[None, :, None, None]
    return images[each, channel, rows, columns]


def cutout(images: Tensor, side: int, generator: torch.Generator) -> Tensor:
    """A grey square of `side` pixels, its centre anywhere, in each image."""
    n, _, height, width = images.shape
    top = torch.randint(height, (n, 1), generator=generator) - side // 2
    left = torch.randint(width, (n, 1), generator=generator) - side // 2
    rows, columns = torch.arange(height), torch.arange(width)
    inside = ((rows >= top) & (rows < top + side))[:, :, None] & ((columns >= left) & (columns < left + side))[:, None]
    return torch.where(inside[:, None].to(images.device), 0.5, images)
