"""Counts of rows that add up: the counts of two parts are those of both, in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.cells import CellCounts, Cells, cell_ends, cells_for
from openset._core.checks import Bools
from openset._core.fingerprint import fingerprint
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, OpenKind, chosen_kinds
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

    def cells(self, plan: Plan) -> Cells:
        """Coarse bins, put together as far as resamples need."""
        passed = np.cumsum(self.classes.sum(axis=(1, 2)))
        wanted = cell_ends(int(passed[-1]), cells_for(self.n_classes, FIRST_OPEN + len(self.kinds)))
        first = np.unique(np.append(0, np.searchsorted(passed, wanted, side="left")[:-1] + 1))
        first = first[first < len(passed)]
        counts = np.add.reduceat(self.classes, first, axis=0)
        used = self.classes.any(axis=(1, 2))
        tied = np.logical_and.reduceat(self.coarse_tied(plan), first) & (np.add.reduceat(used.astype(int), first) <= 1)
        unknown = np.full(len(counts), np.nan)  # where cells end only the rows tell
        return Cells(counts, self.kinds, self.class_totals, tied, unknown)

    def orders(self, plan: Plan, *, per_class: bool, predicted: bool) -> "Orders":
        """The best and the worst possible order of the samples inside the bins.

        `per_class`: with counts of every class, in coarse bins. Not `predicted`: right and misclassified knowns are
        alike.
        """
        counts = self.classes if per_class else self.fine[:, :, None]
        tied = self.coarse_tied(plan) if per_class else self.tied
        if not predicted:
            counts = counts.copy()
            counts[:, RIGHT] += counts[:, WRONG]
            counts[:, WRONG] = 0
        used = counts.any(axis=(1, 2))
        counts, tied = counts[used], tied[used]
        best, worst = (ordered(counts, tied, best=best) for best in (True, False))
        return Orders(best, worst, np.repeat(tied, 3), self.kinds, self.class_totals)


@dataclass(frozen=True, eq=False)
class Orders:
    """Accepted samples along the best and the worst order: see `ordered`."""

    best: Ints
    worst: Ints
    tied: Bools
    kinds: tuple[OpenKind, ...]
    class_totals: Ints

    def against(self, against: str) -> tuple[CellCounts, CellCounts]:
        """Counts along the best and along the worst order."""
        chosen, n_classes = chosen_kinds(self.kinds, against), len(self.class_totals)
        best, worst = (
            CellCounts(states, chosen, self.class_totals, n_classes, self.tied) for states in (self.best, self.worst)
        )
        return best, worst


def ordered(counts: Ints, tied: Bools, *, best: bool) -> Ints:
    """(3 bins + 1, kinds, K) accepted samples, where a bin is passed in three steps.

    At best correct knowns come first, then wrong ones, then open-set samples; at worst the other way round. In a bin of
    one score all come together, at the third step.
    """
    n, n_kinds, n_classes = counts.shape
    steps = np.zeros((n, 3, n_kinds, n_classes), dtype=np.int64)
    blocks = [slice(RIGHT, WRONG), slice(WRONG, FIRST_OPEN), slice(FIRST_OPEN, None)]
    for place, block in enumerate(blocks if best else blocks[::-1]):
        steps[~tied, place, block] = counts[~tied, block]
    steps[tied, 2] = counts[tied]
    states = np.zeros((3 * n + 1, n_kinds, n_classes), dtype=np.int64)
    np.cumsum(steps.reshape(3 * n, n_kinds, n_classes), axis=0, out=states[1:])
    return states


def count_rows(rows: Rows, plan: Plan) -> Counted:
    """Count some rows."""
    n_kinds = FIRST_OPEN + len(rows.kinds)
    n_classes = 1 + int(max(rows.label.max(), rows.prediction.max(), 0))
    fine = np.zeros(plan.bins.n * n_kinds, dtype=np.int64)
    table = np.zeros(plan.n_coarse * n_kinds * n_classes, dtype=np.int64)
    missed = np.zeros(n_classes, dtype=np.int64)
    word = np.uint16 if plan.bins.width == 32 else np.uint64
    lowest: NDArray[Any] = np.full(plan.bins.n, np.iinfo(word).max, dtype=word)
    highest: NDArray[Any] = np.zeros(plan.bins.n, dtype=word)
    several = np.zeros(plan.bins.n, dtype=np.bool_)  # bins that are known to hold more than one score
    coarse = (plan.coarse * (n_kinds * n_classes)).astype(np.int32)
    for block in range(0, len(rows), _BLOCK):
        n = min(_BLOCK, len(rows) - block)
        entry, cell = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        for start in range(0, n, sorting.CHUNK):  # fits the cache
            here = slice(start, min(start + sorting.CHUNK, n))
            run = slice(block + here.start, block + here.stop)
            kind = rows.kind(run)
            number, rest = plan.bins.place(sorting.order_keys(rows.score[run]))
            new = np.flatnonzero(~several.take(number))
            if len(new):
                places, rest = number[new], rest[new]
                np.minimum.at(lowest, places, rest)
                np.maximum.at(highest, places, rest)
                several[places] = lowest[places] < highest[places]
            missed += np.bincount(rows.label[run][kind == WRONG], minlength=n_classes)
            place = coarse.take(number)
            number *= n_kinds
            number += kind
            entry[here] = number
            kind *= n_classes
            place += kind
            place += rows.prediction[run]
            cell[here] = place
        fine += np.bincount(entry, minlength=len(fine))
        table += np.bincount(cell, minlength=len(table))
    classes = table.reshape(plan.n_coarse, n_kinds, n_classes)
    totals = classes[:, RIGHT].sum(axis=0) + missed
    return Counted(rows.kinds, fine.reshape(-1, n_kinds), lowest, highest, classes, totals)
