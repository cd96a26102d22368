"""Ground truth and results that come as a folder of small files, whichever kind they are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from openset.detection.read.class_lists import NAME_FILES, Classes
from openset.detection.read.coco import GroundTruth, from_chunks
from openset.detection.read.comp4 import comp4_files, read_comp4_results
from openset.detection.read.voc import read_voc
from openset.detection.read.yolo import label_folder, read_yolo, read_yolo_results
from openset.errors import OpenSetError


def read_folder(folder: Path) -> GroundTruth:
    """Ground truth from a folder of VOC XML files or a YOLO data set, whichever it is."""
    for place in (folder, folder / "Annotations"):
        files = sorted(place.glob("*.xml"))
        if files:
            return _as_truth(folder, *read_voc(place, files))
    place = label_folder(folder)
    if any(file.name not in NAME_FILES for file in place.glob("*.txt")):
        return _as_truth(folder, *read_yolo(place))
    raise OpenSetError(
        f"{folder} holds neither VOC .xml files (also looked in Annotations/) nor YOLO .txt files (also in labels/)."
    )


def _as_truth(
    folder: Path, images: list[dict[str, Any]], objects: list[dict[str, Any]], classes: Classes
) -> GroundTruth:
    """By the same way as COCO files; images called 000012 get the number 12 as id, as COCO conversions do."""
    numbered = all(image["id"].isdecimal() for image in images)
    if numbered and len({int(image["id"]) for image in images}) == len(images):
        for entry, key in [*((image, "id") for image in images), *((one, "image_id") for one in objects)]:
            entry[key] = int(entry[key])
    categories, numbered_by = classes
    content = {"images": images, "annotations": objects, "categories": categories}
    return replace(from_chunks(content.items(), str(folder)), numbered_by=numbered_by)


def read_results_folder(
    folder: Path, truths: list[GroundTruth], classes: GroundTruth, numbering: Mapping[Any, str] | None = None
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Detections from a folder of VOC's comp4 files or of YOLO text files, and notes on how they were understood."""
    for place in (folder, folder / "Main"):
        if comp4_files(place):
            return read_comp4_results(place, truths, classes)
    return read_yolo_results(folder, truths, classes, numbering)
