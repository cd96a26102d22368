"""Counts of rows that add up: the counts of two parts are those of both, in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.cells import Cells, cell_ends, cells_for
from openset._core.checks import UNKNOWN, Bools
from openset._core.fingerprint import fingerprint
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, OpenKind
from openset.scale.bins import Bins
from openset.scale.rows import Rows

Ints = NDArray[np.int64]
_TABLE = 1 << 18
"""Entries of the table of classes, about."""
_BLOCK = 1 << 20  # rows whose places are kept before they are counted


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are counted: in fine bins by kind, and in coarse bins, runs of fine ones, by kind and class."""

    bins: Bins
    coarse: NDArray[np.int64]
    """Which coarse bin each fine one belongs to."""

    @classmethod
    def fitted(cls, samples: Sequence[Rows]) -> "Plan":
        """To some of the rows, whichever: the counts of any others are as correct, only less fine."""
        score = np.concatenate([rows.score for rows in samples])
        n_classes = 1 + max(int(max(rows.label.max(), rows.prediction.max())) for rows in samples)
        n_kinds = FIRST_OPEN + len({kind for rows in samples for kind in rows.kinds})
        bins = Bins.fitted(score)
        number = bins.place(sorting.order_keys(score))[0]
        passed = np.cumsum(np.bincount(number, minlength=bins.n))
        wanted = max(1, _TABLE // (n_kinds * n_classes))
        coarse = (passed - 1) * wanted // len(score)
        return cls(bins, np.unique(np.maximum(coarse, 0), return_inverse=True)[1].astype(np.int64))

    @property
    def n_coarse(self) -> int:
        """How many coarse bins."""
        return int(self.coarse[-1]) + 1


@dataclass(frozen=True, eq=False)
class Counted:
    """What is kept of any number of rows."""

    kinds: tuple[OpenKind, ...]
    fine: Ints
    """(bins, kinds): right, wrong, then open kinds."""
    lowest: NDArray[Any]
    highest: NDArray[Any]
    """Of the bits after the prefix in each bin: equal where all samples of it have one score."""
    classes: Ints
    """(coarse bins, kinds, K) by predicted class."""
    class_totals: Ints
    """(K,) knowns of each class."""

    def __add__(self, other: "Counted") -> "Counted":
        kinds = tuple(sorted({*self.kinds, *other.kinds}, key=lambda kind: (kind.group, -kind.label)))
        n_classes = max(len(self.class_totals), len(other.class_totals))
        first, second = self._wider(kinds, n_classes), other._wider(kinds, n_classes)
        return Counted(
            kinds,
            first.fine + second.fine,
            np.minimum(first.lowest, second.lowest),
            np.maximum(first.highest, second.highest),
            first.classes + second.classes,
            first.class_totals + second.class_totals,
        )

    def _wider(self, kinds: tuple[OpenKind, ...], n_classes: int) -> "Counted":
        """The same counts with room for more kinds and classes."""
        if kinds == self.kinds and n_classes == len(self.class_totals):
            return self
        places = [RIGHT, WRONG, *(FIRST_OPEN + kinds.index(kind) for kind in self.kinds)]
        fine = np.zeros((len(self.fine), FIRST_OPEN + len(kinds)), dtype=np.int64)
        fine[:, places] = self.fine
        classes = np.zeros((len(self.classes), fine.shape[1], n_classes), dtype=np.int64)
        classes[:, places, : self.classes.shape[2]] = self.classes
        totals = np.zeros(n_classes, dtype=np.int64)
        totals[: len(self.class_totals)] = self.class_totals
        return Counted(kinds, fine, self.lowest, self.highest, classes, totals)

    def settled(self, n_classes: int) -> "Counted":
        """Of all rows: with the kinds of open-set samples that there are alone, and with K classes."""
        wide = self._wider(self.kinds, max(n_classes, len(self.class_totals)))
        there = np.asarray(wide.fine.any(axis=0))
        there[:FIRST_OPEN] = True
        kinds = tuple(kind for kind, kept in zip(wide.kinds, there[FIRST_OPEN:], strict=True) if kept)
        totals = wide.class_totals
        return Counted(kinds, wide.fine[:, there], wide.lowest, wide.highest, wide.classes[:, there], totals)

    @property
    def n_classes(self) -> int:
        """K, as far as labels and predictions tell."""
        return len(self.class_totals)

    @cached_property
    def n_rows(self) -> int:
        """All rows."""
        return int(self.fine.sum())

    def total(self, label: int) -> int:
        """Open-set samples of a label."""
        return int(self.fine[:, FIRST_OPEN:][:, [kind.label == label for kind in self.kinds]].sum())

    @cached_property
    def tied(self) -> Bools:
        """Which bins hold one score alone, or nothing."""
        return np.asarray(self.lowest >= self.highest)

    def fingerprint(self, plan: Plan) -> str:
        """Changes when any count does."""
        used = np.flatnonzero(self.fine.any(axis=1))
        return fingerprint(
            [plan.bins.least_keys()[used], self.fine[used], self.lowest[used], self.highest[used], self.class_totals]
        )

    def coarse_tied(self, plan: Plan) -> Bools:
        """Which coarse bins hold one score alone, or nothing."""
        used = self.fine.any(axis=1)
        several = np.bincount(plan.coarse, weights=used, minlength=plan.n_coarse) > 1
        mixed = np.bincount(plan.coarse, weights=used & ~self.tied, minlength=plan.n_coarse) > 0
        return np.asarray(~(several | mixed))

    @cached_property
    def cell_starts(self) -> NDArray[np.intp]:
        """The first coarse bin of each cell from which resamples are drawn."""
        passed = np.cumsum(self.classes.sum(axis=(1, 2)))
        wanted = cell_ends(int(passed[-1]), cells_for(self.n_classes, FIRST_OPEN + len(self.kinds)))
        first = np.unique(np.append(0, np.searchsorted(passed, wanted, side="left")[:-1] + 1))
        return first[first < len(passed)]

    def cells(self, plan: Plan) -> Cells:
        """Coarse bins, put together as far as resamples need."""
        first = self.cell_starts
        counts = np.add.reduceat(self.classes, first, axis=0)
        used = self.classes.any(axis=(1, 2))
        tied = np.logical_and.reduceat(self.coarse_tied(plan), first) & (np.add.reduceat(used.astype(int), first) <= 1)
        unknown = np.full(len(counts), np.nan)  # where cells end only the rows tell
        return Cells(counts, self.kinds, self.class_totals, tied, unknown)


def count_rows(rows: Rows, plan: Plan) -> Counted:
    """Count some rows."""
    n_kinds = FIRST_OPEN + len(rows.kinds)
    n_classes = 1 + int(max(rows.label.max(), rows.prediction.max(), 0))
    fine = np.zeros(plan.bins.n * n_kinds, dtype=np.int64)
    table = np.zeros(plan.n_coarse * n_kinds * n_classes, dtype=np.int64)
    labels = np.zeros(n_classes - UNKNOWN, dtype=np.int64)
    spread = _Spread(plan.bins)
    coarse = (plan.coarse * (n_kinds * n_classes)).astype(np.int32)
    for block in range(0, len(rows), _BLOCK):
        n = min(_BLOCK, len(rows) - block)
        entry, cell = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        for start in range(0, n, sorting.CHUNK):  # fits the cache
            here = slice(start, min(start + sorting.CHUNK, n))
            run = slice(block + here.start, block + here.stop)
            kind = rows.kind(run)
            number, rest = plan.bins.place(sorting.order_keys(rows.score[run]))
            spread.widen(number, rest)
            labels += np.bincount(rows.label[run] - UNKNOWN, minlength=len(labels))
            place = coarse.take(number)
            number *= n_kinds
            np.add(number, kind, out=entry[here])
            kind *= n_classes
            place += kind
            np.add(place, rows.prediction[run], out=cell[here])
        fine += np.bincount(entry, minlength=len(fine))
        table += np.bincount(cell, minlength=len(table))
    classes = table.reshape(plan.n_coarse, n_kinds, n_classes)
    return Counted(
        rows.kinds, fine.reshape(-1, n_kinds), spread.lowest, spread.highest, classes, labels[-UNKNOWN:].copy()
    )


class _Spread:
    """Smallest and largest score in each bin, as the bits after the prefix."""

    def __init__(self, bins: Bins) -> None:
        word = np.uint16 if bins.width == 32 else np.uint64
        self.lowest: NDArray[Any] = np.full(bins.n, np.iinfo(word).max, dtype=word)
        self.highest: NDArray[Any] = np.zeros(bins.n, dtype=word)
        self._several = np.zeros(bins.n, dtype=np.bool_)

    def widen(self, number: NDArray[Any], rest: NDArray[Any]) -> None:
        """By scores with these bits in these bins. Bins that are known to hold several scores stay as they are."""
        new = np.flatnonzero(~self._several.take(number))
        if len(new):
            places, rest = number[new], rest[new]
            np.minimum.at(self.lowest, places, rest)
            np.maximum.at(self.highest, places, rest)
            self._several[places] = self.lowest[places] < self.highest[places]
