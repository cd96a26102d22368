"""Samples as counts in cells of neighbouring scores, and resamples of such counts: a bootstrap that needs no rows.

A resample of the rows in which every known class and every kind of open-set sample keeps its size draws, in each
cell, a multinomial number of samples. Drawing these numbers instead takes the same time for any number of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.checks import Bools, Floats
from openset._core.counts import Ranking, Tally
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, OpenKind, chosen_kinds
from openset._core.macro import class_mean, class_ratio

if TYPE_CHECKING:
    from openset._core.folds import Fold

Ints = NDArray[np.int64]
_ENTRIES = 1 << 17
"""Numbers that are drawn for a resample, about."""
_FEWEST, _MOST = 128, 1024
_SINGLES = 64  # samples at either end that have cells of their own


def cells_for(n_classes: int, n_kinds: int) -> int:
    """How many cells keep a resample quick."""
    return int(np.clip(_ENTRIES // (n_classes * n_kinds), _FEWEST, _MOST))


def cell_ends(n: int, n_cells: int) -> Ints:
    """How many of n samples have been passed where each cell ends: evenly, but finer towards either end.

    There single samples matter: among the few most unknown ones may be no known at all.

    >>> cell_ends(1000, 4)[[0, 1, 2, -3, -2, -1]]
    array([   1,    2,    3,  998,  999, 1000])
    """
    even = np.arange(1, n_cells + 1) * n // n_cells
    near = [*range(1, _SINGLES), *(part << power for power in range(40) for part in range(_SINGLES, 2 * _SINGLES, 8))]
    tails = np.array([m for m in near if m < n / n_cells], dtype=np.int64)
    found = np.unique(np.concatenate((even, tails, n - tails)))
    return found[found > 0]


@dataclass(frozen=True)
class CellCounts(Tally):
    """Counts at the ends of cells, as at thresholds: between them nothing is known.

    `states` (steps + 1, kinds, K): accepted samples of each kind by predicted class; without classes K is 1.
    """

    states: Ints
    chosen: Bools
    """Which open kinds are looked at."""
    class_totals: Ints | None
    n_classes: int
    tied_steps: Bools
    """Of each step: whether all samples in it have one score."""
    thresholds: Floats = field(default_factory=lambda: np.zeros(0))
    zero_division: float = 0.0

    @cached_property
    def _summed(self) -> Ints:
        return self.states.sum(axis=2)

    @cached_property
    def right(self) -> NDArray[np.float64]:
        """Knowns that are accepted and predicted as their own class."""
        return self._summed[:, RIGHT].astype(np.float64)

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """Accepted knowns."""
        return (self._summed[:, RIGHT] + self._summed[:, WRONG]).astype(np.float64)

    @cached_property
    def open(self) -> NDArray[np.float64]:
        """Accepted open-set samples."""
        return self._summed[:, FIRST_OPEN:][:, self.chosen].sum(axis=1).astype(np.float64)

    @cached_property
    def accepted(self) -> NDArray[np.float64]:
        """All accepted samples."""
        return self.known + self.open

    @cached_property
    def n_known(self) -> float:
        """All knowns."""
        return float(self.known[-1])

    @cached_property
    def n_open(self) -> float:
        """All open-set samples."""
        return float(self.open[-1])

    @cached_property
    def n_samples(self) -> float:
        """All samples."""
        return self.n_known + self.n_open

    def windows(self) -> Iterator[Tally]:
        """Itself."""
        yield self

    def at_ends(self) -> "CellCounts":
        """Where bins are passed in three steps: counts at their ends, which are certain."""
        return replace(self, states=self.states[::3], tied_steps=self.tied_steps[::3])

    @cached_property
    def _taken(self) -> Ints:
        """Accepted samples by predicted class."""
        kinds = self.states[:, FIRST_OPEN:][:, self.chosen].sum(axis=1)
        return np.asarray(kinds + self.states[:, RIGHT] + self.states[:, WRONG])

    def _mean(self, top: Ints, bottom: Ints, zero_division: float = 0.0) -> NDArray[np.float64]:
        ratios = class_ratio(top, np.broadcast_to(bottom, top.shape), self.n_classes, zero_division)
        return class_mean(ratios.astype(np.int64).sum(axis=1), self.n_classes)

    @cached_property
    def macro_recall(self) -> NDArray[np.float64]:
        """Mean over the K classes of the fraction accepted and correct."""
        assert self.class_totals is not None
        return self._mean(self.states[:, RIGHT], self.class_totals, self.zero_division)

    @cached_property
    def macro_specificity(self) -> NDArray[np.float64]:
        """Mean over the K classes of TN / (TN + FP)."""
        assert self.class_totals is not None
        others = int(self.n_samples) - self.class_totals
        return self._mean(others - (self._taken - self.states[:, RIGHT]), others)

    @cached_property
    def macro_precision(self) -> NDArray[np.float64]:
        """Mean over the K classes of TP / (TP + FP)."""
        return self._mean(self.states[:, RIGHT], self._taken, self.zero_division)


@dataclass(frozen=True)
class Cells:
    """Samples by cell, kind and predicted class: (cells, kinds, K)."""

    counts: Ints
    kinds: tuple[OpenKind, ...]
    class_totals: Ints
    """Knowns of each class."""
    tied: Bools
    """Which cells hold one score alone."""
    tops: Floats
    """The largest score of each cell."""

    @property
    def n_classes(self) -> int:
        """K."""
        return len(self.class_totals)

    def tally(self, against: str) -> CellCounts:
        """Counts at the ends of the cells."""
        states = np.zeros((len(self.counts) + 1, *self.counts.shape[1:]), dtype=np.int64)
        np.cumsum(self.counts, axis=0, out=states[1:])
        chosen, thresholds = chosen_kinds(self.kinds, against), np.concatenate(([-np.inf], self.tops))
        return CellCounts(states, chosen, self.class_totals, self.n_classes, self.tied, thresholds)

    def values(self, asked: Sequence[tuple["Fold", str]]) -> NDArray[np.float64]:
        """Value of each fold against what is named beside it; between the ends of cells by straight lines."""
        made = {against: self.tally(against) for against in dict.fromkeys(against for _, against in asked)}
        return np.array([fold.between(made[against]) for fold, against in asked])

    @cached_property
    def _strata(self) -> tuple[Ints, NDArray[np.float64], Ints]:
        """Sizes of the strata that fill one run of entries each, their fractions added up, and where the runs begin.

        Correct knowns of each class; all wrong ones; each kind of open-set sample.
        """
        right = self.counts[:, RIGHT].T  # (K, cells)
        rest = self.counts[:, WRONG:].transpose(1, 0, 2).reshape(self.counts.shape[1] - 1, -1)
        amounts = np.concatenate((right.ravel(), rest.ravel()))
        lengths = np.array([right.shape[1]] * len(right) + [rest.shape[1]] * len(rest))
        starts = np.cumsum(lengths) - lengths
        return np.add.reduceat(amounts, starts), amounts.astype(np.float64), starts

    def resample(self, rng: np.random.Generator) -> "Cells":
        """As many samples of each known class and of each kind of open-set sample, drawn anew.

        How many knowns of a class are right is drawn first; the wrong ones of all classes are then drawn together.
        """
        sizes, amounts, starts = self._strata
        n_right = sizes[: self.n_classes]
        of_class = self.class_totals
        share = np.divide(n_right, of_class, out=np.zeros(len(n_right)), where=of_class > 0)
        wanted = sizes.copy()
        wanted[: self.n_classes] = rng.binomial(of_class, share)
        wanted[self.n_classes] = of_class.sum() - wanted[: self.n_classes].sum()
        drawn = draw_sizes(rng, amounts, starts, sizes, wanted)
        n_cells, n_kinds, n_classes = self.counts.shape
        cut = n_cells * n_classes
        counts = np.empty_like(self.counts)
        counts[:, RIGHT] = drawn[:cut].reshape(n_classes, n_cells).T
        counts[:, WRONG:] = drawn[cut:].reshape(n_kinds - 1, n_cells, n_classes).transpose(1, 0, 2)
        return Cells(counts, self.kinds, self.class_totals, self.tied, self.tops)


def draw_sizes(rng: np.random.Generator, amounts: NDArray[np.float64], starts: Ints, sizes: Ints, wanted: Ints) -> Ints:
    """Multinomial numbers for each run of `amounts` (from `starts` on, of sum `sizes`): in all `wanted` of each run.

    Poisson numbers whose sum stays below what is wanted, and the rest one by one, have the same distribution.

    >>> rng = np.random.default_rng(0)
    >>> int(draw_sizes(rng, np.array([3.0, 0.0, 7.0]), np.array([0]), np.array([10]), np.array([8])).sum())
    8
    """
    fewer = np.maximum(wanted - 5 * np.sqrt(wanted), 0.0)
    scale = np.divide(fewer, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    lengths = np.diff(starts, append=len(amounts))
    means = amounts * np.repeat(scale, lengths)
    drawn = rng.poisson(means)
    missing = wanted - np.add.reduceat(drawn, starts)
    for run in np.flatnonzero(missing < 0):  # one in millions
        part = slice(starts[run], starts[run] + lengths[run])
        drawn[part] = rng.multinomial(wanted[run], amounts[part] / sizes[run])
    missing = np.where(sizes > 0, np.maximum(missing, 0), 0)
    total = np.cumsum(amounts)
    base = total[starts] - amounts[starts]
    # From 1 - u, which is above 0: an entry without samples is never drawn.
    at = np.repeat(base, missing) + (1 - rng.random(int(missing.sum()))) * np.repeat(sizes, missing)
    extra = np.searchsorted(total, at, side="left")
    return np.asarray(drawn + np.bincount(extra, minlength=len(drawn)))


def cells_of(ranking: Ranking, groups: NDArray[np.str_] | None) -> Cells:
    """Cells of about the same number of samples each, from samples in memory; tied samples share one."""
    kinds, kind = kinds_of(ranking, groups)
    n, ends = len(ranking.score), ranking.ends
    passed = cell_ends(n, cells_for(ranking.n_classes, FIRST_OPEN + len(kinds)))
    last = np.unique(ends[np.searchsorted(ends, passed - 1)])  # where each cell ends
    shape = (len(last), FIRST_OPEN + len(kinds), ranking.n_classes)
    counts = np.zeros(shape, dtype=np.int64)
    flat = counts.reshape(-1)
    assert ranking.prediction is not None
    for run in sorting.runs(n):
        cell = np.searchsorted(last, np.arange(run.start, run.stop))
        entry = (cell * shape[1] + kind[run]) * shape[2] + ranking.prediction[run]
        np.add.at(flat, entry, 1)
    first = np.append(0, last[:-1] + 1)
    tied = ranking.score[first] == ranking.score[last]
    known = ranking.label[ranking.known]
    return Cells(counts, kinds, np.bincount(known, minlength=ranking.n_classes), tied, ranking.score[last])


def kinds_of(ranking: Ranking, groups: NDArray[np.str_] | None) -> tuple[tuple[OpenKind, ...], NDArray[np.int64]]:
    """Kinds of open-set samples that there are, and the kind of each sample, in the ranking's order."""
    names = np.zeros(1, dtype=np.str_)
    group = np.zeros(len(ranking.label), dtype=np.int64)
    if groups is not None:
        names, place = np.unique(groups, return_inverse=True)
        group = place[ranking.order]
    code = 2 * group + (-1 - ranking.label.astype(np.int64))
    is_open = ~ranking.known
    present, place = np.unique(code[is_open], return_inverse=True)
    kind = np.where(ranking.right, RIGHT, WRONG)
    kind[is_open] = FIRST_OPEN + place
    return tuple(OpenKind(-1 - int(one) % 2, str(names[one // 2])) for one in present), kind
