"""What opening data returns: one part of a data set, whatever it was stored as."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._io.pictures import BadImageError
from openset.data.images import Encoded, Pixels, Shape, fitted, refitted
from openset.errors import OpenSetError, needing

if TYPE_CHECKING:
    from PIL.Image import Image

Kind = Literal["images", "features", "encoded"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples with class ids. Exactly one of `images`, `features` and `encoded` is there; see `kind`."""

    name: str
    split: str
    labels: NDArray[np.int64]
    """Class id of each sample, its position in `class_names`; lists may also hold -1 (negative) and -2 (unknown)."""
    class_names: tuple[str, ...]
    ids: NDArray[np.str_]
    """One name per sample, unique within the data set."""
    fingerprint: str
    """Changes when the samples or their labels change."""
    images: Pixels | None = None
    """Small images, N x H x W x C, memory-mapped from disk."""
    features: NDArray[np.float32] | None = None
    """Feature vectors, N x D."""
    encoded: Encoded | None = None
    """Large images, decoded when asked for."""
    titles: dict[str, str] = field(default_factory=dict)
    """Readable words for classes whose name is a code."""
    notes: tuple[str, ...] = ()
    """What the user should know: files left out, images skipped."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def kind(self) -> Kind:
        """How the samples are stored."""
        if self.features is not None:
            return "features"
        return "images" if self.images is not None else "encoded"

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of one sample; None for large images, whose sizes differ."""
        stored: Any = self.features if self.images is None else self.images
        return None if stored is None else tuple(stored.shape[1:])

    def array(self, rows: ArrayLike, shape: Shape | None = None) -> NDArray[Any]:
        """Samples as an array: uint8 N x H x W x C in `shape` (needed for large images), or float32 N x D."""
        chosen = np.asarray(rows, dtype=np.int64)
        if self.features is not None:
            return self.features[chosen]
        if self.images is not None:
            return refitted(self.images[chosen], shape or self.images.shape[1:])
        if shape is None:
            raise OpenSetError(f"The images of {self.name} differ in size: say which size to bring them to.")
        if not len(chosen):
            return np.empty((0, *shape), dtype=np.uint8)
        return np.stack([fitted(self.picture(int(row)), shape) for row in chosen])

    def picture(self, row: int) -> "Image":
        """One image as a PIL image, as large as it is."""
        if self.images is not None:
            with needing("An image to look at"):
                from PIL import Image

            pixels = self.images[row]
            return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
        if self.encoded is None:
            raise OpenSetError(f"{self.name} holds feature vectors, not images.")
        try:
            return self.encoded.load(row)
        except BadImageError as error:
            raise OpenSetError(
                f"{error}: replace the image, or leave it out with on_corrupt='skip' (--skip-corrupt)."
            ) from error


def row_ids(name: str, split: str, rows: NDArray[np.int64]) -> NDArray[np.str_]:
    """Names for samples that have only a row number."""
    return np.array([f"{name}/{split}/{row}" for row in rows.tolist()], dtype=np.str_)


def skipped_note(skipped: Sequence[str], kept: int) -> tuple[str, ...]:
    """What to report about images that were left out on request."""
    if not skipped:
        return ()
    named = "; ".join(skipped[:3]) + ("; ..." if len(skipped) > 3 else "")
    return (f"{len(skipped)} of {kept + len(skipped)} images were left out: {named}.",)
