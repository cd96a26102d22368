"""Samples of any number of data sets as columns, and the checks that a protocol makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE, UNKNOWN
from openset.errors import OpenSetError
from openset.protocols.classes import ClassLists

OPEN = {"negative": NEGATIVE, "unknown": UNKNOWN}


@dataclass(frozen=True)
class Samples:
    """Columns that describe samples of any number of data sets."""

    source: NDArray[np.int64]
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    ids: NDArray[np.str_]
    classes: NDArray[np.str_]
    groups: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, chosen: NDArray[np.bool_]) -> "Samples":
        """The samples for which `chosen` holds."""
        return Samples(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @staticmethod
    def join(pieces: Sequence["Samples"]) -> "Samples":
        """All samples of all pieces; of none, none."""
        fields = Samples.__dataclass_fields__
        if not pieces:
            numbers, words = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.str_)
            return Samples(numbers, numbers, numbers, words, words, words)
        return Samples(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in fields))


def check_samples(name: str, lists: ClassLists, parts: dict[str, Samples]) -> None:
    """Every class has samples wherever it is needed."""
    for members in lists:
        for part in {"known": ("train", "val", "test"), "negative": ("train", "test"), "unknown": ("test",)}[
            members.role
        ]:
            label = parts[part].labels
            mine = parts[part].classes[label >= 0 if members.role == "known" else label == OPEN[members.role]]
            missing = next((one for one in members.classes if one not in set(mine.tolist())), None)
            if missing is not None:
                total = sum(int((samples.classes == missing).sum()) for samples in parts.values())
                raise OpenSetError(
                    f"{name}: {members.role} class '{missing}' of {members.data} has no samples for {part} "
                    f"({total} in all): add some, or leave the class out."
                )


def check_overlap(name: str, parts: dict[str, Samples]) -> None:
    """No sample is in two parts, ids are unique, and unknowns are only in the test."""
    seen: dict[str, str] = {}
    for part, samples in parts.items():
        for one in samples.ids.tolist():
            before = seen.setdefault(one, part)
            if before != part:
                raise OpenSetError(f"{name}: {one} is in {before} and in {part}; a sample belongs to one part.")
    if len(seen) < sum(len(samples) for samples in parts.values()):
        raise OpenSetError(f"{name}: some samples have the same id; ids must be unique.")
    if (parts["train"].labels == UNKNOWN).any() or (parts["val"].labels == UNKNOWN).any():
        raise OpenSetError(f"{name}: unknown samples must not be in train or val.")
