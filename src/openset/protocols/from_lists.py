"""A protocol from three CSV lists, such as those of openset-imagenet: the labels in them are final."""

import warnings
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from openset._core.checks import NEGATIVE, UNKNOWN
from openset._io.paths import is_folder
from openset.data import CATALOG, Dataset, data_root
from openset.data.folders import unwrap
from openset.data.lists import OPEN_NAMES, open_list
from openset.errors import OpenSetError, OpenSetWarning
from openset.protocols.build import Learning, assemble, definition_notes
from openset.protocols.classes import ClassLists, RoleClasses, class_lists
from openset.protocols.definition import Definition
from openset.protocols.parts import Protocol
from openset.protocols.samples import Samples, check_overlap

_PARTS = ("train", "val", "test")


def find_lists(folder: Path, prefix: str = "") -> dict[str, Path] | None:
    """The files `train.csv`, `val.csv`, `test.csv` of a folder, or `p1_train.csv`, ...; None if one is missing."""
    for stem in dict.fromkeys((prefix, "")):
        found = {part: folder / f"{stem}{part}.csv" for part in _PARTS}
        if all(path.is_file() for path in found.values()):
            return found
    return None


def build_from_lists(
    folder: Path, definition: Definition | None, *, root: str | Path | None = None, on_corrupt: str = "stop"
) -> Protocol:
    """Lists with paths relative to the data root (for a bundled protocol: to its data set), or else to themselves."""
    prefix = f"{definition.name.rsplit('-', 1)[-1]}_" if definition else ""
    paths = find_lists(folder, prefix)
    if paths is None:
        raise OpenSetError(f"{folder} has no lists {prefix}train.csv, {prefix}val.csv and {prefix}test.csv.")
    base = _image_root(definition, root)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)
        opened: dict[str, Dataset] = {}
        for part, path in paths.items():  # the list to train on comes first and numbers the classes of all
            names = opened["train"].class_names if opened else None
            opened[part] = open_list(path, folder.name, part, root=base, on_corrupt=on_corrupt, class_names=names)
    samples = {part: _samples(number, data) for number, (part, data) in enumerate(opened.items())}
    lists = _class_lists(definition, opened, samples, str(folder))
    name = definition.name if definition else folder.resolve().name
    check_overlap(name, samples)
    notes = [
        *(definition_notes(definition) if definition else []),
        *(note for data in opened.values() for note in data.notes),
    ]
    return assemble(
        name=name,
        title=definition.title if definition else name,
        split=0,
        lists=lists,
        sources=tuple(opened.values()),
        parts=samples,
        notes=[*notes, f"The samples come from the lists in {folder}."],
    )


def learning_from_lists(folder: Path, *, root: str | Path | None = None, on_corrupt: str = "stop") -> Learning:
    """What a training may see of the lists in a folder; the list to test on is not read."""
    paths = find_lists(folder)
    if paths is None:
        raise OpenSetError(f"{folder} has no lists train.csv, val.csv and test.csv.")
    base = _image_root(None, root)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)
        train = open_list(paths["train"], folder.name, "train", root=base, on_corrupt=on_corrupt, class_names=None)
        names = train.class_names
        val = open_list(paths["val"], folder.name, "val", root=base, on_corrupt=on_corrupt, class_names=names)
    samples = {"train": _samples(0, train), "val": _samples(1, val)}
    negative = _classes(samples, ("train", "val"), NEGATIVE)
    lists = ClassLists(
        RoleClasses("known", str(folder), names),
        (RoleClasses("negative", str(folder), negative),) if negative else (),
        (),
    )
    notes = (*train.notes, *val.notes)
    return Learning(folder.resolve().name, lists, (train, val), samples["train"], samples["val"], notes)


def _image_root(definition: Definition | None, root: str | Path | None) -> Path | None:
    if definition is not None:
        folder = data_root(root) / definition.data
        if not is_folder(folder):
            raise OpenSetError(
                f"The images of the lists are looked for in {folder}, which is not there; see --data-root."
            )
        return unwrap(folder)
    return Path(root) if root is not None else None


def _samples(number: int, data: Dataset) -> Samples:
    words = np.array([*data.class_names, OPEN_NAMES[UNKNOWN], OPEN_NAMES[NEGATIVE]], dtype=np.str_)
    classes = words[data.labels]
    folders = np.array([PurePosixPath(path).parent.name for path in data.ids.tolist()], dtype=np.str_)
    classes = np.where((data.labels < 0) & (folders != ""), folders, classes)
    rows = np.arange(len(data))
    return Samples(np.full(len(data), number), rows, data.labels, data.ids, classes, np.full(len(data), ""))


def _class_lists(
    definition: Definition | None, opened: dict[str, Dataset], samples: dict[str, Samples], where: str
) -> ClassLists:
    negative = _classes(samples, ("train", "val", "test"), NEGATIVE)
    unknown = _classes(samples, ("test",), UNKNOWN)
    if definition is None:
        known = RoleClasses("known", where, opened["train"].class_names)
        return ClassLists(
            known,
            (RoleClasses("negative", where, negative),) if negative else (),
            (RoleClasses("unknown", where, unknown),) if unknown else (),
        )
    lists = class_lists(definition, 0, lambda data: CATALOG[data].class_names)
    found = (opened["train"].class_names, negative, unknown)
    for members, classes in zip(lists, found, strict=True):
        if sorted(members.classes) != sorted(classes) or (members.role == "known" and members.classes != classes):
            strange = next(iter(set(classes) ^ set(members.classes)), "their order")
            raise OpenSetError(
                f"{where}: the {members.role} classes of the lists are not those of {definition.name} (see {strange})."
            )
    return lists


def _classes(samples: dict[str, Samples], parts: Sequence[str], label: int) -> tuple[str, ...]:
    found = [samples[part].classes[samples[part].labels == label] for part in parts]
    return tuple(np.unique(np.concatenate(found)).tolist())
