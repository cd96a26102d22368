"""What ultralytics writes with `save_json`: COCO results whose rows also name the file of their image.

Two things are not what they seem there. `image_id` is the stem of the file, as a number where it can be one, which need
not be the id that a ground truth gives the image. And classes count from 1, while ultralytics' own text files and its
`data.yaml` count from 0: taken for the same numbers, every class would become its neighbour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from openset.detection.read.class_lists import FromZero
from openset.detection.read.coco import GroundTruth
from openset.detection.read.entries import column
from openset.detection.read.names import counted_from
from openset.errors import OpenSetError


def names_files(entries: Sequence[Any]) -> bool:
    """Whether rows of results are of this kind."""
    return bool(entries) and isinstance(entries[0], Mapping) and "file_name" in entries[0]


def images_by_file(
    entries: Sequence[Any], image_ids: Sequence[Any], index: Mapping[Any, int], truths: Sequence[GroundTruth]
) -> list[Any]:
    """What to look images up by: the name of the file, or the id where the ground truth does not name its files.

    A file that the ground truth does not name is a stranger even if its number happens to be the id of another image.
    """
    if not all(all(truth.file_names) for truth in truths):
        return list(image_ids)
    names = column(entries, "file_name", "", 0, absent=None)
    return [_called(name, one, index) for name, one in zip(names, image_ids, strict=True)]


def _called(name: Any, image_id: Any, index: Mapping[Any, int]) -> Any:
    if not isinstance(name, str):
        return image_id
    found = next((one for one in (name, PurePosixPath(name).stem) if one in index), None)
    if found is None:
        return image_id if "/" in name else name
    return found if index[found] >= 0 else image_id  # images of both kinds have the name, but perhaps not the id


def count_from_one(
    classes: GroundTruth, numbering: Mapping[Any, str] | None, source: str
) -> tuple[GroundTruth, Mapping[Any, str] | None, tuple[str, ...]]:
    """Classes and a detector's numbers as these results mean them, and a note where a list gives only their order."""
    names: Sequence[str]
    if isinstance(numbering, FromZero):
        names = list(numbering.values())
        numbering = dict(enumerate(names, 1))
    elif numbering is None and classes.numbered_by:
        names = classes.class_names
        classes = replace(classes, class_ids=tuple(range(1, len(names) + 1)))
    else:
        return classes, numbering, ()
    wording = counted_from(names, 1)
    return classes, numbering, (f"classes of {source} count from 1, as ultralytics writes them: {wording}",)


def check_no_zero(class_ids: Sequence[Any], source: str) -> None:
    """A class 0 says that the results are of another program, or of an old version, that counts from 0."""
    if 0 in class_ids:
        raise OpenSetError(
            f"{source} has class 0, but its rows have a file_name as those of ultralytics, which counts from 1 there: "
            'say what counts with --classes FILE, a JSON list with ids such as [{"id": 0, "name": "cat"}].'
        )
