"""Images of files that may be broken or hostile: a bad one is named, never fatal. And boxes drawn on them."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openset.errors import OpenSetError, needing

if TYPE_CHECKING:
    from PIL.Image import Image

_WHITE_16 = 65535


class BadImageError(OpenSetError):
    """One image that cannot be decoded."""


def decode(source: Path | io.BytesIO, place: str, *, upright: bool = False) -> "Image":
    """An image in mode L (grey) or RGB, fully read."""
    with needing("Reading images"):
        from PIL import Image
    try:
        with Image.open(_regular(source)) as opened:
            opened.load()
            shallow = _eight_bits(_turned(opened) if upright else opened)
            return shallow.convert("L" if shallow.mode in {"1", "L"} else "RGB")
    except FileNotFoundError as error:
        raise BadImageError(f"{place} is missing") from error
    except Exception as error:  # a broken file can fail in many ways, and no list of them is complete
        raise BadImageError(f"{place} cannot be decoded ({_first_words(error)})") from error


def _regular(source: Path | io.BytesIO) -> Path | io.BytesIO:
    """Reading a pipe or a device may never end."""
    if isinstance(source, Path) and source.exists() and not source.is_file():
        raise ValueError("not a file")
    return source


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


def _first_words(error: BaseException) -> str:
    if "cannot identify" in str(error):
        return "not an image"
    return str(error).splitlines()[0][:80].rstrip(".") if str(error) else type(error).__name__


def open_picture(file: Path) -> "Image":
    """The picture of a file in RGB, its pixels where annotations have them: not turned as the camera noted."""
    try:
        return decode(file, str(file)).convert("RGB")
    except BadImageError as error:
        raise OpenSetError(f"{error}.") from error


def picture_size(file: Path) -> tuple[int, int]:
    """Width and height, by the header alone."""
    with needing("Reading images"):
        from PIL import Image
    try:
        with Image.open(_regular(file)) as picture:
            return picture.size
    except Exception as error:  # as in `decode`
        raise OpenSetError(f"{file} cannot be decoded ({_first_words(error)}).") from error


def corners(box: Iterable[float], size: tuple[int, int], beyond: int) -> tuple[float, float, float, float]:
    """Corners of a box, its sides ended just outside the picture: Pillow draws every pixel of a line, seen or not."""
    x, y, width, height = map(float, box)
    left, right = (max(min(at, size[0] + beyond), -beyond) for at in (x, x + width))
    top, bottom = (max(min(at, size[1] + beyond), -beyond) for at in (y, y + height))
    return left, top, right, bottom


def score_text(score: float) -> str:
    """Two decimals, but never hundreds of digits."""
    return f"{score:.2f}" if score < 1000 else f"{score:.3g}"
