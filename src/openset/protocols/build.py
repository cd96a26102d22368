"""From a definition and the data to a protocol that has checked itself."""

import hashlib
import json
import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openset._core.text import shown
from openset.data import CATALOG, Dataset, data_root, open_dataset, splits_of
from openset.data.place import inside
from openset.errors import OpenSetError, OpenSetWarning
from openset.protocols.classes import ClassLists, RoleClasses, class_lists, same_known
from openset.protocols.definition import Definition
from openset.protocols.held_out import Mask, held_out_as_published, held_out_by_hash
from openset.protocols.parts import Part, Protocol
from openset.protocols.repeated import repeated_notes
from openset.protocols.samples import OPEN, Samples, check_overlap, check_samples


class Opened:
    """The data a protocol uses, each part opened once."""

    def __init__(
        self, definition: Definition, root: str | Path | None, on_corrupt: str, *, closed: Collection[str] = ()
    ) -> None:
        self.definition, self.root, self.on_corrupt = definition, root, on_corrupt
        self.closed = closed
        """Parts that are not opened."""
        self.sources: list[Dataset] = []
        self.wanted: dict[str, set[str]] = {}
        self._number: dict[tuple[str, str], int] = {}

    def place(self, data: str) -> str | Path:
        """A name of the catalogue, or a path beside the definition or below the data root."""
        if data in CATALOG:
            return data
        folders = [self.definition.folder or Path(), data_root(self.root)]
        for folder in folders:
            path = inside(folder, data, self.definition.name)
            if os.path.exists(path):  # noqa: PTH110 - says no, and not an error, of names that cannot be
                return path
        raise OpenSetError(
            f"{self.definition.name}: there is no data '{data}', neither a known name nor in "
            + " or ".join(str(folder) for folder in folders)
            + "; paths are relative to the protocol's own folder or to --data-root."
        )

    def class_names(self, data: str) -> tuple[str, ...]:
        """The classes of a data set, also those of one part only; of the catalogue they are known without the data."""
        if data in CATALOG:
            return CATALOG[data].class_names
        parts = [self.sources[self.number(data, split)] for split in self.splits(data) if split not in self.closed]
        return tuple(dict.fromkeys(name for part in parts for name in part.class_names))

    def splits(self, data: str) -> tuple[str, ...]:
        """The parts a data set has."""
        return splits_of(self.place(data), root=self.root)

    def number(self, data: str, split: str) -> int:
        """Position in `sources` of one part of a data set."""
        assert split not in self.closed
        if (data, split) not in self._number:
            found = open_dataset(
                self.place(data),
                split,
                root=self.root,
                on_corrupt=self.on_corrupt,
                classes=self.wanted.get(data),
                name=Path(data).with_suffix("").as_posix(),  # two folders may end in the same word
            )
            if found.labels.min() < 0:
                raise OpenSetError(
                    f"{data} holds labels -1 or -2, so it is a list for a whole protocol: "
                    "put train.csv, val.csv and test.csv into one folder and give that folder."
                )
            self._number[data, split] = len(self.sources)
            self.sources.append(found)
        return self._number[data, split]

    def samples(self, members: RoleClasses, split: str) -> Samples:
        """All samples of the cast's classes in one part."""
        number = self.number(members.data, split)
        data = self.sources[number]
        position = {name: place for place, name in enumerate(data.class_names)}
        ids = [position.get(name, -1) for name in members.classes]
        label_of = np.full(len(data.class_names) + 1, -1, dtype=np.int64)
        label_of[ids] = np.arange(len(ids))
        label_of[-1] = -1
        rows = np.flatnonzero(label_of[data.labels] >= 0)
        place = label_of[data.labels[rows]]
        return Samples(
            source=np.full(len(rows), number, dtype=np.int64),
            rows=rows,
            labels=place if members.role == "known" else np.full(len(rows), OPEN[members.role], dtype=np.int64),
            ids=data.ids[rows],
            classes=np.array(members.classes, dtype=np.str_)[place],
            groups=np.full(len(rows), members.group),
        )


def build(
    definition: Definition, *, split: int = 0, data_root: str | Path | None = None, on_corrupt: str = "stop"
) -> Protocol:
    """Open the data, divide it, check it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)  # reported once, below, for all parts
        opened = Opened(definition, data_root, on_corrupt)
        lists = class_lists(definition, split, opened.class_names)
        for members in lists:
            opened.wanted.setdefault(members.data, set()).update(members.classes)
        pool, whole, val, test = _shared_out(definition, lists, opened)
    held = _held_out(definition, pool, whole)
    parts = {"train": pool.only(~held), "val": Samples.join([val, pool.only(held)]), "test": test}
    check_samples(definition.name, lists, parts)
    check_overlap(definition.name, parts)
    data_notes = [f"{data.name}: {note}" for data in opened.sources for note in data.notes]
    for note in dict.fromkeys(data_notes):
        warnings.warn(shown(note), OpenSetWarning, stacklevel=3)
    shape_notes = _shape_notes(opened.sources, _known_data(opened.sources, parts["train"]))
    return assemble(
        name=definition.name,
        title=definition.title,
        split=split,
        lists=lists,
        sources=opened.sources,
        parts=parts,
        notes=(*definition_notes(definition), *shape_notes, *dict.fromkeys(data_notes)),
    )


@dataclass(frozen=True)
class Learning:
    """What a training may see of a protocol: known and negative classes, and nothing to test on."""

    title: str
    lists: ClassLists
    sources: Sequence[Dataset]
    train: Samples
    val: Samples
    notes: tuple[str, ...]


def build_learning(
    definition: Definition, *, split: int = 0, data_root: str | Path | None = None, on_corrupt: str = "stop"
) -> Learning:
    """The samples to train and validate on, as `build` has them, without opening any part to test on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)
        opened = Opened(definition, data_root, on_corrupt, closed=("test",))
        lists = class_lists(definition, split, opened.class_names, unknown=False)
        for members in lists:
            opened.wanted.setdefault(members.data, set()).update(members.classes)
        pool, whole, val, _ = _shared_out(definition, lists, opened)
    held = _held_out(definition, pool, whole)
    notes = [f"{data.name}: {note}" for data in opened.sources for note in data.notes]
    train, val = pool.only(~held), Samples.join([val, pool.only(held)])
    return Learning(definition.title, lists, opened.sources, train, val, tuple(dict.fromkeys(notes)))


def definition_notes(definition: Definition) -> list[str]:
    """What the user should know about the lists themselves."""
    pairs = same_known(definition)
    if not pairs:
        return list(definition.notes)
    same = ", ".join(f"{a} = {b}" for a, b in pairs)
    return [
        *definition.notes,
        f"The published splits are kept as they are: splits {same} have the same known classes.",
    ]


def assemble(
    *,
    name: str,
    title: str,
    split: int,
    lists: ClassLists,
    sources: Sequence[Dataset],
    parts: dict[str, Samples],
    notes: Sequence[str],
) -> Protocol:
    """Put the pieces together; the fingerprint covers lists, split, data and the division into parts."""
    kinds = {data.kind == "features" for data in sources}
    if len(kinds) > 1:
        raise OpenSetError(f"{name}: feature vectors and images cannot be mixed in one protocol.")
    dimensions = {data.shape for data in sources if data.kind == "features"}
    if len(dimensions) > 1:
        found = " and ".join(str(shape[0]) for shape in sorted(dimensions) if shape)  # type: ignore[type-var]
        raise OpenSetError(f"{name}: the feature vectors differ in length ({found}).")
    grouped = any(members.group for members in lists)
    digest = hashlib.sha256()
    digest.update(json.dumps([split, [(members.role, members.group, members.classes) for members in lists]]).encode())
    digest.update(json.dumps([data.fingerprint for data in sources]).encode())
    for samples in parts.values():
        for column in (samples.source, samples.rows, samples.labels):
            digest.update(column.tobytes())
    shape = _known_data(sources, parts["train"]).shape
    titles = {key: words for data in sources for key, words in data.titles.items()}
    return Protocol(
        name=name,
        title=title,
        split=split,
        class_names=lists.known.classes,
        negative_classes=tuple(name for members in lists.negative for name in members.classes),
        unknown_classes=tuple(name for members in lists.unknown for name in members.classes),
        fingerprint=digest.hexdigest()[:16],
        notes=(*notes, *repeated_notes(sources, parts)),
        titles=titles,
        **{
            key: Part(
                labels=samples.labels,
                ids=samples.ids,
                open_classes=np.where(samples.labels < 0, samples.classes, ""),
                groups=np.where(samples.labels < 0, samples.groups, "") if grouped else None,
                sources=tuple(sources),
                source=samples.source,
                rows=samples.rows,
                shape=shape,
            )
            for key, samples in parts.items()
        },
    )


def _shared_out(definition: Definition, lists: ClassLists, opened: Opened) -> tuple[Samples, Mask, Samples, Samples]:
    """Samples to learn from; which of them come without others to validate on; those others; samples to test on."""
    pool: list[Samples] = []
    val: list[Samples] = []
    test: list[Samples] = []
    validated: set[str] = set()
    for members in lists:
        splits = opened.splits(members.data)
        learns = members.role != "unknown"
        if members.halves_of:
            first, second = _halves(opened.samples(members, members.halves_of))
            pool += [first] if learns else []
            test.append(second)
        elif splits == ("all",):
            every = opened.samples(members, "all")
            held = np.ones(len(every), dtype=np.bool_)
            if learns:
                held = held_out_by_hash(every.ids, every.classes, definition.test, "test")
                pool.append(every.only(~held))
            test.append(every.only(held))
        else:
            for needed in ("train", "test") if learns else ("test",):
                if needed not in (*splits, *opened.closed):
                    raise OpenSetError(
                        f"{definition.name}: {members.data} has no part '{needed}' on this machine, which its "
                        f"{members.role} classes need; it has {', '.join(splits)}."
                    )
            if "test" not in opened.closed:
                test.append(opened.samples(members, "test"))
            if learns:
                pool.append(opened.samples(members, "train"))
                if "val" in splits:
                    val.append(opened.samples(members, "val"))
                    validated |= {members.data} if len(val[-1]) else set()
    whole = [bool(members.halves_of) or members.data not in validated for members in (lists.known, *lists.negative)]
    lengths = [len(samples) for samples in pool]
    return Samples.join(pool), np.repeat(whole, lengths), Samples.join(val), Samples.join(test)


def _held_out(definition: Definition, pool: Samples, whole: Mask) -> Mask:
    """Which of the samples to learn from validate instead: a fraction of those whose data has no part for it."""
    held = np.zeros(len(pool), dtype=np.bool_)
    if whole.any():
        some = pool.only(whole)
        strata = np.char.add(np.char.add(some.source.astype(np.str_), "/"), some.classes)
        if definition.validation_by == "train_test_split":
            held[whole] = held_out_as_published(strata, definition.validation)
        else:
            held[whole] = held_out_by_hash(some.ids, strata, definition.validation, "validation")
    return held


def _halves(samples: Samples) -> tuple[Samples, Samples]:
    first = np.zeros(len(samples), dtype=np.bool_)
    for name in np.unique(samples.classes):
        rows = np.flatnonzero(samples.classes == name)
        first[rows[: len(rows) // 2]] = True
    return samples.only(first), samples.only(~first)


def _known_data(sources: Sequence[Dataset], train: Samples) -> Dataset:
    """The data that the known classes are learned from, which need not have been opened first."""
    return sources[next(iter(train.source[train.labels >= 0].tolist()), 0)]


def _shape_notes(sources: Sequence[Dataset], known: Dataset) -> list[str]:
    """Images of another size are brought to the shape of the known ones; the user should know."""
    if known.kind == "features":
        return []
    others = dict.fromkeys(
        f"Images of {data.name} ({'x'.join(map(str, data.shape)) if data.shape else 'various sizes'}) "
        f"are brought to {'x'.join(map(str, known.shape))} like those of {known.name}."
        for data in sources
        if known.shape is not None and data.shape != known.shape
    )
    return list(others)
