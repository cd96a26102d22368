"""Samples of a protocol's part as tensors, read ahead by threads."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from openset.errors import OpenSetError
from openset.protocols import Part
from openset.train.config import Data

_KEPT = 2**30  # bytes of resized images that are kept in memory


class Samples(Protocol):
    """What is needed of a protocol's part."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """>= 0 a known class, below an open-set sample."""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of one sample; None if they differ."""

    def __len__(self) -> int: ...

    def array(self, positions: ArrayLike | None = None, *, size: int | None = None) -> NDArray[Any]:
        """Samples, uint8 N x H x W x C or float32 N x D."""


class Vectors:
    """Feature vectors in memory as a part of a protocol."""

    def __init__(self, vectors: NDArray[np.float32], labels: NDArray[np.int64]) -> None:
        self.vectors, self.labels = vectors, labels
        self.shape = (vectors.shape[1],)

    def __len__(self) -> int:
        return len(self.labels)

    def array(self, positions: ArrayLike | None = None, *, size: int | None = None) -> NDArray[Any]:
        """Some of the vectors."""
        return self.vectors if positions is None else self.vectors[np.asarray(positions)]


class Feed:
    """The samples `rows` of a part: images as floats (n, C, H, W) in [0, 1], vectors as they are.

    With `crop`, large images that are loaded at random come as windows of that size out of the whole image.
    """

    def __init__(self, part: Samples, config: Data, rows: NDArray[np.int64] | None = None, *, crop: int = 0) -> None:
        self.part, self.config, self.crop = part, config, crop
        self.rows = np.arange(len(part)) if rows is None else rows
        self.labels = np.asarray(part.labels)[self.rows]
        if not config.size and part.shape is None:
            raise OpenSetError("The images differ in size: say which size to bring them to, with data.size=224 or so.")
        self._kept = self._keep()

    def __len__(self) -> int:
        return len(self.rows)

    def load(self, positions: NDArray[np.int64], chance: int | None = None) -> tuple[Tensor, Tensor]:
        """Inputs and labels of some samples; with a seed `chance` as training sees them, else without chance."""
        labels = torch.from_numpy(self.labels[positions].astype(np.int64))
        if self.part.shape is not None and len(self.part.shape) == 1:
            return torch.from_numpy(np.array(self.part.array(self.rows[positions]), dtype=np.float32)), labels
        return _toned(self._images(positions, chance), self.config), labels

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Shape of a sample as the part has it, before it is resized and its colours are averaged."""
        return self.part.shape or (self.config.size, self.config.size, 3)

    def _images(self, positions: NDArray[np.int64], chance: int | None) -> Tensor:
        if self.part.shape is None:  # large images, decoded one by one
            if chance is not None and self.crop:
                return _channels_first(self._windows(positions, chance))
            return _channels_first(self.part.array(self.rows[positions], size=self.config.size))
        if self._kept is not None:
            return self._kept[torch.from_numpy(positions)]
        return _resized(_channels_first(self.part.array(self.rows[positions])), self.config.size)

    def _windows(self, positions: NDArray[np.int64], chance: int) -> NDArray[np.uint8]:
        """Cut while decoding: what the square in the middle leaves out of an image would never be seen otherwise."""
        assert isinstance(self.part, Part)  # nothing else has images of many sizes
        places = np.random.default_rng(chance).random((len(positions), 2))
        return self.part.windows(self.rows[positions], self.config.size, self.crop, places.tolist())

    def _keep(self) -> Tensor | None:
        """All images, resized once, where that changes their size and they fit into memory."""
        shape, size = self.part.shape, self.config.size
        if shape is None or len(shape) == 1 or not size or size == shape[0] == shape[1]:
            return None
        if len(self) * size**2 * shape[2] > _KEPT:
            return None
        places = (self.rows[start : start + 1024] for start in range(0, len(self), 1024))
        return torch.cat([_resized(_channels_first(self.part.array(place)), size) for place in places])

    def batches(
        self, places: Iterable[NDArray[np.int64]], chances: Iterable[int] | None = None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """`load` of each entry, in order, read ahead by threads."""
        ahead: deque[Future[tuple[Tensor, Tensor]]] = deque()
        with ThreadPoolExecutor(self.config.workers) as pool:
            try:
                for positions, chance in zip(places, repeat(None) if chances is None else chances, strict=False):
                    ahead.append(pool.submit(self.load, positions, chance))
                    if len(ahead) > 2 * self.config.workers:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for one in ahead:
                    one.cancel()


def _channels_first(images: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(images)).permute(0, 3, 1, 2)


def _toned(images: Tensor, config: Data) -> Tensor:
    """Bytes as floats in [0, 1]; grey repeated or colours averaged."""
    found, wanted = images.shape[1], config.channels or images.shape[1]
    scaled = images.float() / 255
    if found == 1 and wanted == 3:
        return scaled.expand(-1, 3, -1, -1)
    return scaled.mean(dim=1, keepdim=True) if found == 3 and wanted == 1 else scaled


def _resized(images: Tensor, size: int) -> Tensor:
    if not size or images.shape[2:] == (size, size):
        return images
    scaled = F.interpolate(images.float(), size=(size, size), mode="bilinear", antialias=True, align_corners=False)
    return scaled.round().clamp(0, 255).to(torch.uint8)


def in_order(n: int, size: int) -> Sequence[NDArray[np.int64]]:
    """All samples, in batches."""
    return [np.arange(start, min(n, start + size)) for start in range(0, n, size)]
