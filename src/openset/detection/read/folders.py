"""Ground truth and results that come as one small file per image: Pascal VOC XML and YOLO text."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree  # the parser below refuses what makes XML dangerous

from openset._io.json_files import read_json
from openset._io.paths import existing, reason
from openset._io.pictures import picture_size
from openset._io.yaml_files import read_yaml
from openset.detection.read.coco import GroundTruth, Id, from_chunks
from openset.detection.read.entries import LARGEST, boxes, column, flags, is_id, lengths, texts
from openset.detection.read.names import Names, counted_from_zero
from openset.errors import OpenSetError

_IMAGE_ENDINGS = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}
_NAME_FILES = ("classes.txt", "obj.names", "classes.json", "data.yaml", "data.yml", "dataset.yaml")


def read_folder(folder: Path) -> GroundTruth:
    """Ground truth from a folder of VOC XML files or a YOLO data set, whichever it is."""
    for place in (folder, folder / "Annotations"):
        files = sorted(place.glob("*.xml"))
        if files:
            return _as_truth(folder, *_read_voc(place, files))
    place = _label_folder(folder)
    if any(file.name not in _NAME_FILES for file in place.glob("*.txt")):
        return _as_truth(folder, *_read_yolo(place))
    raise OpenSetError(
        f"{folder} holds neither VOC .xml files (also looked in Annotations/) nor YOLO .txt files (also in labels/)."
    )


def _label_folder(folder: Path) -> Path:
    """Where the text files are: in labels/ if there is one, for then those beside it are lists or notes."""
    return folder / "labels" if (folder / "labels").is_dir() else folder


Image = dict[str, Any]
Object = dict[str, Any]
Classes = tuple[list[dict[str, Any]], str]
"""Categories as in COCO files, and the file whose lines gave them their numbers, if it is one that has no ids."""
Table = tuple[list[Image], list[Object], Classes]


def _as_truth(folder: Path, images: list[Image], objects: list[Object], classes: Classes) -> GroundTruth:
    """Through the same door as COCO files; images called 000012 get the number 12 as id, as COCO conversions do."""
    numbered = all(image["id"].isdecimal() for image in images)
    if numbered and len({int(image["id"]) for image in images}) == len(images):
        for entry, key in [*((image, "id") for image in images), *((one, "image_id") for one in objects)]:
            entry[key] = int(entry[key])
    categories, numbered_by = classes
    content = {"images": images, "annotations": objects, "categories": categories}
    return replace(from_chunks(content.items(), str(folder)), numbered_by=numbered_by)


def _by_line(names: Sequence[str], file: Path) -> Classes:
    return [{"id": i, "name": name} for i, name in enumerate(names)], str(file)


# ---- Pascal VOC ----------------------------------------------------------------------------------------------------


class _NoDoctype(ElementTree.TreeBuilder):
    """VOC files declare no document type; one that does may define entities that grow without end or read files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> NoReturn:
        raise OpenSetError("it declares a DOCTYPE, which VOC files do not need and which is not safe to read")


def _read_voc(place: Path, files: Iterable[Path]) -> Table:
    images: list[Image] = []
    objects: list[Object] = []
    for file in files:
        try:
            root = ElementTree.parse(file, ElementTree.XMLParser(target=_NoDoctype())).getroot()  # noqa: S314
            image, own = _voc_image(root, file), [_voc_object(node, file) for node in root.findall("object")]
        except (ElementTree.ParseError, ValueError) as error:
            raise OpenSetError(f"{file} is not a readable VOC annotation: {error}.") from error
        except OSError as error:
            raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
        # all entries are checked again together, but here the file can be named
        for side in ("width", "height"):
            lengths([image[side]], side, f"{file}, image", 0)
        boxes([one["bbox"] for one in own], f"{file}, object", 0)
        flags([one["difficult"] for one in own], "difficult", f"{file}, object", 0)
        images.append(image)
        objects += own
    shown = sorted({one["category_id"] for one in objects})
    if not shown:
        raise OpenSetError(f"{place}: none of the {len(images)} VOC files has an object, so no class is known.")
    classes = _voc_classes(place, shown)
    ids = {one["name"]: one["id"] for one in classes[0]}
    for one in objects:
        one["category_id"] = ids[one["category_id"]]
    return images, objects, classes


def _voc_classes(place: Path, shown: Sequence[str]) -> Classes:
    """Classes with the numbers that a file beside the annotations gives them; without one, names are the ids.

    Made-up numbers would pass for those of somebody's results, in which most often 1 is the first class.
    """
    spots = [place, place.parent] if place.name == "Annotations" else [place]
    file = next((spot / "categories.json" for spot in spots if (spot / "categories.json").is_file()), None)
    if file is not None:
        classes: Classes = (_categories_in_json(file), "")
    else:
        file = _names_file(spots)
        if file is None:
            return [{"id": name, "name": name} for name in shown], ""
        classes = _by_line(_names_in(file), file)
    missing = [name for name in shown if name not in {one["name"] for one in classes[0]}]
    if missing:
        raise OpenSetError(f"{file} has no class {missing[0]!r}, which {place} shows: add it there.")
    return classes


def _categories_in_json(file: Path) -> list[dict[str, Any]]:
    entries = read_json(file)
    if not isinstance(entries, list):
        raise OpenSetError(f'{file} must be a list such as [{{"id": 1, "name": "cat"}}, {{"id": 2, "name": "dog"}}].')
    ids, names = (column(entries, name, str(file), 0) for name in ("id", "name"))
    return [{"id": one, "name": name} for one, name in zip(ids, texts(names, "name", str(file), 0), strict=True)]


def _voc_image(root: ElementTree.Element, file: Path) -> Image:
    width, height = (float(root.findtext(f"size/{side}", "0")) for side in ("width", "height"))
    name = root.findtext("filename", file.stem)
    return {"id": file.stem, "file_name": name, "width": width, "height": height}


def _voc_object(node: ElementTree.Element, file: Path) -> Object:
    left, top, right, bottom = (float(node.findtext(f"bndbox/{side}", "nan")) for side in _SIDES)
    return {
        "image_id": file.stem,
        "category_id": node.findtext("name", "").strip(),
        # pixels are counted from 1 and both ends belong to the box
        "bbox": [left - 1, top - 1, right - left + 1, bottom - top + 1],
        "difficult": int(node.findtext("difficult", "0")),
    }


_SIDES = ("xmin", "ymin", "xmax", "ymax")


# ---- YOLO ----------------------------------------------------------------------------------------------------------


def _read_yolo(labels: Path) -> Table:
    names_file = _names_file((labels, *list(labels.parents)[:2]))
    if names_file is None:
        raise OpenSetError(f"{labels}: no class names; put them into classes.txt beside the labels, one per line.")
    names = _names_in(names_file)
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
    return images, objects, _by_line(names, names_file)


def read_yolo_results(
    folder: Path, truths: list[GroundTruth], classes: GroundTruth
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Detections from a folder of `class x_centre y_centre width height score` files, one per image, and notes."""
    place = _label_folder(folder)
    sizes: dict[str, tuple[float, float]] = {}
    for truth in truths:
        for name, size in zip(truth.file_names, truth.sizes if truth.sizes is not None else (), strict=False):
            sizes[Path(name).stem] = (float(size[0]), float(size[1]))
    ids, notes = _ids_by_number(place, folder, classes)
    entries = []
    for file in sorted(place.glob("*.txt")):
        if file.name in _NAME_FILES:
            continue
        width, height = sizes.get(file.stem, (1.0, 1.0))
        if not (width > 0 and height > 0):
            raise OpenSetError(f"{file}: the ground truth does not give the size of this image, which YOLO boxes need.")
        for _, numbers in _rows(file, columns=6):
            number = int(numbers[0])
            entries.append(
                {
                    "image_id": file.stem,
                    "category_id": ids[number] if 0 <= number < len(ids) else f"class {number}",
                    "bbox": _from_centre(numbers[1:5], width, height),
                    "score": numbers[5],
                }
            )
    return entries, notes


def _ids_by_number(place: Path, folder: Path, classes: GroundTruth) -> tuple[Sequence[Id], tuple[str, ...]]:
    """The class id in the ground truth for each class number of YOLO results, and a note if no file gives names.

    A class that the ground truth does not have keeps its name, which is then a stranger like any other.
    """
    file = _names_file((place, folder))
    if file is None:
        if not classes.has_numbers:
            raise OpenSetError(
                f"{folder} gives classes by number, but those of {classes.source} have no numbers: put the detector's "
                f"class names into {folder / 'classes.txt'}, one per line."
            )
        wording = counted_from_zero(classes.class_names)
        return classes.class_ids, (
            f"{folder} has no classes.txt, so its classes are those of {classes.source}: {wording}",
        )
    known = Names(classes.class_names, classes.source)
    found = [(name, known.find(name)) for name in _names_in(file)]
    return [name if at is None else classes.class_ids[at] for name, at in found], ()


def _rows(file: Path, columns: int) -> Iterable[tuple[int, list[float]]]:
    kind = "class x y width height" + (" score" if columns == 6 else "")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OpenSetError(f"{file} cannot be read as text.") from error
    for row, line in enumerate(lines, 1):
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
    raise OpenSetError(f"{labels}: YOLO boxes are shares of the image size, but there are no images in {Path(*parts)}.")


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


def _names_file(places: Iterable[Path]) -> Path | None:
    """The first file of class names; their order gives the classes numbers from 0."""
    return next((place / name for place in places for name in _NAME_FILES if (place / name).is_file()), None)


def _names_in(file: Path) -> list[str]:
    if file.suffix == ".json":
        return _names_in_json(file)
    if file.suffix in (".yaml", ".yml"):
        return _names_in_yaml(file)
    return [line.strip() for line in text_lines(file) if line.strip()]


def text_lines(file: Path) -> list[str]:
    """Lines of a file of names, one per line."""
    try:
        return existing(file).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file} is not a text file in UTF-8; save it as UTF-8.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error


def _names_in_json(file: Path) -> list[str]:
    names = read_json(file)
    if not isinstance(names, list) or not all(map(is_id, names)):
        raise OpenSetError(f'{file} must be a list of class names, such as ["cat", "dog"].')
    return [str(name) for name in names]


def _names_in_yaml(file: Path) -> list[str]:
    try:
        names = read_yaml(file)["names"]
        found = [names[i] for i in range(len(names))]
        if any(isinstance(name, bool) for name in found):
            raise OpenSetError("YAML takes yes, no, on and off for truth values: put such a name in quotes")
        if isinstance(names, str) or not all(map(is_id, found)):
            raise TypeError
    except (OpenSetError, LookupError, TypeError) as error:
        because = f" ({error})" if isinstance(error, OpenSetError) else ""
        raise OpenSetError(
            f"{file} has no readable list 'names'; it is written like this: names: [cat, dog].{because}"
        ) from error
    return [str(name) for name in found]
