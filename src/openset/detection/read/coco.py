"""Ground truth and detections as columns: one array per field over the whole data set, whatever file they came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._io.json_stream import read_chunks
from openset._io.paths import is_folder
from openset.detection.read.entries import (
    boxes,
    check_unique,
    check_visible,
    check_whole,
    column,
    flags,
    lengths,
    places,
    texts,
)
from openset.errors import OpenSetError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Id = int | str


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Images, classes and objects. `image` and `category` are positions in `image_ids` and `class_names`."""

    source: str
    image_ids: tuple[Id, ...]
    file_names: tuple[str, ...]
    class_ids: tuple[Id, ...]
    class_names: tuple[str, ...]
    image: Ints
    category: Ints
    box: Floats
    """x, y, width, height; one row per object."""
    ignore: Bools
    """Difficult objects: finding one is neither correct nor wrong."""
    crowd: Bools
    """Regions of many objects: ignored, and any number of detections may fall on one."""
    sizes: Floats | None = None
    """Width and height of each image, where the file has them."""
    numbered_by: str = ""
    """The list of names whose order gave the classes their numbers, from 0; empty if they came with their ids."""

    @property
    def n_images(self) -> int:
        """All images, with or without objects."""
        return len(self.image_ids)

    @property
    def n_classes(self) -> int:
        """Classes in the file, in its order."""
        return len(self.class_names)

    @property
    def has_numbers(self) -> bool:
        """Whether some class has a number; in a folder of VOC files classes have only names."""
        return not all(isinstance(one, str) for one in self.class_ids)

    @property
    def counted(self) -> Bools:
        """Objects that a detector must find."""
        return ~(self.ignore | self.crowd)

    @property
    def n_objects(self) -> Ints:
        """Objects to find, per class."""
        return np.bincount(self.category[self.counted], minlength=self.n_classes)

    def select(self, objects: NDArray[Any]) -> "GroundTruth":
        """The same images with some of the objects."""
        return replace(
            self,
            image=self.image[objects],
            category=self.category[objects],
            box=self.box[objects],
            ignore=self.ignore[objects],
            crowd=self.crowd[objects],
        )


@dataclass(frozen=True, eq=False)
class Detections:
    """Boxes a detector claims. `image` and `category` are positions in the ground truth they were read for."""

    source: str
    image: Ints
    category: Ints
    box: Floats
    score: Floats
    background_score: Floats | None = None
    notes: tuple[str, ...] = ()
    """What a reader of the results should know: scores above 1, rows left out at the user's request."""

    def __len__(self) -> int:
        return len(self.score)

    def select(self, rows: NDArray[Any]) -> "Detections":
        """Some of the detections, in the given order."""
        background = None if self.background_score is None else self.background_score[rows]
        return replace(
            self,
            image=self.image[rows],
            category=self.category[rows],
            box=self.box[rows],
            score=self.score[rows],
            background_score=background,
        )


def read_ground_truth(source: Any) -> GroundTruth:
    """Read a COCO file (or its content), a folder of VOC XML files, or a YOLO data set folder.

    Missing `segmentation`, `iscrowd`, `ignore` and `file_name` are fine, and so are images without objects.

    >>> truth = read_ground_truth({"images": [{"id": 0}], "categories": [{"id": 7, "name": "cat"}],
    ...     "annotations": [{"image_id": 0, "category_id": 7, "bbox": [0, 0, 10, 10]}]})
    >>> truth.class_names, truth.n_objects
    (('cat',), array([1]))
    """
    if isinstance(source, GroundTruth):
        return source
    if isinstance(source, Mapping):
        return from_chunks(source.items(), "ground truth")
    if isinstance(source, str | Path):
        if is_folder(source):
            from openset.detection.read.folders import read_folder

            return read_folder(Path(source))
        return from_chunks(read_chunks(source), str(source))
    raise OpenSetError(f"Ground truth is a file, a folder or a COCO object, not a {type(source).__name__}.")


_ABSENT: dict[str, dict[str, Any]] = {  # field -> its value when it is absent; `...`: it must be there
    "images": {"id": ..., "file_name": "", "width": 0, "height": 0},
    "categories": {"id": ..., "name": ...},
    "annotations": {"image_id": ..., "category_id": ..., "ignore": 0, "difficult": 0, "iscrowd": 0},
}


def from_chunks(chunks: Iterable[tuple[str | None, Any]], source: str) -> GroundTruth:
    """Ground truth from the lists of a COCO object, each in one or more parts."""
    table: dict[str, dict[str, list[Any]]] = {key: {name: [] for name in fields} for key, fields in _ABSENT.items()}
    box_parts = [np.zeros((0, 4))]
    seen = set()
    for key, entries in chunks:
        if key is None:
            raise OpenSetError(
                f"{source} is a list, so it holds detections; ground truth is an object with "
                "'images', 'annotations' and 'categories'."
            )
        if key not in table:
            continue
        seen.add(key)
        if not isinstance(entries, list | tuple):
            raise OpenSetError(f"{source}: '{key}' must be a list of objects, not {_kind(entries)}.")
        where, first = f"{source}, '{key}'", len(next(iter(table[key].values())))
        if key == "annotations":
            box_parts.append(boxes(column(entries, "bbox", where, first), where, first))
        for name, absent in _ABSENT[key].items():
            table[key][name] += column(entries, name, where, first, absent)
    if not table["images"]["id"] or "categories" not in seen:  # a list of no classes is fine on wild images
        missing = "categories" if table["images"]["id"] else "images"
        raise OpenSetError(f"{source} has no '{missing}', so it is not COCO ground truth.")
    return _assemble(table, np.concatenate(box_parts), source)


def _kind(value: Any) -> str:
    """What JSON calls a value that is not a list."""
    return "null" if value is None else "an object" if isinstance(value, Mapping) else f"{value!r:.40}"


def _assemble(table: dict[str, dict[str, list[Any]]], box: Floats, source: str) -> GroundTruth:
    images, classes, objects = table["images"], table["categories"], table["annotations"]
    for key in ("images", "categories"):
        check_unique(table[key]["id"], f"ids of '{key}'", source)
        check_whole(table[key]["id"], "id", f"{source}, '{key}'", 0)
    names = tuple(texts(classes["name"], "name", f"{source}, 'categories'", 0))
    check_unique(names, "names of 'categories'", source)
    check_visible(names, "name", f"{source}, 'categories'")
    where = f"{source}, 'annotations'"
    crowd, ignore, difficult = (flags(objects[name], name, where, 0) for name in ("iscrowd", "ignore", "difficult"))
    sizes = [lengths(images[side], side, f"{source}, 'images'", 0) for side in ("width", "height")]
    return GroundTruth(
        source=source,
        image_ids=tuple(images["id"]),
        file_names=tuple(texts(images["file_name"], "file_name", f"{source}, 'images'", 0, absent="")),
        class_ids=tuple(classes["id"]),
        class_names=names,
        image=_references(objects["image_id"], images["id"], "image_id", where),
        category=_references(objects["category_id"], classes["id"], "category_id", where),
        box=box,
        ignore=ignore | difficult,
        crowd=crowd,
        sizes=np.column_stack(sizes),
    )


def _references(values: list[Any], ids: list[Any], name: str, where: str) -> Ints:
    found = places(values, {one: i for i, one in enumerate(ids)}, where, 0)
    if (found < 0).any():
        row = int(np.argmin(found))
        raise OpenSetError(f"{where} entry {row}: there is no such {name}: {values[row]!r}.")
    return found
