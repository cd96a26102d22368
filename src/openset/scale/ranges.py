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
from openset._core.checks import Bools
from openset._core.counts import Below, Counts, Ranking
from openset._core.folds import Fold
from openset._core.kinds import FIRST_OPEN, RIGHT, OpenKind, chosen_kinds
from openset._io.atomic import replacing
from openset.errors import OpenSetError
from openset.scale.cells import CellPieces, cut_cells
from openset.scale.counting import Counted, Plan
from openset.scale.rows import Rows

Ints = NDArray[np.int64]
RANGE_ROWS = 1 << 21
"""Rows of a range, about."""
_FIELD = 16  # bits of a label and of a prediction that travel with a float32
_LONG = np.dtype([("key", np.uint64), ("code", np.int32), ("prediction", np.int32)])


@dataclass(frozen=True, eq=False)
class Ranges:
    """Where ranges of scores begin, and how rows are written down in between."""

    borders: NDArray[np.uint64]
    """Smallest key of every range but the first."""
    kinds: tuple[OpenKind, ...]
    n_classes: int
    width: int

    @classmethod
    def planned(cls, counted: Counted, plan: Plan, n_classes: int, rows: int = RANGE_ROWS) -> "Ranges":
        """Ranges of about so many rows; a bin is never divided."""
        passed = np.cumsum(counted.fine.sum(axis=1))
        after = np.searchsorted(passed, np.arange(rows, int(passed[-1]), rows), side="left") + 1
        starts = np.unique(after[after < len(passed)])
        return cls(plan.bins.least_keys()[starts], counted.kinds, n_classes, plan.bins.width)

    @property
    def n(self) -> int:
        """How many."""
        return len(self.borders) + 1

    @property
    def short(self) -> bool:
        """Whether score, label and prediction fit into 64 bits."""
        return self.width == 32 and self.n_classes + len(self.kinds) < 1 << _FIELD

    @property
    def dtype(self) -> np.dtype[Any]:
        """How a row is written."""
        return np.dtype(np.uint64) if self.short else _LONG

    def packed(self, rows: Rows) -> NDArray[Any]:
        """Rows in the order of their scores. The code is the number of an open kind, or, after these, of a class."""
        kind = rows.kind(slice(None))
        places = np.array([0, 0, *(self.kinds.index(one) if one in self.kinds else 0 for one in rows.kinds)])
        code = np.where(kind < FIRST_OPEN, rows.label + np.int32(len(self.kinds)), places[kind])
        keys = sorting.order_keys(rows.score)
        if self.short:
            packed = keys.astype(np.uint64) << np.uint64(2 * _FIELD)
            packed |= code.astype(np.uint64) << np.uint64(_FIELD)
            packed |= rows.prediction.astype(np.uint64)
            packed.sort()
            return packed
        order = np.argsort(keys, kind="stable")
        long = np.empty(len(rows), dtype=_LONG)
        long["key"], long["code"], long["prediction"] = keys[order], code[order], rows.prediction[order]
        return long

    def cut(self, packed: NDArray[Any]) -> Ints:
        """Where each range begins among sorted rows, and where the last one ends."""
        if self.short:
            inner = np.searchsorted(packed, self.borders << np.uint64(2 * _FIELD))
        else:
            inner = np.searchsorted(packed["key"], self.borders)
        return np.concatenate(([0], inner, [len(packed)]))

    def unpacked(self, packed: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Keys, codes and predictions."""
        if self.short:
            mask = np.uint64((1 << _FIELD) - 1)
            keys = (packed >> np.uint64(2 * _FIELD)).astype(np.uint32)
            code = (packed >> np.uint64(_FIELD) & mask).astype(np.int32)
            return keys, code, (packed & mask).astype(np.int32)
        keys = packed["key"].astype(np.uint32 if self.width == 32 else np.uint64)
        return keys, packed["code"], packed["prediction"]

    def kind_of(self, code: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
        """Kind of each row: right, wrong, then open kinds."""
        known = code >= len(self.kinds)
        return np.where(known, code != prediction + len(self.kinds), code + FIRST_OPEN)


def sort_part(rows: Rows, ranges: Ranges, file: Path) -> tuple[Ints, Ints]:
    """Write the rows of a part in the order of their scores.

    Returns where each range begins in it, with the end, and (ranges, kinds, K) its rows by predicted class.
    """
    packed = ranges.packed(rows)
    cuts = ranges.cut(packed)
    _, code, prediction = ranges.unpacked(packed)
    kind = ranges.kind_of(code, prediction)
    n_kinds = FIRST_OPEN + len(ranges.kinds)
    classes = np.zeros((ranges.n, n_kinds * ranges.n_classes), dtype=np.int64)
    entry = kind * ranges.n_classes + prediction
    for number, (start, stop) in enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)):
        classes[number] = np.bincount(entry[start:stop], minlength=classes.shape[1])
    with replacing(file) as temporary:
        packed.tofile(temporary)
    return cuts, classes.reshape(ranges.n, n_kinds, ranges.n_classes)


@dataclass(frozen=True, eq=False)
class RangeTask:
    """A range to be counted: everything a worker needs."""

    number: int
    parts: tuple[tuple[str, int, int], ...]
    """From each part: its file, the first row and how many."""
    below: Ints
    """(kinds, K) rows of lower ranges."""


def gather_range(task: RangeTask, ranges: Ranges) -> NDArray[Any]:
    """All rows of a range, in the order of their scores."""
    pieces = [np.empty(0, dtype=ranges.dtype)]
    for file, first, rows in task.parts:
        if rows:
            piece = np.fromfile(file, dtype=ranges.dtype, count=rows, offset=first * ranges.dtype.itemsize)
            if len(piece) != rows:
                raise OpenSetError(f"{file}, a temporary file, is cut off: run the command again.")
            pieces.append(piece)
    packed = np.concatenate(pieces)
    if ranges.short:
        packed.sort()
        return packed
    return np.asarray(packed[np.argsort(packed["key"], kind="stable")])


def fold_range(
    task: RangeTask,
    ranges: Ranges,
    totals: Ints,
    class_totals: Ints,
    asked: Sequence[tuple[Fold, str]],
    passed: Ints | None,
) -> tuple[list[Any], CellPieces | None]:
    """What the range contributes to each fold; None where it has no sample that the fold looks at.

    With `passed`, also its part of the cells from which resamples are drawn.
    """
    packed = gather_range(task, ranges)
    found: list[Any] = [None] * len(asked)
    if not len(packed):
        return found, None
    keys, code, prediction = ranges.unpacked(packed)
    del packed
    n_open = len(ranges.kinds)
    known = code >= n_open
    labels = np.array([kind.label for kind in ranges.kinds])
    word = np.int16 if ranges.n_classes < 1 << 15 else np.int32  # NumPy groups short numbers much faster
    label = np.where(known, code - n_open, labels[np.minimum(code, n_open - 1)]).astype(word)
    prediction = prediction.astype(word)
    no_order = np.empty(len(keys), dtype=np.uint8)  # which rows of the input they are is not known any more
    ranking = Ranking(sorting.scores_of_keys(keys), label, prediction, ranges.n_classes, no_order)  # type: ignore[arg-type]
    for against in dict.fromkeys(against for _, against in asked):
        chosen = chosen_kinds(ranges.kinds, against)
        only = ranking if chosen.all() else ranking.only(known | chosen[np.minimum(code, n_open - 1)])
        if not len(only.label):
            continue
        counts = Counts(only, below=_below(task, ranges, chosen, totals, class_totals, keys.dtype))
        places = [place for place, (_, where) in enumerate(asked) if where == against]
        parts: list[list[Any]] = [[] for _ in places]
        for run in counts.windows():
            for own, place in zip(parts, places, strict=True):
                own.append(asked[place][0].part(run))
        for own, place in zip(parts, places, strict=True):
            found[place] = asked[place][0].join(own)
    if passed is None:
        return found, None
    kind = ranges.kind_of(code, prediction)
    shape = FIRST_OPEN + n_open, ranges.n_classes
    return found, cut_cells(keys, kind, prediction, int(task.below.sum()), passed, shape)


def _below(
    task: RangeTask, ranges: Ranges, chosen: Bools, totals: Ints, class_totals: Ints, dtype: np.dtype[Any]
) -> Below:
    """What lies below a range, of the knowns and the open-set samples that are looked at."""
    looked_at = np.concatenate(([True, True], chosen))
    taken = task.below[looked_at].sum(axis=0)
    threshold = -np.inf
    if task.number:  # between the scores of this range and those of the one before
        key = np.array([int(ranges.borders[task.number - 1]) - 1]).astype(dtype)
        threshold = float(sorting.scores_of_keys(key)[0])
    return Below(
        threshold=threshold,
        accepted=int(taken.sum()),
        open=int(task.below[FIRST_OPEN:][chosen].sum()),
        right=int(task.below[RIGHT].sum()),
        hits=task.below[RIGHT],
        taken=taken,
        n_samples=int(totals[looked_at].sum()),
        n_open=int(totals[FIRST_OPEN:][chosen].sum()),
        class_totals=class_totals,
    )
