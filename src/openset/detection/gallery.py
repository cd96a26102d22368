"""The worst false detections, drawn on the images: what a detector takes unknown objects for, to look at.

Names in annotation files are not trusted: images are read only from inside the folder the user names, and output
files are numbered, with nothing in their names but letters and digits.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openset._io.atomic import replacing
from openset._io.paths import is_folder
from openset._io.pictures import corners, open_picture, score_text
from openset.detection.measure.errors import nearest
from openset.detection.measure.matching import overlaps
from openset.detection.read.coco import Detections, Floats, GroundTruth, Ints
from openset.detection.read.entries import three
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image

_FALSE, _TRUE, _INK = (220, 38, 38), (22, 163, 74), (255, 255, 255)
_LONGEST = 60
"""Letters of a label that are drawn."""


@dataclass(frozen=True)
class Gallery:
    """What was drawn."""

    sheet: Path
    files: tuple[Path, ...]
    n_missing: int
    """Images that are not in the folder, so their detections were passed over."""


def worst_detections(found: Detections, thresholds: Floats | None = None) -> Ints:
    """Rows of wild detections by falling score, the best one of each image; all are false."""
    rows = np.lexsort((np.arange(len(found)), -found.score))
    if thresholds is not None:
        rows = rows[found.score[rows] >= thresholds[found.category[rows]]]
    first = np.unique(found.image[rows], return_index=True)[1]
    return rows[np.sort(first)]


def truths_of(wild: GroundTruth, found: Detections) -> list[str]:
    """What each wild detection lies on: the annotated object with the largest IoU of at least .1, or nothing."""
    pairs = overlaps(wild, found)
    best = nearest(pairs, wild)
    return [wild.class_names[wild.category[pairs.object[pair]]] if pair >= 0 else "" for pair in best]


def draw_gallery(
    wild: GroundTruth,
    found: Detections,
    class_names: tuple[str, ...],
    images: str | Path,
    out: str | Path,
    *,
    n: int = 16,
    thresholds: Floats | None = None,
) -> Gallery:
    """Draw the `n` worst false detections on wild images, one file each and all on one sheet, `gallery.png`."""
    folder, target = Path(images), Path(out)
    if not is_folder(folder):
        raise OpenSetError(f"There is no folder {folder} with images.")
    if n < 1:
        raise OpenSetError(f"gallery: 'n' must be 1 or more, got {n}.")
    rows = worst_detections(found, thresholds)
    if not len(rows):
        raise OpenSetError("There is nothing to draw: no detection on a wild image is accepted.")
    pictures: list[Image] = []
    files: list[Path] = []
    missing: list[str] = []
    for row in rows:
        if len(pictures) == n:
            break
        name = wild.file_names[found.image[row]]
        file = find_inside(folder, name)
        if file is None:
            missing.append(name)
            continue
        picture = _draw(open_picture(file), wild, found, int(row), class_names)
        label = "".join(letter if letter.isalnum() else "-" for letter in class_names[found.category[row]])[:40]
        shown = score_text(found.score[row]).replace("+", "")
        place = target / f"{len(pictures) + 1:03d}-{label}-{shown}.png"
        _save(picture, place)
        pictures.append(picture)
        files.append(place)
    if not pictures:
        raise OpenSetError(f"None of the {len(missing)} images to draw is in {folder}, for example {three(missing)}.")
    sheet = target / "gallery.png"
    _save(_sheet(pictures), sheet)
    return Gallery(sheet, tuple(files), len(missing))


def find_inside(folder: Path, name: str) -> Path | None:
    """The file of that name, only if it really lies in the folder (no "..", no links that lead out)."""
    if not name or "\0" in name:
        return None
    root = folder.resolve()
    for candidate in (folder / name, folder / Path(name).name):
        try:
            file = candidate.resolve()
            if file.is_relative_to(root) and file.is_file():
                return file
        except (OSError, ValueError, RuntimeError):  # too long, no characters of a file name, or a link to itself
            continue
    return None


def _draw(picture: "Image", wild: GroundTruth, found: Detections, row: int, names: tuple[str, ...]) -> "Image":
    """The false detection in red with its claim, the annotated objects of the image in green with their names."""
    from PIL import ImageDraw, ImageFont

    scale = max(1.0, 320 / max(picture.size))
    if scale > 1:
        picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    pen = ImageDraw.Draw(picture)
    size = max(12, round(max(picture.size) / 28))
    font, line = ImageFont.load_default(size), max(2, size // 6)

    def mark(box: Floats, text: str, colour: tuple[int, int, int], *, below: bool) -> None:
        near = corners(box * scale, picture.size, line)
        pen.rectangle(near, outline=colour, width=line)
        wording = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        left, top, right, bottom = pen.textbbox((0, 0), wording, font=font)
        width, height = right - left + 6, bottom - top + 6
        x = min(max(near[0], 0), max(picture.width - width, 0))
        y = min(max(near[3] - height if below else near[1] - height, 0), max(picture.height - height, 0))
        pen.rectangle((x, y, x + width, y + height), fill=colour)
        pen.text((x + 3 - left, y + 3 - top), wording, fill=_INK, font=font)

    for i in np.flatnonzero(wild.image == found.image[row]):
        mark(wild.box[i], wild.class_names[wild.category[i]], _TRUE, below=True)
    mark(found.box[row], f"{names[found.category[row]]} {score_text(found.score[row])}", _FALSE, below=False)
    return picture


def _sheet(pictures: "list[Image]", cell: int = 320, gap: int = 8) -> "Image":
    """All pictures on one page, as square as possible."""
    from PIL import Image

    columns = int(np.ceil(np.sqrt(len(pictures))))
    rows = -(-len(pictures) // columns)
    page = Image.new("RGB", (columns * (cell + gap) + gap, rows * (cell + gap) + gap), (255, 255, 255))
    for i, picture in enumerate(pictures):
        small = picture.copy()
        small.thumbnail((cell, cell))
        x = gap + (i % columns) * (cell + gap) + (cell - small.width) // 2
        y = gap + (i // columns) * (cell + gap) + (cell - small.height) // 2
        page.paste(small, (x, y))
    return page


def _save(picture: "Image", path: Path) -> None:
    with replacing(path) as temporary:
        picture.save(temporary, format="PNG")
