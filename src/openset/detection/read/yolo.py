"""Ground truth and results as one text file per image, as the YOLO programs have them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openset._io.pictures import picture_size
from openset._io.text_files import text_lines
from openset.detection.read.class_lists import NAME_FILES, Classes, by_line, names_file, names_in
from openset.detection.read.coco import GroundTruth, Id
from openset.detection.read.entries import LARGEST
from openset.detection.read.names import Names, counted_from_zero
from openset.errors import OpenSetError

_IMAGE_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}
Table = tuple[list[dict[str, Any]], list[dict[str, Any]], Classes]


def label_folder(folder: Path) -> Path:
    """Where the text files are: in labels/ if there is one, for then those beside it are lists or notes."""
    return folder / "labels" if (folder / "labels").is_dir() else folder


def read_yolo(labels: Path) -> Table:
    """Images, objects and classes of a folder of labels, with the images beside it."""
    list_of_names = names_file((labels, *list(labels.parents)[:2]))
    if list_of_names is None:
        raise OpenSetError(f"{labels}: no class names; put them into classes.txt beside the labels, one per line.")
    names = names_in(list_of_names)
    files = _image_files(labels)
    _check_images(labels, files)
    images, objects = [], []
    for file in files:
        width, height = picture_size(file)
        images.append({"id": file.stem, "file_name": file.name, "width": width, "height": height})
        text = labels / f"{file.stem}.txt"
        if text.exists():
            for row, numbers in _rows(text, columns=5):
                if not 0 <= numbers[0] < len(names):
                    raise OpenSetError(
                        f"{text}, line {row}: class {numbers[0]:g}, but there are {len(names)} class names."
                    )
                box = _from_centre(numbers[1:5], width, height)
                objects.append({"image_id": file.stem, "category_id": int(numbers[0]), "bbox": box})
    return images, objects, by_line(names, list_of_names)


def read_yolo_results(
    folder: Path, truths: list[GroundTruth], classes: GroundTruth, numbering: Mapping[Any, str] | None = None
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Detections from a folder of `class x_centre y_centre width height score` files, one per image, and notes.

    `numbering` are the names of the detector's classes by their numbers; else a file among the results may give them.
    """
    place = label_folder(folder)
    sizes: dict[str, tuple[float, float]] = {}
    for truth in truths:
        for name, size in zip(truth.file_names, truth.sizes if truth.sizes is not None else (), strict=False):
            sizes[Path(name).stem] = (float(size[0]), float(size[1]))
    ids, notes = _ids_by_number(place, folder, classes, numbering)
    entries = []
    for file in sorted(place.glob("*.txt")):
        if file.name in NAME_FILES:
            continue
        width, height = sizes.get(file.stem, (1.0, 1.0))
        if not (width > 0 and height > 0):
            raise OpenSetError(f"{file}: the ground truth does not give the size of this image, which YOLO boxes need.")
        for _, numbers in _rows(file, columns=6):
            number = int(numbers[0])
            if number not in ids:
                raise OpenSetError(
                    f"{file}: class {number}, but {_listed(folder, place, classes, numbering)} {len(ids)} classes. "
                    "Leaving it out would shift the others: give the detector's class names with --classes FILE."
                )
            entries.append(
                {
                    "image_id": file.stem,
                    "category_id": ids[number],
                    "bbox": _from_centre(numbers[1:5], width, height),
                    "score": numbers[5],
                }
            )
    return entries, notes


def _listed(folder: Path, place: Path, classes: GroundTruth, numbering: Mapping[Any, str] | None) -> str:
    """What told the classes, for a sentence."""
    if numbering is not None:
        return "--classes names"
    file = names_file((place, folder))
    return f"{classes.source} has" if file is None else f"{file} names"


def _ids_by_number(
    place: Path, folder: Path, classes: GroundTruth, numbering: Mapping[Any, str] | None
) -> tuple[dict[int, Id], tuple[str, ...]]:
    """The class id in the ground truth for each class number of YOLO results, and a note if no file gives names.

    A class that the ground truth does not have keeps its name, which is then a stranger like any other.
    """
    file = names_file((place, folder))
    if numbering is None and file is None:
        if not classes.has_numbers:
            raise OpenSetError(
                f"{folder} gives classes by number, but those of {classes.source} have no numbers: give the detector's "
                "class names with --classes FILE, one per line."
            )
        wording = counted_from_zero(classes.class_names)
        return dict(enumerate(classes.class_ids)), (
            f"{folder} has no classes.txt, so its classes are those of {classes.source}: {wording}",
        )
    if numbering is None:
        assert file is not None
        numbering = dict(enumerate(names_in(file)))
    known = Names(classes.class_names, classes.source)
    found = {number: known.find(name) for number, name in numbering.items()}
    return {
        number: numbering[number] if place is None else classes.class_ids[place] for number, place in found.items()
    }, ()


def _rows(file: Path, columns: int) -> Iterable[tuple[int, list[float]]]:
    kind = "class x y width height" + (" score" if columns == 6 else "")
    for row, line in enumerate(text_lines(file, may_be_empty=True), 1):
        if not line.strip():
            continue
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            numbers = []
        if len(numbers) != columns or not _possible(numbers) or numbers[0] != int(numbers[0]):
            raise OpenSetError(f"{file}, line {row}: expected '{kind}' ({columns} numbers), got {line.strip()!r:.60}.")
        yield row, numbers


def _possible(numbers: list[float]) -> bool:
    """Whether these can be a class, a box and perhaps a score."""
    return all(map(math.isfinite, numbers)) and max(map(abs, numbers[:5])) <= LARGEST


def _from_centre(box: list[float], width: float, height: float) -> list[float]:
    x, y, w, h = box
    return [(x - w / 2) * width, (y - h / 2) * height, w * width, h * height]


def _image_files(labels: Path) -> list[Path]:
    """The images beside the labels: .../labels/val belongs to .../images/val."""
    parts = list(labels.parts)
    if "labels" in parts:
        parts[len(parts) - 1 - parts[::-1].index("labels")] = "images"
    for place in (Path(*parts), labels):
        files = sorted(file for file in place.glob("*") if file.suffix.lower() in _IMAGE_ENDINGS)
        if files:
            return files
    raise OpenSetError(f"{labels}: YOLO boxes are fractions of image sizes, but there are no images in {Path(*parts)}.")


def _check_images(labels: Path, images: Sequence[Path]) -> None:
    """Objects must not vanish with a missing image; other texts, such as a list of files, may lie beside the labels."""
    stems = {file.stem for file in images}
    lost = [file for file in sorted(labels.glob("*.txt")) if file.stem not in stems and _holds_labels(file)]
    if lost:
        raise OpenSetError(
            f"{len(lost)} label files in {labels} have no image in {images[0].parent}, {lost[0].name} for example: "
            "add the images or remove the labels."
        )


def _holds_labels(file: Path) -> bool:
    try:
        return any(True for _ in _rows(file, columns=5))
    except OpenSetError:
        return False
