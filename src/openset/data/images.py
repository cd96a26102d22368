"""Decoding images and bringing them to one shape. Pictures are data of strangers: a bad one is named, never fatal."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
Shape = tuple[int, int, int]
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})

_WHITE_16 = 65535


class BadImageError(OpenSetError):
    """One image that cannot be decoded."""


class Encoded(Protocol):
    """Images in their compressed form, decoded one at a time."""

    def __len__(self) -> int: ...

    def load(self, row: int) -> "Image":
        """The decoded image; a `BadImageError` that names it if that fails."""

    def place(self, row: int) -> str:
        """How to name the image in a message."""


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
        cell = self.cells[self._cell(row)]
        content = cell.get("bytes") if isinstance(cell, dict) else cell
        if not isinstance(content, bytes):
            raise BadImageError(f"{self.place(row)} holds no image bytes")
        image = decode(io.BytesIO(content), self.place(row))
        return _transposed(image) if self.transposed else image

    def place(self, row: int) -> str:
        """The table and the row."""
        return f"{self.table}, row {self._cell(row)}"

    def _cell(self, row: int) -> int:
        return row if self.rows is None else int(self.rows[row])


def decode(source: Path | io.BytesIO, place: str, *, upright: bool = False) -> "Image":
    """An image in mode L (grey) or RGB, fully read."""
    from PIL import Image

    try:
        with Image.open(source) as opened:
            opened.load()
            shallow = _eight_bits(_turned(opened) if upright else opened)
            return shallow.convert("L" if shallow.mode in {"1", "L"} else "RGB")
    except FileNotFoundError as error:
        raise BadImageError(f"{place} is missing") from error
    except Exception as error:  # a broken file can fail in many ways, and no list of them is complete
        raise BadImageError(f"{place} cannot be decoded ({_first_words(error)})") from error


_ORIENTATION = 0x0112
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


def _turned(image: "Image") -> "Image":
    """Upright, as the camera noted; where the notes cannot be read, the picture as it is."""
    from PIL.Image import Transpose

    try:
        noted = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # broken notes do not make a bad picture
        return image
    return image if noted is None else image.transpose(Transpose[noted])


def _eight_bits(image: "Image") -> "Image":
    """Grey values of 16 bits scaled down; Pillow would cut them off at 255, so that nearly all are white."""
    from PIL import Image

    if image.mode == "F":
        raise ValueError("its pixels are fractions: save it with 8 or 16 bits")
    if image.mode != "I" and not image.mode.startswith("I;16"):
        return image
    values = np.asarray(image).astype(np.float64)
    if values.min() < 0 or values.max() > _WHITE_16:
        raise ValueError("its pixels have more than 16 bits: save it with 8 or 16")
    return Image.fromarray(np.round(values * (255 / _WHITE_16)).astype(np.uint8))


def _transposed(image: "Image") -> "Image":
    from PIL.Image import Transpose

    return image.transpose(Transpose.TRANSPOSE)


def _first_words(error: BaseException) -> str:
    if "cannot identify" in str(error):
        return "not an image"
    return str(error).splitlines()[0][:80].rstrip(".") if str(error) else type(error).__name__


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
    from PIL import Image

    if pixels.shape[1:] == shape:
        return pixels
    squeezed = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    if not len(squeezed):
        return np.empty((0, *shape), dtype=np.uint8)
    return np.stack([fitted(Image.fromarray(one), shape) for one in squeezed])
