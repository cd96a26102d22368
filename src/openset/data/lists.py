"""Lists of images, `path,label` as openset-imagenet publishes them: with or without a header, -1 and -2 allowed."""

import csv
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE, UNKNOWN
from openset._io.csv_cells import unguarded
from openset._io.paths import existing
from openset.data.arrays import NotSmallError, stored
from openset.data.checks import without_bad
from openset.data.dataset import Dataset, skipped_note
from openset.data.fingerprints import digest_of, file_state, fingerprint_of_files
from openset.data.images import ImageFiles
from openset.data.labels import class_ids
from openset.data.place import inside
from openset.errors import OpenSetError

OPEN_NAMES = {NEGATIVE: "negative", UNKNOWN: "unknown"}


def open_list(
    path: Path,
    name: str,
    split: str,
    *,
    root: Path | None,
    on_corrupt: str,
    class_names: tuple[str, ...] | None = None,
) -> Dataset:
    """The images a list names, looked for below `root`, or else beside the list.

    `class_names` are those of a list that this one goes with: made from its own rows, the ids of both would differ.
    """
    folder = root if root is not None else path.parent
    rows = _read(path)
    for number, (image, _) in rows:
        if not inside(folder, image, f"{path}, row {number}").is_file():
            raise OpenSetError(f"{path}, row {number}: there is no image {folder / image}.")
    _refuse_twice(path, rows)
    names = tuple(image for _, (image, _) in rows)
    labels, found_names = class_ids([label for _, (_, label) in rows], class_names, str(path), open_labels=True)
    named = _folder_names(names, labels, found_names) if class_names is None else found_names
    encoded = ImageFiles(folder, names, upright=False)
    states = tuple(file_state((folder / image).stat()) for image in names)
    key = [folder.resolve(), digest_of(names, labels, states)]
    try:
        found = stored(key, lambda: (encoded, labels, named), on_corrupt=on_corrupt, what=str(path))
        images, kept, skipped, pixels = found.images, found.rows, found.skipped, found.fingerprint
    except NotSmallError:
        kept, skipped = without_bad(encoded, key, on_corrupt, str(path))
        images, pixels = None, ""
    files = tuple(names[row] for row in kept)
    return Dataset(
        name=name,
        split=split,
        labels=labels[kept],
        class_names=named,
        ids=np.array(files, dtype=np.str_),
        fingerprint=fingerprint_of_files(names, labels, states, pixels),
        images=images,
        encoded=ImageFiles(folder, files, upright=False),
        notes=skipped_note(skipped, len(kept)),
    )


def _read(path: Path) -> list[tuple[int, tuple[str, str]]]:
    """(row number counted from 1, as an editor shows it; (path, label))."""
    rows: list[tuple[int, tuple[str, str]]] = []
    try:
        with existing(path).open(encoding="utf-8-sig", newline="") as stream:
            for number, row in enumerate(csv.reader(stream), start=1):
                cells = [unguarded(cell.strip()) for cell in row]
                if not any(cells) or (number == 1 and [cell.lower() for cell in cells[:2]] == ["path", "label"]):
                    continue
                if len(cells) < 2 or not cells[0] or not cells[1]:
                    raise OpenSetError(f"{path}, row {number}: expected 'path,label', found {','.join(row)!r}.")
                rows.append((number, (cells[0], cells[1])))
    except (UnicodeDecodeError, csv.Error) as error:
        raise OpenSetError(f"{path} is not a readable CSV file: {error}.") from error
    if not rows:
        raise OpenSetError(f"{path} lists no images.")
    return rows


def _refuse_twice(path: Path, rows: list[tuple[int, tuple[str, str]]]) -> None:
    seen: dict[str, int] = {}
    for number, (image, _) in rows:
        if seen.setdefault(image, number) != number:
            raise OpenSetError(f"{path}, row {number}: {image} is listed already in row {seen[image]}.")


def _folder_names(names: tuple[str, ...], labels: NDArray[np.int64], class_names: tuple[str, ...]) -> tuple[str, ...]:
    """Name a class after its folder where the list has only numbers and each class lies in a folder of its own."""
    if class_names != tuple(str(number) for number in range(len(class_names))):
        return class_names
    folders: dict[int, set[str]] = {}
    for image, label in zip(names, labels.tolist(), strict=True):
        folders.setdefault(label, set()).add(PurePosixPath(image).parent.name)
    found = [folders.get(label, set()) for label in range(len(class_names))]
    single = [next(iter(folder)) for folder in found if len(folder) == 1]
    if len(single) == len(class_names) == len(set(single)) and all(single):
        return tuple(single)
    return class_names
