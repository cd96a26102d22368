"""Decoding images and bringing them to one shape. Pictures are data of strangers: a bad one is named, never fatal."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openset._io.pictures import BadImageError, decode
from openset.errors import needing

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
Shape = tuple[int, int, int]
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})


class Encoded(Protocol):
    """Images in their compressed form, decoded one at a time."""

    def __len__(self) -> int: ...

    def load(self, row: int) -> "Image":
        """The decoded image; a `BadImageError` that names it if that fails."""

    def place(self, row: int) -> str:
        """How to name the image in a message."""

    def content(self, row: int) -> bytes | None:
        """The image as it is stored; None if it cannot be read."""


@dataclass(frozen=True)
class ImageFiles:
    """Image files below one folder."""

    root: Path
    names: tuple[str, ...]
    """Paths relative to `root`, with forward slashes."""
    upright: bool = True
    """Turn photographs as the camera noted; off for published data, whose users do not."""

    def __len__(self) -> int:
        return len(self.names)

    def load(self, row: int) -> "Image":
        """Decode one file."""
        return decode(self.root / self.names[row], self.place(row), upright=self.upright)

    def content(self, row: int) -> bytes | None:
        """The bytes of the file."""
        try:
            return (self.root / self.names[row]).read_bytes()
        except OSError:
            return None

    def place(self, row: int) -> str:
        """The path of the file."""
        return str(self.root / self.names[row])


@dataclass(frozen=True)
class ImageCells:
    """Image bytes in the rows of a table: a polars series or a column of a Hugging Face data set."""

    cells: Any
    table: str
    transposed: bool = False
    rows: NDArray[np.int64] | None = None
    """The rows to use; None means all."""

    def __len__(self) -> int:
        return len(self.cells) if self.rows is None else len(self.rows)

    def load(self, row: int) -> "Image":
        """Decode the bytes of one row; a path beside them is ignored, since it could lead anywhere."""
        content = self.content(row)
        if content is None:
            raise BadImageError(f"{self.place(row)} holds no image bytes")
        image = decode(io.BytesIO(content), self.place(row))
        return _transposed(image) if self.transposed else image

    def content(self, row: int) -> bytes | None:
        """The bytes of one row."""
        cell = self.cells[self._cell(row)]
        found = cell.get("bytes") if isinstance(cell, dict) else cell
        return found if isinstance(found, bytes) else None

    def place(self, row: int) -> str:
        """The table and the row."""
        return f"{self.table}, row {self._cell(row)}"

    def _cell(self, row: int) -> int:
        return row if self.rows is None else int(self.rows[row])


def _transposed(image: "Image") -> "Image":
    from PIL.Image import Transpose

    return image.transpose(Transpose.TRANSPOSE)


def fitted(image: "Image", shape: Shape) -> Pixels:
    """The image as an array of `shape`: resized to cover it, its middle cut out, grey repeated or colours made grey."""
    from PIL import ImageOps

    height, width, channels = shape
    toned = image.convert("L" if channels == 1 else "RGB")
    if toned.size != (width, height):
        toned = ImageOps.fit(toned, (width, height))
    return np.asarray(toned).reshape(shape)


def window(image: "Image", size: int, side: int, place: Sequence[float]) -> Pixels:
    """A square of `side` pixels, in colour, out of the whole image with its smaller side brought to `size`.

    `place`, from the top and from the left, is in [0, 1): 0 is one end and almost 1 the other.
    """
    scale = size / min(image.size)
    across, down = (max(size, round(length * scale)) for length in image.size)
    left, top = int(place[1] * (across - side + 1)), int(place[0] * (down - side + 1))
    # Only what is seen is resized: the whole of a long and narrow image might not fit into memory.
    to_x, to_y = image.width / across, image.height / down
    right, bottom = min((left + side) * to_x, image.width), min((top + side) * to_y, image.height)
    toned = image.convert("RGB")
    return np.asarray(toned.resize((side, side), box=(left * to_x, top * to_y, right, bottom)))


def refitted(pixels: Pixels, shape: Shape) -> Pixels:
    """A batch N x H x W x C brought to another shape, image by image."""
    if pixels.shape[1:] == shape:
        return pixels
    with needing("Resizing images"):
        from PIL import Image
    squeezed = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    if not len(squeezed):
        return np.empty((0, *shape), dtype=np.uint8)
    return np.stack([fitted(Image.fromarray(one), shape) for one in squeezed])
