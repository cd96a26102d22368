"""Pictures and what is drawn on them, of files that may be broken or hostile."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


def open_picture(file: Path) -> "Picture":
    """The picture in RGB; a file that would unpack to an absurd size is refused."""
    try:
        from PIL import Image
    except ImportError as error:
        raise OpenSetError("Drawing and reading pictures needs Pillow: pip install pillow.") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file) as picture:
                return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise OpenSetError(f"{file} is not a readable image, or it is far too large.") from error


def corners(box: Iterable[float], size: tuple[int, int], beyond: int) -> tuple[float, float, float, float]:
    """Corners of a box, its sides ended just outside the picture: Pillow draws every pixel of a line, seen or not."""
    x, y, width, height = map(float, box)
    left, right = (max(min(at, size[0] + beyond), -beyond) for at in (x, x + width))
    top, bottom = (max(min(at, size[1] + beyond), -beyond) for at in (y, y + height))
    return left, top, right, bottom


def score_text(score: float) -> str:
    """Two decimals, but never hundreds of digits."""
    return f"{score:.2f}" if score < 1000 else f"{score:.3g}"
