"""Ground truth as one XML file per image, as Pascal VOC has it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree  # the parser below refuses what makes XML dangerous

from openset._io.paths import existing, reason
from openset.detection.read.class_lists import Classes, by_line, categories_in_json, names_file, names_in
from openset.detection.read.entries import boxes, flags, lengths
from openset.errors import OpenSetError

Image = dict[str, Any]
Object = dict[str, Any]
Table = tuple[list[Image], list[Object], Classes]


class _NoDoctype(ElementTree.TreeBuilder):
    """VOC files declare no document type; one that does may define entities that grow without end or read files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> NoReturn:
        raise OpenSetError("it declares a DOCTYPE, which VOC files do not need and which is not safe to read")


def read_voc(place: Path, files: Iterable[Path]) -> Table:
    """Images, objects and classes of a folder of XML files."""
    images: list[Image] = []
    objects: list[Object] = []
    for file in files:
        existing(file)
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
        classes: Classes = (categories_in_json(file), "")
    else:
        file = names_file(spots)
        if file is None:
            return [{"id": name, "name": name} for name in shown], ""
        classes = by_line(names_in(file), file)
    missing = [name for name in shown if name not in {one["name"] for one in classes[0]}]
    if missing:
        raise OpenSetError(f"{file} has no class {missing[0]!r}, which {place} shows: add it there.")
    return classes


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
