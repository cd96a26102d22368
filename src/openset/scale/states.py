"""What is accepted along the thresholds of one range of scores: counted once, for every `against` and every metric."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.checks import Bools, Floats
from openset._core.counts import Tally, windows_of
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG
from openset._core.macro import (
    Below,
    ClassRatios,
    along_classes,
    by_class,
    changing_steps,
    class_steps,
    mean_after,
)

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
_FIELD = 16  # bits of a running count inside a run of rows, of which a word holds several
_FIELDS = 64 // _FIELD
assert 1 << _FIELD > sorting.CHUNK


@dataclass(frozen=True, eq=False)
class Totals:
    """How many rows there are in all."""

    kinds: Ints
    """(kinds,) of each kind."""
    classes: Ints
    """(K,) knowns of each class."""


@dataclass(frozen=True, eq=False)
class RangeStates:
    """The rows of a range in the order of their scores, and all that lies below them."""

    keys: NDArray[Any]
    kind: NDArray[np.uint8]
    prediction: NDArray[Any]
    below: Ints
    """(kinds, K) rows of lower ranges, by predicted class."""
    threshold: float
    """Any score above all lower ranges and under this one."""
    totals: Totals

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """Place of the last row of each distinct score."""
        last = np.empty(len(self.keys), dtype=np.bool_)
        np.not_equal(self.keys[1:], self.keys[:-1], out=last[:-1])
        last[-1] = True
        return np.flatnonzero(last)

    @cached_property
    def thresholds(self) -> Floats:
        """What lies between the lower ranges and this one, then every distinct score."""
        scores = sorting.scores_of_keys(self.keys[self.ends])
        return np.append(np.array([self.threshold], dtype=scores.dtype), scores)

    @cached_property
    def accepted(self) -> Array:
        """(kinds, thresholds) rows accepted of each kind.

        Inside a run of rows several counts travel in one word, so that one sum counts several kinds.
        """
        n_kinds = len(self.below)
        ends, n = self.ends, len(self.kind)
        total = self.below.sum(axis=1)
        out = np.empty((n_kinds, len(ends) + 1))
        out[:, 0] = total
        starts = range(0, n, sorting.CHUNK)
        borders = [*np.searchsorted(ends, starts).tolist(), len(ends)]
        for first in range(0, n_kinds, _FIELDS):
            own = range(first, min(first + _FIELDS, n_kinds))
            amount = np.zeros(n_kinds, dtype=np.uint64)
            amount[own] = [1 << _FIELD * field for field in range(len(own))]
            running = [int(total[kind]) for kind in own]
            for number, start in enumerate(starts):
                here = slice(borders[number], borders[number + 1])
                passed = np.cumsum(amount.take(self.kind[start : start + sorting.CHUNK]))
                at = passed.take(ends[here] - start)
                for field, kind in enumerate(own):
                    mask, shift = np.uint64((1 << _FIELD) - 1), np.uint64(_FIELD * field)
                    np.add((at >> shift) & mask, running[field], out=out[kind, 1 + here.start : 1 + here.stop])
                    running[field] += int((passed[-1] >> shift) & mask)
        return out

    @cached_property
    def known(self) -> Array:
        """Accepted knowns."""
        return np.asarray(self.accepted[RIGHT] + self.accepted[WRONG])

    @cached_property
    def macro_recall(self) -> Array:
        """Mean over the K classes of the fraction accepted and correct: open-set samples do not matter to it."""
        ratios = ClassRatios(self.totals.classes, float(self.totals.kinds.sum()))
        own = self.prediction[self.kind == RIGHT]
        start, steps = changing_steps(own, self.below[RIGHT].astype(np.float64), ratios.recall)
        passed = self.accepted[RIGHT] - self.accepted[RIGHT, 0]
        return mean_after(passed, start, steps, len(self.totals.classes))

    def against(self, chosen: Bools) -> "RangeCounts":
        """With the open kinds that are looked at."""
        return RangeCounts(self, chosen)


@dataclass(frozen=True)
class RangeCounts(Tally):
    """Counts at every threshold of a range, also where no sample that is looked at lies: there they stay as they are.

    Sums over thresholds get nothing from such a step, and largest values and readings meet the same value twice.
    """

    states: RangeStates
    chosen: Bools
    zero_division: float = 0.0

    def windows(self) -> Iterator[Tally]:
        """All thresholds in runs, each beginning with the last one of the run before."""
        return windows_of(self, len(self.states.ends) + 1)

    @property
    def thresholds(self) -> Floats:
        """Distinct scores of all rows."""
        return self.states.thresholds

    @property
    def right(self) -> Array:
        """Knowns that are accepted and predicted as their own class."""
        return np.asarray(self.states.accepted[RIGHT])

    @property
    def known(self) -> Array:
        """Accepted knowns."""
        return self.states.known

    @cached_property
    def open(self) -> Array:
        """Accepted open-set samples."""
        return np.asarray(self.states.accepted[FIRST_OPEN:][self.chosen].sum(axis=0))

    @cached_property
    def accepted(self) -> Array:
        """All accepted samples."""
        return self.known + self.open

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return len(self.states.totals.classes)

    @cached_property
    def n_known(self) -> float:
        """All knowns."""
        return float(self.states.totals.kinds[:FIRST_OPEN].sum())

    @cached_property
    def n_open(self) -> float:
        """All open-set samples."""
        return float(self.states.totals.kinds[FIRST_OPEN:][self.chosen].sum())

    @cached_property
    def n_samples(self) -> float:
        """All samples."""
        return self.n_known + self.n_open

    @property
    def macro_recall(self) -> Array:
        """Mean over the K classes of the fraction accepted and correct."""
        return self.states.macro_recall

    @cached_property
    def macro_specificity(self) -> Array:
        """Mean over the K classes of TN / (TN + FP)."""
        own, below, wrong = self._looked_at
        start, steps = changing_steps(
            self.states.prediction[own[wrong]], below.taken - below.hits, self._ratios.specificity
        )
        return mean_after(self._passed(own[wrong]), start, steps, self.n_classes)

    @cached_property
    def macro_precision(self) -> Array:
        """Mean over the K classes of TP / (TP + FP); few ranges need it."""
        own, below, wrong = self._looked_at
        prediction = self.states.prediction[own]
        runs = along_classes(~wrong, prediction, by_class(prediction), below=below)
        start, steps = class_steps(runs, len(own), self._ratios.precision, below)
        return mean_after(self._passed(own), start, steps, self.n_classes)

    @property
    def _ratios(self) -> ClassRatios:
        return ClassRatios(self.states.totals.classes, self.n_samples, self.zero_division)

    def _passed(self, own: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many of these rows are accepted at each threshold."""
        return np.append(0, np.searchsorted(own, self.states.ends, side="right"))

    @cached_property
    def _looked_at(self) -> tuple[NDArray[np.intp], Below, Bools]:
        """Which rows are looked at, what lies below them, and which of them are not correct."""
        states, looked_at = self.states, np.append([True, True], self.chosen)
        own = np.flatnonzero(looked_at.take(states.kind))
        below = Below(states.below[RIGHT].astype(np.float64), states.below[looked_at].sum(axis=0).astype(np.float64))
        return own, below, states.kind[own] != RIGHT
