"""Image files in folders: a folder per class, ILSVRC and TinyImageNet with their flat validation, CUB."""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openset._io.text_files import text_lines
from openset.data.arrays import NotSmallError, stored
from openset.data.catalog import Card
from openset.data.checks import without_bad
from openset.data.dataset import Dataset, skipped_note
from openset.data.fingerprints import FileState, digest_of, file_state, fingerprint_of_files
from openset.data.images import SUFFIXES, ImageFiles
from openset.data.place import inside
from openset.errors import OpenSetError, did_you_mean

_WRAPPERS = ("ILSVRC", "Data/CLS-LOC", "tiny-imagenet-200", "CUB_200_2011")


@dataclass(frozen=True)
class Listing:
    """Image files with their classes, before anything is decoded."""

    root: Path
    names: tuple[str, ...]
    states: tuple[FileState, ...]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def unwrap(folder: Path) -> Path:
    """The folder below the wrappers that the original archives bring along."""
    inner = next((folder / name for name in _WRAPPERS if (folder / name).is_dir()), None)
    return folder if inner is None else unwrap(inner)


def subfolders(folder: Path) -> list[str]:
    """Names of the folders inside, hidden ones left out, sorted."""
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))


def list_class_folders(
    root: Path, part: str, class_names: Sequence[str] | None, *, classes: Collection[str] | None = None
) -> Listing:
    """The images of `root/part`, one folder per class; images without class folders form one class.

    `class_names` fixes the ids, otherwise the sorted folder names do. Only `classes` are looked at, if given.
    """
    folder = root / part
    found = subfolders(folder)
    if not found:
        return _one_class(root, part, class_names)
    names = tuple(class_names) if class_names is not None else tuple(found)
    strange = next((name for name in found if name not in set(names)), None)
    if strange is not None:
        raise OpenSetError(f"{folder / strange} is not one of its classes. {did_you_mean(strange, names)}")
    files: list[tuple[str, FileState]] = []
    labels: list[int] = []
    others: list[str] = []
    present = set(found)
    for label, name in enumerate(names):
        if name not in present or (classes is not None and name not in classes):
            continue
        found_here, left = _images_below(root, f"{part}/{name}".lstrip("/"))
        if not found_here:
            raise OpenSetError(_no_images(folder / name, left))
        files += found_here
        labels += [label] * len(found_here)
        others += left
    if not files:
        wanted = len(names if classes is None else classes)
        raise OpenSetError(f"{folder} has none of the {wanted:,} classes that are needed, only {', '.join(found[:3])}.")
    loose = [entry.name for entry in os.scandir(folder) if entry.is_file() and _is_image(entry.name)]
    notes = _left_out(others) + (
        (f"{len(loose)} images in {folder} lie outside the class folders and were left out.",) if loose else ()
    )
    return _listing(root, files, labels, names, notes)


def list_flat(root: Path, part: str, class_names: Sequence[str], *, outer: Path) -> Listing:
    """A folder of images without class folders, whose classes are given by a list that came with the archive."""
    folder = root / part
    classes = _flat_classes(root, folder, outer)
    if classes is None:
        raise OpenSetError(
            f"{folder} has no class folders, and no list gives the classes of its images: "
            f"sort them into one folder per class, or put LOC_val_solution.csv into {outer}."
        )
    position = {name: label for label, name in enumerate(class_names)}
    images, _ = _images_below(root, part)
    stranger = next((name for name, _ in images if classes.get(Path(name).stem) not in position), None)
    if stranger is not None:
        raise OpenSetError(f"{root / stranger} is in no list of the validation images' classes.")
    if not images:
        raise OpenSetError(f"{folder} has no images: put JPEG or PNG files there or remove the folder.")
    return _listing(root, images, [position[classes[Path(name).stem]] for name, _ in images], tuple(class_names), ())


def list_cub(root: Path, part: str, class_names: Sequence[str]) -> Listing:
    """CUB's own layout: images.txt, image_class_labels.txt and train_test_split.txt beside images/."""
    images = root / "images.txt"
    names, numbers, training = (
        _cub_table(root / file) for file in ("images.txt", "image_class_labels.txt", "train_test_split.txt")
    )
    position = {str(label + 1): label for label in range(len(class_names))}
    wanted = "1" if part == "train" else "0"
    files: list[tuple[str, FileState]] = []
    labels: list[int] = []
    for key, name in names.items():
        path = inside(root / "images", name, f"{images}, image {key}")
        if training.get(key) not in {"0", "1"}:
            raise OpenSetError(f"{root / 'train_test_split.txt'} must say 1 or 0 of image {key}, which {images} lists.")
        if numbers.get(key) not in position:
            raise OpenSetError(
                f"{root / 'image_class_labels.txt'} must give a class from 1 to {len(class_names)} to image {key}, "
                f"which {images} lists."
            )
        if training[key] != wanted:
            continue
        if not path.is_file():
            raise OpenSetError(f"{images} lists images/{name}, which is not there.")
        files.append((f"images/{name}", file_state(path.stat())))
        labels.append(position[numbers[key]])
    if not files:
        raise OpenSetError(f"{root / 'train_test_split.txt'} leaves no images for '{part}'.")
    return _listing(root, files, labels, tuple(class_names), ())


def _cub_table(file: Path) -> dict[str, str]:
    """Lines `key value` of one of CUB's lists."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OpenSetError(f"{file} cannot be read, and it says which image is of which class and part.") from error
    rows = [(number, line.split(maxsplit=1)) for number, line in enumerate(lines, start=1) if line.strip()]
    bad = next((number for number, row in rows if len(row) != 2), None)
    if bad is not None:
        raise OpenSetError(f"{file}, line {bad}: expected a number and a value, found {lines[bad - 1]!r}.")
    return {key: value.strip() for _, (key, value) in rows}


def open_listing(listing: Listing, name: str, split: str, *, card: Card | None, on_corrupt: str) -> Dataset:
    """Small images of one size as an array; everything else decoded when it is needed."""
    encoded = ImageFiles(listing.root, listing.names, upright=card is None)
    key = [listing.root.resolve(), split, digest_of(listing.names, listing.labels, listing.states)]
    what = str(listing.root)
    rows = np.arange(len(encoded))
    skipped: tuple[str, ...] = ()
    images, pixels = None, ""
    if card is None or not card.large:
        try:
            found = stored(
                key, lambda: (encoded, listing.labels, listing.class_names), on_corrupt=on_corrupt, what=what
            )
            images, rows, skipped, pixels = found.images, found.rows, found.skipped, found.fingerprint
        except NotSmallError:
            pass
    if images is None:
        rows, skipped = without_bad(encoded, key, on_corrupt, what)
    names = tuple(listing.names[row] for row in rows) if skipped else listing.names
    return Dataset(
        name=name,
        split=split,
        labels=listing.labels[rows],
        class_names=listing.class_names,
        ids=np.array([f"{name}/{file}" for file in names], dtype=np.str_),
        fingerprint=fingerprint_of_files(listing.names, listing.labels, listing.states, pixels),
        images=images,
        encoded=ImageFiles(listing.root, names, upright=card is None),
        titles=card.titles if card else {},
        notes=listing.notes + skipped_note(skipped, len(rows)),
    )


def _listing(
    root: Path,
    files: Sequence[tuple[str, FileState]],
    labels: Sequence[int],
    class_names: tuple[str, ...],
    notes: tuple[str, ...],
) -> Listing:
    names, states = tuple(name for name, _ in files), tuple(stamp for _, stamp in files)
    return Listing(root, names, states, np.array(labels, dtype=np.int64), class_names, notes)


def _one_class(root: Path, part: str, class_names: Sequence[str] | None) -> Listing:
    folder = root / part
    files, others = _images_below(root, part)
    if not files:
        raise OpenSetError(_no_images(folder, others))
    if class_names is not None and folder.name not in class_names:
        raise OpenSetError(f"{folder} has images but no class folders: sort them into one folder per class.")
    return _listing(root, files, [0] * len(files), (folder.name,), _left_out(others))


def _images_below(root: Path, part: str) -> tuple[list[tuple[str, FileState]], list[str]]:
    """Image files below `root/part` as (path from root, stamp), sorted, and the other files."""
    images: list[tuple[str, FileState]] = []
    others: list[str] = []
    waiting = [part]
    while waiting:
        relative = waiting.pop()
        for entry in os.scandir(root / relative):
            path = f"{relative}/{entry.name}".lstrip("/")
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                waiting.append(path)
            elif _is_image(entry.name):
                images.append((path, file_state(entry.stat())))
            else:
                others.append(path)
    return sorted(images), sorted(others)


def _is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith(".")  # noqa: PTH122  # fast for a million


def _no_images(folder: Path, others: Sequence[str]) -> str:
    kinds = sorted({Path(name).suffix.lower() or "nameless" for name in others})
    found = f", only {len(others)} files of the kind {', '.join(kinds)}" if others else ""
    return f"{folder} has no images{found}: put JPEG or PNG files there or remove the folder."


def _left_out(others: Sequence[str]) -> tuple[str, ...]:
    strange = [
        name for name in others if Path(name).suffix.lower() not in {".txt", ".xml", ".json", ".csv", ".db", ".md"}
    ]
    if not strange:
        return ()
    return (f"{len(strange)} files that are not images in a known format were left out, such as {strange[0]}.",)


def _flat_classes(root: Path, folder: Path, outer: Path) -> dict[str, str] | None:
    """Class of each validation image by file stem, from whichever list the archive brought along."""
    kaggle = next(
        (path / "LOC_val_solution.csv" for path in (outer, root) if (path / "LOC_val_solution.csv").is_file()),
        None,
    )
    if kaggle is not None:
        rows = (line.split(",") for line in text_lines(kaggle)[1:] if "," in line)
        return {row[0]: row[1].split()[0] for row in rows if row[1].strip()}
    tiny = folder / "val_annotations.txt"
    if tiny.is_file():
        rows = (line.split("\t") for line in text_lines(tiny) if "\t" in line)
        return {Path(row[0]).stem: row[1] for row in rows}
    boxes = root.parent.parent / "Annotations" / "CLS-LOC" / "val"
    if boxes.is_dir():  # only one word per file is wanted, so no XML is parsed
        found = (
            (path.stem, re.search(r"<name>\s*(n\d{8})\s*</name>", "".join(text_lines(path))))
            for path in boxes.glob("*.xml")
        )
        return {stem: match.group(1) for stem, match in found if match is not None}
    return None
