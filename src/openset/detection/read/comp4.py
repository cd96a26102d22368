"""Results as the Pascal VOC kit takes them: one file per class, `comp4_det_test_cat.txt`.

Each line is `image score xmin ymin xmax ymax`, pixels counted from 1 and both ends inside the box.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openset._io.text_files import text_lines
from openset.detection.read.coco import GroundTruth
from openset.detection.read.names import Names
from openset.errors import OpenSetError

_NAME = re.compile(r"comp\d+_det_[^_]+_(?P<class>.+)\.txt")


def comp4_files(folder: Path) -> dict[str, Path]:
    """Files of results by the class they are of; none if the folder holds something else."""
    found = ((_NAME.fullmatch(file.name), file) for file in sorted(folder.glob("comp*_det_*.txt")))
    return {name["class"]: file for name, file in found if name is not None}


def read_comp4_results(
    folder: Path, truths: list[GroundTruth], classes: GroundTruth
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Detections from the files of a folder, as COCO results, and a note on how their boxes were understood."""
    known = Names(classes.class_names, classes.source)
    ids = {one for truth in truths for one in truth.image_ids}
    names = {Path(name).stem for truth in truths for name in truth.file_names}
    entries = []
    for name, file in comp4_files(folder).items():
        place = known.find(name)
        category = name if place is None else classes.class_ids[place]
        for image, score, (left, top, right, bottom) in _rows(file):
            called: str | int = image
            if image not in ids and image not in names and image.isdecimal() and int(image) in ids:
                called = int(image)  # 000012 is the image 12 of a ground truth without file names
            box = [left - 1, top - 1, right - left + 1, bottom - top + 1]
            entries.append({"image_id": called, "category_id": category, "bbox": box, "score": score})
    note = f"boxes of {folder} were read as the VOC kit has them: pixels counted from 1, both ends inside"
    return entries, (note,)


def _rows(file: Path) -> Iterator[tuple[str, float, list[float]]]:
    for row, line in enumerate(text_lines(file, may_be_empty=True), 1):
        words = line.split()
        if not words:
            continue
        try:
            score, *box = (float(word) for word in words[1:])
        except ValueError:
            box = []
        if len(box) != 4 or not all(map(math.isfinite, (score, *box))):
            raise OpenSetError(
                f"{file}, line {row}: expected 'image score xmin ymin xmax ymax', got {line.strip()!r:.60}."
            )
        if box[2] < box[0] - 1 or box[3] < box[1] - 1:
            raise OpenSetError(f"{file}, line {row}: xmax or ymax is below xmin or ymin in {line.strip()!r:.60}.")
        yield words[0], score, box
