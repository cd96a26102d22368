"""The second pass: rows sorted part by part on disk, then each range of scores counted by itself, exactly.

What lies below a range is known from the counts of all parts, so ranges can be counted in any order, on any machine,
and what they contribute to a metric adds up to the very bits that all rows in memory would give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.folds import Fold
from openset._core.kinds import FIRST_OPEN, OpenKind, chosen_kinds
from openset._io.atomic import replacing
from openset._io.passing import read_passing, write_passing
from openset.errors import OpenSetError
from openset.scale.cells import CellPieces, cut_cells
from openset.scale.counting import Counted, Plan
from openset.scale.rows import Rows
from openset.scale.states import RangeStates, Totals

Ints = NDArray[np.int64]
RANGE_ROWS = 1 << 21
"""Rows of a range, about."""
_ENTRY = 32  # bits for kind and prediction
_LONG = np.dtype([("key", np.uint64), ("entry", np.uint32)])


@dataclass(frozen=True, eq=False)
class Ranges:
    """Where ranges of scores begin, and how rows are written down in between.

    Of a row are kept its score and its entry: kind and predicted class. The label of a misclassified known is not
    needed any more: how many knowns each class has is known from the counts.
    """

    borders: NDArray[np.uint64]
    """Smallest key of every range but the first."""
    starts: Ints
    """First bin of every range, and how many bins there are."""
    kinds: tuple[OpenKind, ...]
    n_classes: int
    width: int

    @classmethod
    def planned(cls, counted: Counted, plan: Plan, n_classes: int, rows: int = RANGE_ROWS) -> "Ranges":
        """Ranges of about so many rows; a bin is never divided."""
        passed = np.cumsum(counted.fine.sum(axis=1))
        after = np.searchsorted(passed, np.arange(rows, int(passed[-1]), rows), side="left") + 1
        inner = np.unique(after[after < len(passed)])
        found = cls(
            plan.bins.least_keys()[inner],
            np.concatenate(([0], inner, [len(passed)])),
            counted.kinds,
            n_classes,
            plan.bins.width,
        )
        if found.n_kinds << found.class_bits > 1 << _ENTRY:
            raise OpenSetError(
                f"{n_classes:,} classes and {len(counted.kinds):,} kinds of open-set samples are too many for exact "
                "values: use --bounds."
            )
        return found

    @property
    def n(self) -> int:
        """How many."""
        return len(self.borders) + 1

    @property
    def n_kinds(self) -> int:
        """Right and wrong knowns, and open kinds."""
        return FIRST_OPEN + len(self.kinds)

    @property
    def class_bits(self) -> int:
        """Bits of the predicted class in an entry."""
        return (self.n_classes - 1).bit_length()

    @property
    def short(self) -> bool:
        """Whether score and entry fit into 64 bits."""
        return self.width == _ENTRY

    @property
    def dtype(self) -> np.dtype[Any]:
        """How a row is written."""
        return np.dtype(np.uint64) if self.short else _LONG

    def packed(self, rows: Rows) -> NDArray[Any]:
        """Rows in the order of their scores."""
        places = [0, 1, *(FIRST_OPEN + self.kinds.index(one) if one in self.kinds else 0 for one in rows.kinds)]
        entries = np.array(places, dtype=np.uint64) << np.uint64(self.class_bits)
        packed = np.empty(len(rows), dtype=np.uint64)
        for run in sorting.runs(len(rows)):
            entry = entries.take(rows.kind(run))
            entry |= rows.prediction[run].astype(np.uint64)
            if self.short:
                entry |= sorting.order_keys(rows.score[run]).astype(np.uint64) << np.uint64(_ENTRY)
            packed[run] = entry
        if self.short:
            packed.sort()
            return packed
        keys = sorting.order_keys(rows.score)
        order = np.argsort(keys, kind="stable")
        long = np.empty(len(rows), dtype=_LONG)
        long["key"], long["entry"] = keys[order], packed[order]
        return long

    def cut(self, packed: NDArray[Any]) -> Ints:
        """Where each range begins among sorted rows, and where the last one ends."""
        if self.short:
            inner = np.searchsorted(packed, self.borders << np.uint64(_ENTRY))
        else:
            inner = np.searchsorted(packed["key"], self.borders)
        return np.concatenate(([0], inner, [len(packed)]))

    def keys(self, packed: NDArray[Any]) -> NDArray[Any]:
        """Keys of the scores."""
        if self.short:
            return np.asarray((packed >> np.uint64(_ENTRY)).astype(np.uint32))
        return np.ascontiguousarray(packed["key"])

    def entries(self, packed: NDArray[Any]) -> Ints:
        """Kinds and predicted classes, as places in a table."""
        if self.short:
            return np.asarray((packed & np.uint64((1 << _ENTRY) - 1)).view(np.int64))
        return np.asarray(packed["entry"].astype(np.int64))

    def table(self, entries: Ints) -> Ints:
        """(kinds, K) how many there are of each."""
        counts = np.bincount(entries, minlength=self.n_kinds << self.class_bits)
        return counts.reshape(self.n_kinds, -1)[:, : self.n_classes]


def sort_part(rows: Rows, ranges: Ranges, file: Path) -> tuple[Ints, Ints]:
    """Write the rows of a part in the order of their scores.

    Returns where each range begins in it, with the end, and (ranges, kinds, K) its rows by predicted class.
    """
    packed = ranges.packed(rows)
    cuts = ranges.cut(packed)
    classes = np.zeros((ranges.n, ranges.n_kinds, ranges.n_classes), dtype=np.int64)
    for number, (start, stop) in enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)):
        for run in sorting.runs(stop - start):
            classes[number] += ranges.table(ranges.entries(packed[start:stop][run]))
    try:
        with replacing(file) as temporary:
            write_passing(temporary, packed)
    except OpenSetError as error:
        raise OpenSetError(f"{error} Name another folder with --temp, or use --bounds, which needs none.") from error
    return cuts, classes


@dataclass(frozen=True, eq=False)
class RangeTask:
    """A range to be counted: everything a worker needs."""

    number: int
    parts: tuple[tuple[str, int, int], ...]
    """From each part: its file, the first row and how many."""
    below: Ints
    """(kinds, K) rows of lower ranges."""
    wanted: tuple[int, ...]
    """Which folds the range can matter to."""


def gather_range(task: RangeTask, ranges: Ranges) -> NDArray[Any]:
    """All rows of a range, in the order of their scores."""
    pieces = [np.empty(0, dtype=ranges.dtype)]
    for file, first, rows in task.parts:
        if rows:
            piece = read_passing(file, ranges.dtype, first, rows)
            if len(piece) != rows:
                raise OpenSetError(f"{file}, a temporary file, is cut off: run the command again.")
            pieces.append(piece)
    packed = np.concatenate(pieces)
    if ranges.short:
        packed.sort()
        return packed
    return np.asarray(packed[np.argsort(packed["key"], kind="stable")])


def fold_range(
    task: RangeTask, ranges: Ranges, totals: Totals, asked: Sequence[tuple[Fold, str]], passed: Ints | None
) -> tuple[list[Any], CellPieces | None]:
    """What the range contributes to each fold that it can matter to; None to the others.

    With `passed`, also its part of the cells from which resamples are drawn.
    """
    packed = gather_range(task, ranges)
    found: list[Any] = [None] * len(asked)
    if not len(packed):
        return found, None
    keys, entries = ranges.keys(packed), ranges.entries(packed)
    del packed
    states = _states(task, ranges, totals, keys, entries)
    for against in dict.fromkeys(against for _, against in asked):
        counts = states.against(chosen_kinds(ranges.kinds, against))
        places = [place for place in task.wanted if asked[place][1] == against]
        parts: list[list[Any]] = [[] for _ in places]
        for run in counts.windows():
            for own, place in zip(parts, places, strict=True):
                own.append(asked[place][0].part(run))
        for own, place in zip(parts, places, strict=True):
            found[place] = asked[place][0].join(own)
    if passed is None:
        return found, None
    return found, cut_cells(keys, entries, int(task.below.sum()), passed, ranges.table)


def _states(task: RangeTask, ranges: Ranges, totals: Totals, keys: NDArray[Any], entries: Ints) -> RangeStates:
    kind = np.empty(len(keys), dtype=np.min_scalar_type(ranges.n_kinds - 1))
    prediction = np.empty(len(keys), dtype=np.min_scalar_type(ranges.n_classes - 1))  # NumPy groups short ones faster
    for run in sorting.runs(len(keys)):
        kind[run] = entries[run] >> ranges.class_bits
        prediction[run] = entries[run] & ((1 << ranges.class_bits) - 1)
    threshold = -np.inf
    if task.number:  # between the scores of this range and those of the one before
        key = np.array([int(ranges.borders[task.number - 1]) - 1]).astype(keys.dtype)
        threshold = float(sorting.scores_of_keys(key)[0])
    return RangeStates(keys, kind, prediction, task.below, threshold, totals)
