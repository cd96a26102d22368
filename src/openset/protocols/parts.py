"""Train, validation and test: index views on the data, never copies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core.checks import NEGATIVE, UNKNOWN
from openset.data import Dataset
from openset.data.images import window
from openset.errors import OpenSetError


@dataclass(frozen=True, eq=False)
class Part:
    """Samples with the labels of the protocol; `part[i]` and `part.array(...)` give pixels or feature vectors."""

    labels: NDArray[np.int64]
    """>= 0 a known class, its position in the protocol's `class_names`; -1 negative; -2 unknown."""
    ids: NDArray[np.str_]
    """One unique name per sample."""
    open_classes: NDArray[np.str_]
    """Original class of each open-set sample; "" for knowns."""
    groups: NDArray[np.str_] | None
    """Group of each open-set sample ("" for knowns); None if the protocol has no groups."""
    sources: tuple[Dataset, ...]
    source: NDArray[np.int64]
    """Which of `sources` a sample comes from, and below, which row of it."""
    rows: NDArray[np.int64]
    shape: tuple[int, ...] | None
    """Shape of one sample; None if the images differ in size, then a size must be given to read them."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, position: int) -> NDArray[Any]:
        """One sample: uint8 H x W x C, or float32 D."""
        one: NDArray[Any] = self.array([range(len(self))[position]])[0]
        return one

    def array(self, positions: ArrayLike | None = None, *, size: int | None = None) -> NDArray[Any]:
        """Samples as uint8 N x H x W x C or float32 N x D, in the order asked for; all if `positions` is None.

        `size` brings images to `size` x `size` pixels (the middle is kept); it is needed where sizes differ.
        """
        chosen = np.arange(len(self)) if positions is None else np.asarray(positions, dtype=np.int64)
        shape = self.image_shape(size)
        pieces = []
        places = []
        for number, data in enumerate(self.sources):
            here = np.flatnonzero(self.source[chosen] == number)
            if len(here) == len(chosen):
                return data.array(self.rows[chosen], shape)
            if len(here):
                pieces.append(data.array(self.rows[chosen[here]], shape))
                places.append(here)
        if not pieces:
            return self.sources[0].array([], shape)
        joined = np.concatenate(pieces)
        out = np.empty_like(joined)
        out[np.concatenate(places)] = joined
        return out

    def windows(
        self, positions: NDArray[np.int64], size: int, side: int, places: Sequence[Sequence[float]]
    ) -> NDArray[np.uint8]:
        """Squares of `side` pixels, each cut at its place out of an image with its smaller side brought to `size`."""
        pictures = (self.sources[self.source[one]].picture(int(self.rows[one])) for one in positions)
        return np.stack([window(one, size, side, place) for one, place in zip(pictures, places, strict=True)])

    def image_shape(self, size: int | None = None) -> tuple[int, int, int] | None:
        """H x W x C of the images that `array` returns; None for feature vectors."""
        if self.sources[0].kind == "features":
            return None
        if size is not None:
            return (size, size, self.shape[2] if self.shape else 3)
        if self.shape is None:
            name = next((data.name for data in self.sources if data.shape is None), self.sources[0].name)
            raise OpenSetError(f"The images of {name} differ in size: say which size to bring them to.")
        return (self.shape[0], self.shape[1], self.shape[2])

    def loader_dataset(self, transform: Callable[[Any], Any] | None = None, *, size: int | None = None) -> Any:
        """A torch data set of (image, label, position), decoded in the DataLoader's workers.

        `transform` gets a PIL image; without one, images are uint8 tensors C x H x W of `size` x `size` pixels.
        """
        from openset.data.loading import torch_dataset

        shape = None if transform is not None else self.image_shape(size)
        return torch_dataset(self.sources, self.source, self.rows, self.labels, transform=transform, shape=shape)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of known, negative and unknown samples."""
        known, negative, unknown = self.labels >= 0, self.labels == NEGATIVE, self.labels == UNKNOWN
        return int(known.sum()), int(negative.sum()), int(unknown.sum())


@dataclass(frozen=True, eq=False)
class Protocol:
    """Which classes are known, negative and unknown, with the data to train, validate and test on."""

    name: str
    title: str
    split: int
    class_names: tuple[str, ...]
    """The known classes, in label order."""
    negative_classes: tuple[str, ...]
    unknown_classes: tuple[str, ...]
    fingerprint: str
    """Changes with the class lists, the split, the data and the division into parts."""
    train: Part
    val: Part
    test: Part
    notes: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """Readable words for classes whose name is a code, such as those of ImageNet."""

    @property
    def parts(self) -> dict[str, Part]:
        """The three parts by name."""
        return {"train": self.train, "val": self.val, "test": self.test}
