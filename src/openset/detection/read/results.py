"""Reading what a detector found, for the images of a ground truth: COCO results, or a folder of text files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from openset._io.json_stream import Chunk, read_chunks
from openset._io.paths import is_folder
from openset.detection.read.coco import Detections, GroundTruth
from openset.detection.read.entries import boxes, column, numbers, places, three
from openset.detection.read.names import Names, counted_from_zero
from openset.detection.read.ultralytics import check_no_zero, count_from_one, images_by_file, names_files
from openset.errors import OpenSetError


@dataclass(frozen=True)
class Leniency:
    """What a user allows a results file to contain besides what the ground truth knows."""

    extra_images: bool = False
    other_classes: bool = False


STRICT = Leniency()
_IN_DOUBT = -2  # position of an image that cannot be told from another


def read_detections(
    source: Any,
    images: GroundTruth,
    classes: GroundTruth | None = None,
    *,
    lenient: Leniency = STRICT,
    called: str = "results",
    numbering: Mapping[Any, str] | None = None,
) -> Detections:
    """Read results for the images of one ground truth and the classes of another (default: the same one).

    Rows for other images or classes stop the reading; only when allowed they are left out, and counted in `notes`,
    where a file goes by its name and a list by what it is `called`.
    An image is named by its id, or, if that is text, by its file name with or without the ending; a class by its id or
    its name. `numbering` are the names of the detector's classes by its own numbers, where those are not the ids of
    the ground truth.
    """
    if isinstance(source, Detections):
        return source
    return _read(source, images_by_name(images), [images], classes or images, lenient, called, numbering)


def read_shared_detections(
    source: Any,
    known: GroundTruth,
    wild: GroundTruth,
    *,
    lenient: Leniency = STRICT,
    numbering: Mapping[Any, str] | None = None,
) -> tuple[Detections, Detections]:
    """One results file for the known and the wild images, whose ids must differ, as two sets of detections.

    A file name that images of both kinds have cannot be used in it.
    """
    shared = set(known.image_ids) & set(wild.image_ids)
    if shared:
        raise OpenSetError(
            f"{len(shared)} image ids are both in {known.source} and in {wild.source} ({three(shared)}), so one "
            "results file cannot tell them apart: give the detections on known and on wild images as two files."
        )
    both = _read(source, _shared_index(source, known, wild), [known, wild], known, lenient, "results", numbering)
    on_wild = both.image >= known.n_images
    shifted = replace(both, image=both.image - known.n_images)
    return both.select(np.flatnonzero(~on_wild)), shifted.select(np.flatnonzero(on_wild))


def _shared_index(source: Any, known: GroundTruth, wild: GroundTruth) -> dict[Any, int]:
    """Positions by id or name, the wild images behind the known ones; names that both kinds have are in doubt."""
    names = images_by_name(known)
    wild_names = {name: place + known.n_images for name, place in images_by_name(wild).items()}
    doubtful = names.keys() & wild_names.keys()
    if not _is_folder(source):  # whose files are named after images, never after ids
        doubtful -= {*known.image_ids, *wild.image_ids}
    index = wild_names | names
    index.update({one: wild_names[one] for one in wild.image_ids})  # an id is stronger than a name
    return index | dict.fromkeys(doubtful, _IN_DOUBT)


def images_by_name(truth: GroundTruth) -> dict[Any, int]:
    """Position of an image by its id, its file name, or its file name without folder and ending where that is clear."""
    stems = [PurePosixPath(name).stem for name in truth.file_names]
    parts: list[list[Any]] = [stems, [PurePosixPath(name).name for name in truth.file_names]]
    if len(set(stems)) < len(stems):
        parts = []
    index: dict[Any, int] = {}
    for names in (*parts, truth.file_names):  # the whole name is stronger than its parts
        index.update({name: place for place, name in enumerate(names) if name})
    index.update({one: place for place, one in enumerate(truth.image_ids)})  # an id is stronger than a name
    return index


@dataclass
class _Strangers:
    """Ids that the ground truth does not have."""

    n_rows: int = 0
    ids: dict[Any, None] = field(default_factory=dict)

    def add(self, values: list[Any], where: Any) -> None:
        self.n_rows += int(where.sum())
        self.ids.update(dict.fromkeys(values[i] for i in np.flatnonzero(where)))


def _read(
    source: Any,
    index: Mapping[Any, int],
    truths: list[GroundTruth],
    classes: GroundTruth,
    lenient: Leniency,
    called: str,
    numbering: Mapping[Any, str] | None,
) -> Detections:
    name, chunks, notes = _chunks(source, truths, classes, called, numbering)
    images = " or ".join(truth.source for truth in truths)
    where = f"{name}, detections"
    by_class = _ClassIndex(classes, None if _is_folder(source) else numbering, name)
    other_images, other_classes = _Strangers(), _Strangers()
    parts: list[list[Any]] = [
        [np.zeros(0, np.int64)],
        [np.zeros(0, np.int64)],
        [np.zeros((0, 4))],
        [np.zeros(0)],
        [],
    ]
    first, with_background = 0, 0
    counted: tuple[str, ...] = ()
    for entries in chunks:
        if names_files(entries) and not counted:
            classes, numbering, counted = count_from_one(classes, numbering, name)
            by_class = _ClassIndex(classes, numbering, name)
            notes = counted or notes
        box = boxes(column(entries, "bbox", where, first), where, first)
        score = numbers(column(entries, "score", where, first), "score", where, first)
        if (score < 0).any():
            row = int(np.argmax(score < 0))
            raise OpenSetError(f"{where} entry {first + row}: score {score[row]:g} is negative; scores are 0 or more.")
        image_ids = column(entries, "image_id", where, first)
        class_ids = column(entries, "category_id", where, first)
        if names_files(entries):
            image_ids = images_by_file(entries, image_ids, index, truths)
        if counted:
            check_no_zero(class_ids, name)
        image = places(image_ids, index, where, first)
        category = places(class_ids, by_class.for_ids(class_ids), where, first)
        if not classes.has_numbers and numbering is None:
            _check_named(class_ids, classes, name)
        if (image == _IN_DOUBT).any():
            row = int(np.argmax(image == _IN_DOUBT))
            raise OpenSetError(
                f"{where} entry {first + row}: {image_ids[row]!r} is the name of two images, one in "
                f"{' and one in '.join(truth.source for truth in truths)}: use the ids of the images, or give the "
                "detections on known and on wild images as two files or folders."
            )
        other_images.add(image_ids, image < 0)
        other_classes.add(class_ids, category < 0)
        background = column(entries, "background_score", where, first, absent=None)
        with_background += len(entries) - background.count(None)
        if None not in background:
            parts[4].append(numbers(background, "background_score", where, first))
        for part, values in zip(parts, (image, category, box, score), strict=False):
            part.append(values)
        first += len(entries)
    if with_background not in (0, first):
        raise OpenSetError(f"{name}: only some detections have a background_score; give it to all or to none.")
    _check(other_images, lenient.extra_images, name, f"images that are not in {images}", "--allow-extra-images")
    hint = f" ({'; '.join((f'they are not among the {classes.n_classes} classes of {classes.source}', *notes))})"
    _check(other_classes, lenient.other_classes, name, f"unknown category ids{hint}", "--drop-other-classes")
    image, category, box, score = (np.concatenate(part) for part in parts[:4])
    background_score = np.concatenate(parts[4]) if with_background else None
    notes += _notes(name, score, other_images, other_classes)
    found = Detections(name, image, category, box, score, background_score, notes)
    inside = (image >= 0) & (category >= 0)
    return found if inside.all() else found.select(np.flatnonzero(inside))


class _ClassIndex:
    """Positions of classes by their ids, or by their names where an id is text; or by the numbers of a detector."""

    def __init__(self, classes: GroundTruth, numbering: Mapping[Any, str] | None, source: str) -> None:
        self._names, self._numbering, self._source = Names(classes.class_names, classes.source), numbering, source
        if numbering is None:
            self._places = {one: i for i, one in enumerate(classes.class_ids)}
        else:
            found = {number: self._names.find(name) for number, name in numbering.items()}
            self._places = {number: place for number, place in found.items() if place is not None}

    def for_ids(self, ids: list[Any]) -> Mapping[Any, int]:
        """A table that has all the ids that can be placed."""
        for one in {one for one in ids if isinstance(one, str)} - self._places.keys():
            place = self._names.find(one)
            if place is not None:
                self._places[one] = place
        if self._numbering is not None:
            strange = next((one for one in ids if not isinstance(one, str) and one not in self._numbering), None)
            if strange is not None:
                raise OpenSetError(
                    f"{self._source} has class {strange!r:.40}, but --classes names {len(self._numbering)} classes "
                    f"({three(self._numbering)}, ...): give the list that the detector counts by; if it counts from 1, "
                    'a JSON list such as [{"id": 1, "name": "cat"}].'
                )
        return self._places


def _chunks(
    source: Any, truths: list[GroundTruth], classes: GroundTruth, called: str, numbering: Mapping[Any, str] | None
) -> tuple[str, Iterable[list[Any]], tuple[str, ...]]:
    """The name of a source, its detections, some at a time, and how its classes were understood where that is open."""
    if _is_folder(source):
        from openset.detection.read.folders import read_results_folder

        entries, notes = read_results_folder(Path(source), truths, classes, numbering)
        return str(source), [entries], notes
    notes = ()
    if classes.numbered_by and numbering is None:
        notes = (f"classes have the numbers of {classes.numbered_by}: {counted_from_zero(classes.class_names)}",)
    if isinstance(source, list | tuple):
        return called, [list(source)], notes
    if not isinstance(source, str | Path):
        raise OpenSetError(f"Detections are a file, a folder or a list of COCO results, not a {type(source).__name__}.")
    return str(source), _results_only(read_chunks(source), str(source)), notes


def _is_folder(source: Any) -> bool:
    return isinstance(source, str | Path) and is_folder(source)


def _results_only(chunks: Iterable[Chunk], source: str) -> Iterable[list[Any]]:
    wanted = "detections are a list of {image_id, category_id, bbox, score}"
    empty = True
    for key, entries in chunks:
        if key is not None:
            raise OpenSetError(f"{source} is an object with '{key}'; {wanted}.")
        empty = False
        yield entries
    if empty:  # a list without entries still is one chunk
        raise OpenSetError(f"{source} is an object with nothing in it; {wanted}.")


def _check_named(class_ids: list[Any], classes: GroundTruth, source: str) -> None:
    """Numbers say nothing where classes have only names, so leaving out the rows would leave out everything."""
    number = next((one for one in class_ids if not isinstance(one, str)), None)
    if number is not None:
        raise OpenSetError(
            f"{source} gives classes by number ({number!r:.40}), but those of {classes.source} have only names "
            f"({three(classes.class_names)}): say which number is which class in a file categories.json in the VOC "
            'folder, such as [{"id": 1, "name": "cat"}], or write the names as category_id.'
        )


def _check(strangers: _Strangers, allowed: bool, source: str, what: str, option: str) -> None:
    if strangers.ids and not allowed:
        raise OpenSetError(
            f"{source}: {strangers.n_rows} detections have {what}: {len(strangers.ids)} ids, for example "
            f"{three(strangers.ids)}. Use the matching files, or leave these rows out with {option}."
        )


def _notes(name: str, score: Any, images: _Strangers, classes: _Strangers) -> tuple[str, ...]:
    notes = []
    if images.ids:
        outside = f"{len(images.ids)} images outside the ground truth"
        notes.append(f"{images.n_rows} detections on {outside} were left out of {name}")
    if classes.ids:
        notes.append(f"{classes.n_rows} detections of {len(classes.ids)} other classes were left out of {name}")
    if (score > 1).any():
        above = int((score > 1).sum())
        notes.append(f"{above} scores of {name} are above 1, so they are not probabilities; used as they are")
    return tuple(notes)
