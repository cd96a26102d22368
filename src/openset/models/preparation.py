"""How a photo becomes the input of a network, with Pillow and NumPy alone: the same with and without torch."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.registry import Registry
from openset.data.images import fitted
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.float32]
_FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")


@dataclass(frozen=True)
class CenterCrop:
    """Shorter side to `resize`, the middle `crop` pixels, then (pixel / 255 - mean) / std, channels first.

    `squash` brings the whole photo to `resize` x `resize` pixels instead, whatever its shape.
    """

    resize: int
    crop: int
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)
    filter: str = "bilinear"
    squash: bool = False
    channels: int = 3

    def __post_init__(self) -> None:
        if self.filter not in _FILTERS or self.channels not in (1, 3) or not 0 < self.crop <= 2**15:
            raise OpenSetError(f"No image can be prepared like this: {self}.")
        if not 0 < self.resize <= 2**15 or not len(self.mean) == len(self.std) == self.channels or 0 in self.std:
            raise OpenSetError(f"No image can be prepared like this: {self}.")

    def __call__(self, picture: "Image") -> Pixels:
        """The input (C, crop, crop) of a picture."""
        from PIL.Image import Resampling

        width, height = picture.size
        short = min(width, height)
        size = (self.resize, self.resize)
        if not self.squash:  # the longer side is cut off, not rounded, as torchvision does it
            size = (int(self.resize * width / short), int(self.resize * height / short))
        toned = picture.convert("L" if self.channels == 1 else "RGB").resize(size, Resampling[self.filter.upper()])
        left, top = (round((side - self.crop) / 2.0) for side in size)
        pixels = np.asarray(toned.crop((left, top, left + self.crop, top + self.crop)), dtype=np.float32)
        pixels = pixels.reshape(self.crop, self.crop, self.channels)
        mean, std = (np.array(one, dtype=np.float32) for one in (self.mean, self.std))
        made: Pixels = (pixels / np.float32(255) - mean) / std
        return np.ascontiguousarray(made.transpose(2, 0, 1))

    def changed(self, size: int | None, mean: tuple[float, ...] | None, std: tuple[float, ...] | None) -> "CenterCrop":
        """The same with what the user says: the size keeps the fraction of the photo that is cut away."""
        new: dict[str, Any] = {}
        if size is not None:
            new |= {"resize": max(size, round(self.resize * size / self.crop)), "crop": size}
        for name, values in (("mean", mean), ("std", std)):
            if values is not None:
                if len(values) not in (1, self.channels):
                    raise OpenSetError(f"--{name} takes one number or {self.channels}, got {len(values)}.")
                new[name] = tuple(values) * (self.channels // len(values))
        return replace(self, **new)


@dataclass(frozen=True)
class AsTrained:
    """What a training run of openset does: brought to the stored shape, then to `size`, its middle cut, in [0, 1]."""

    stored: tuple[int, int, int]
    """Height, width and channels of the training images."""
    size: int = 0
    channels: int = 0
    crop: int = 0

    def __call__(self, picture: "Image") -> Pixels:
        """The input (C, H, W) of a picture."""
        pixels = fitted(picture, self.stored).transpose(2, 0, 1).astype(np.float32)
        if self.size and pixels.shape[1:] != (self.size, self.size):
            pixels = np.clip(np.round(_resized(pixels, self.size)), 0, 255)
        scaled = pixels / np.float32(255)
        found, wanted = len(scaled), self.channels or len(scaled)
        if found == 1 and wanted == 3:
            scaled = np.repeat(scaled, 3, axis=0)
        elif found == 3 and wanted == 1:
            scaled = scaled.mean(axis=0, keepdims=True, dtype=np.float32)
        if self.crop:
            top, left = ((side - self.crop) // 2 for side in scaled.shape[1:])
            scaled = scaled[:, top : top + self.crop, left : left + self.crop]
        return np.ascontiguousarray(scaled, dtype=np.float32)


def _resized(pixels: Pixels, size: int) -> Pixels:
    """Bilinear with antialiasing, in the order and precision of torch's interpolate.

    Where the exact value lies between two levels of grey, the last bit decides which of them it becomes.
    """
    wide = _along(pixels, _weights(pixels.shape[2], size))
    return _along(wide.transpose(0, 2, 1), _weights(pixels.shape[1], size)).transpose(0, 2, 1)


def _along(pixels: Pixels, weights: list[tuple[int, Pixels]]) -> Pixels:
    """The last axis resized: each product is added before anything is rounded to single precision."""
    made = np.empty((*pixels.shape[:-1], len(weights)), dtype=np.float32)
    for place, (first, weight) in enumerate(weights):
        total = pixels[..., first] * weight[0]
        for step in range(1, len(weight)):
            product = pixels[..., first + step].astype(np.float64) * float(weight[step])
            total = (product + total).astype(np.float32)
        made[..., place] = total
    return made


def _weights(side: int, size: int) -> list[tuple[int, Pixels]]:
    """For each new pixel the first old one that counts, and how much it and the next ones do: a triangle."""
    one, half = np.float32(1), np.float32(0.5)
    scale = np.float32(side) / np.float32(size)
    reach = max(scale, one)
    found = []
    for place in range(size):
        centre = scale * (np.float32(place) + half)
        first = max(int(centre - reach + half), 0)
        old = np.arange(first, min(int(centre + reach + half), side), dtype=np.float32)
        weight = np.maximum(one - np.abs((old - centre + half) * (one / reach)), np.float32(0))
        total = np.float32(0)
        for share in weight:
            total += share
        found.append((first, weight / total))
    return found


Preparation = CenterCrop | AsTrained
PREPARATIONS: Registry[type[Preparation]] = Registry("preparation of images")
PREPARATIONS.add("center_crop", CenterCrop)
PREPARATIONS.add("as_trained", AsTrained)


def as_plain(preparation: Preparation) -> dict[str, Any]:
    """As files hold it."""
    kind = next(name for name, one in PREPARATIONS.items() if isinstance(preparation, one))
    fields = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(preparation).items()}
    return {"kind": kind, **fields}


def from_plain(content: Any, where: str) -> Preparation:
    """The way back; `where` it stood is said in errors."""
    try:
        options: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in content.items() if key != "kind"
        }
        made = PREPARATIONS[content["kind"]](**options)
        made(_blank())
    except OpenSetError as error:
        raise OpenSetError(f"{where}: {error}") from error
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        raise OpenSetError(f"{where} does not tell how images are to be prepared ({error}).") from error
    return made


def _blank() -> "Image":
    from PIL import Image

    return Image.new("RGB", (4, 4))


def differences(own: CenterCrop, used: CenterCrop, name: str) -> list[str]:
    """What is said where images are prepared otherwise than the model's own description asks for."""
    before, now = asdict(own), asdict(used)
    changed = [f"{key} {now[key]} in place of {before[key]}" for key in now if now[key] != before[key]]
    return [f"Images are prepared otherwise than {name} says itself: {', '.join(changed)}."] if changed else []
