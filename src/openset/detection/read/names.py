"""Class names across data sets: which ones mean the same, and which classes look alike."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openset._io.json_files import read_json
from openset.errors import OpenSetError, did_you_mean

_SAME = {
    "airplane": "aeroplane",
    "plane": "aeroplane",
    "motorcycle": "motorbike",
    "couch": "sofa",
    "tv": "tvmonitor",
    "television": "tvmonitor",
    "bike": "bicycle",
}
"""A class's names in other data sets, and its name in Pascal VOC."""

_SIMILAR = (
    # Pascal VOC, as the error diagnosis of Hoiem et al. groups them
    "bird cat cow dog horse person sheep",
    "aeroplane boat bus car train bicycle motorbike",
    "bicycle motorbike",
    "chair diningtable sofa",
    "aeroplane bird",
    # COCO adds these classes to the same families and has families of its own
    "bird cat dog horse sheep cow elephant bear zebra giraffe person",
    "bicycle car motorbike aeroplane bus train truck boat",
    "chair sofa bed diningtable toilet bench",
    "tvmonitor laptop mouse remote keyboard cellphone",
    "microwave oven toaster sink refrigerator",
    "bottle wineglass cup fork knife spoon bowl vase",
    "banana apple sandwich orange broccoli carrot hotdog pizza donut cake",
    "backpack umbrella handbag tie suitcase",
    "frisbee skis snowboard sportsball kite baseballbat baseballglove skateboard surfboard tennisracket",
    "trafficlight firehydrant stopsign parkingmeter",
)


def plain(name: str) -> str:
    """A name without case, blanks, hyphens and underscores, and with data sets' differing words made one.

    Other signs stay, for they may be all that tells two classes apart.

    >>> plain("TV"), plain("tvmonitor"), plain("Potted_Plant"), plain("dining table"), plain("C#")
    ('tvmonitor', 'tvmonitor', 'pottedplant', 'diningtable', 'c#')
    """
    word = "".join(letter for letter in name.casefold() if not letter.isspace() and letter not in "-_") or name
    return _SAME.get(word, word)


def counted_from_zero(names: Sequence[str]) -> str:
    """Which number is which class, for a sentence.

    >>> counted_from_zero(["cat", "dog", "elk", "cow", "hen"])
    '0 cat, 1 dog, 2 elk, ..., 4 hen'
    """
    return counted_from(names, 0)


def counted_from(names: Sequence[str], first: int) -> str:
    """The same, from another first number."""
    wording = [f"{i} {name}" for i, name in enumerate(names, first)]
    return ", ".join(wording if len(wording) <= 4 else [*wording[:3], "...", wording[-1]])


class Names:
    """Class names to look others up in: the very name first, else the one that means the same."""

    def __init__(self, names: Iterable[str], source: str) -> None:
        self.names, self.source = list(names), source
        self._exact = {name: i for i, name in enumerate(self.names)}
        self._same: dict[str, list[int]] = {}
        for i, name in enumerate(self.names):
            self._same.setdefault(plain(name), []).append(i)

    def find(self, name: str) -> int | None:
        """Position of a class, or None; if several mean the same, none of them is taken silently."""
        if name in self._exact:
            return self._exact[name]
        same = self._same.get(plain(name), [])
        if len(same) > 1:
            choices = " or ".join(repr(self.names[i]) for i in same)
            raise OpenSetError(f"{name!r} may be {choices} of {self.source}: write the name as it is written there.")
        return same[0] if same else None


def is_unknown(name: str) -> bool:
    """Whether a class is the detector's own word for things it does not know, also in brackets or quotes."""
    letters = "".join(letter for letter in name.casefold() if letter.isalnum())
    return letters in {"unknown", "unknowns", "unknownobject"}


def similar_classes(names: Sequence[str], groups: Iterable[Iterable[str]] | None = None) -> NDArray[np.bool_]:
    """A table that says which classes look alike; `groups` of names, or the ones for VOC and COCO."""
    chosen = [group.split() for group in _SIMILAR] if groups is None else [list(group) for group in groups]
    words = [plain(name) for name in names]
    table = np.zeros((len(names), len(names)), dtype=bool)
    for group in chosen:
        alike = {plain(name) for name in group}
        members = [i for i, word in enumerate(words) if word in alike]
        table[np.ix_(members, members)] = True
    np.fill_diagonal(table, False)
    return table


def read_similar(path: str | Path, names: Sequence[str]) -> list[list[str]]:
    """Groups of classes that look alike, from a JSON file: a list of lists of names."""
    groups = read_json(path)
    if not isinstance(groups, list) or not all(
        isinstance(group, list) and all(isinstance(name, str) for name in group) for group in groups
    ):
        raise OpenSetError(f'{path} must be a list of lists of class names, such as [["cat", "dog"], ["car", "bus"]].')
    for name in (name for group in groups for name in group):
        if plain(name) not in {plain(known) for known in names}:
            raise OpenSetError(f"{path}: there is no known class {name!r}. {did_you_mean(name, names)}")
    return groups
