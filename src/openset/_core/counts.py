"""The one sort: cumulative counts over distinct thresholds, from which every metric and curve is read.

A sample is accepted at threshold `t` iff `unknown_score <= t`, so samples with equal scores are always accepted
together. Everything the package reports is read off the counts at the distinct scores, preceded by `t = -inf`,
where nothing is accepted. Counts are plain sums, so the counts of two parts of a data set add up.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core import sorting
from openset._core.arithmetic import whole_dot
from openset._core.checks import (
    UNKNOWN,
    Bools,
    Floats,
    Ints,
    as_ints,
    as_scores,
    as_text,
    check_finite,
    check_labels,
    check_lengths,
    check_threshold,
    open_mask,
    require_both,
    resolve_classes,
)
from openset._core.decisions import index_at
from openset.errors import check_share

Array = NDArray[np.float64]

# ---- the ranking -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranking:
    """The samples of one evaluation in ascending order of unknown score (most surely known first)."""

    score: Floats
    label: Ints
    prediction: Ints | None
    n_classes: int
    order: NDArray[np.int64]
    """Row of the input at each place."""

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """Place of the last sample of each distinct score."""
        last = np.empty(len(self.score), dtype=np.bool_)
        np.not_equal(self.score[1:], self.score[:-1], out=last[:-1])
        last[-1] = True
        return np.flatnonzero(last)

    @cached_property
    def thresholds(self) -> Floats:
        """-inf, then every distinct score."""
        start = np.full(1, -np.inf, dtype=self.score.dtype)
        return np.concatenate((start, self.score[self.ends]))

    @cached_property
    def known(self) -> Bools:
        """Which samples have a known class."""
        return self.label >= 0

    @cached_property
    def right(self) -> Bools:
        """Which samples are known and predicted as their own class."""
        if self.prediction is None:
            return self.known
        return self.label == self.prediction

    @cached_property
    def by_prediction(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places grouped by predicted class (in score order within a class), and where each class begins."""
        assert self.prediction is not None
        grouped = np.argsort(self.prediction, kind="stable")
        sizes = np.bincount(self.prediction)
        sizes = sizes[sizes > 0]
        return grouped, np.cumsum(sizes) - sizes

    def only(self, chosen: Bools) -> "Ranking":
        """The samples for which `chosen` (in this order) holds, without sorting again."""
        if chosen.all():
            return self
        prediction = None if self.prediction is None else self.prediction[chosen]
        return Ranking(self.score[chosen], self.label[chosen], prediction, self.n_classes, self.order[chosen])


def rank(
    labels: ArrayLike,
    predictions: ArrayLike | None,
    unknown_score: ArrayLike,
    *,
    n_classes: int | None = None,
) -> Ranking:
    """Check the input and sort it, once."""
    label = as_ints("labels", labels)
    prediction = None if predictions is None else as_ints("predictions", predictions)
    score = as_scores("unknown_score", unknown_score)
    check_lengths(labels=label, predictions=prediction, unknown_score=score)
    check_labels(label)
    check_finite(score)
    return rank_checked(label, prediction, score, resolve_classes(label, prediction, n_classes))


def rank_checked(label: Ints, prediction: Ints | None, score: Floats, n_classes: int) -> Ranking:
    """Sort what is known to be valid."""
    columns = [label] if prediction is None else [label, prediction]
    if n_classes >= 2**15 - 2:  # too many classes to travel with the scores
        ordered, order, _ = sorting.sort(score)
        columns = [column.take(order) for column in columns]
    else:
        pairs = np.empty((len(score), 2), dtype=np.int16)
        pairs[:, 0], pairs[:, 1] = label, label if prediction is None else prediction
        ordered, order, cargo = sorting.sort(score, pairs.view(np.int32).ravel())
        columns = [np.ascontiguousarray(column) for column in cargo.view(np.int16).reshape(-1, 2).T]
    return Ranking(ordered, columns[0], None if prediction is None else columns[1], n_classes, order)


# ---- counts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Below:
    """What lies below a range of scores that is counted by itself, and what there is in all: counts go on from here."""

    threshold: float
    """Any score above all that lie below and under the first of the range."""
    accepted: int
    open: int
    right: int
    hits: NDArray[np.int64]
    """(K,) right ones of each class."""
    taken: NDArray[np.int64]
    """(K,) accepted samples predicted as each class."""
    n_samples: int
    n_open: int
    class_totals: NDArray[np.int64]
    """(K,) knowns of each class in all."""


def _digits(n_classes: int) -> int:
    """Binary digits to which the ratio of one class is rounded, so that the sum of all fits into 64 bits."""
    return min(52, 62 - n_classes.bit_length())


def class_ratio(top: NDArray[Any], bottom: NDArray[Any], n_classes: int, zero_division: float = 0.0) -> Array:
    """Ratios of counts of one class in units of which whole numbers add up to the sum over classes, in any order."""
    if np.min(bottom, initial=1) > 0:  # as nearly always: a division without a mask takes a third of the time
        ratio = np.divide(top, bottom)
    else:
        ratio = np.full(np.shape(top), zero_division)
        np.divide(top, bottom, out=ratio, where=np.greater(bottom, 0))
    ratio *= 2.0 ** _digits(n_classes)
    return np.asarray(np.rint(ratio, out=ratio))


def class_mean(units: NDArray[np.int64], n_classes: int) -> Array:
    """Mean over the classes of what `class_ratio` gave, added up over them."""
    return np.asarray(units / (n_classes * 2.0 ** _digits(n_classes)))


def _begin_again(total: NDArray[np.float64], places: NDArray[np.intp], before: float) -> None:
    """Make a running total, which was at `before`, begin at zero at each of the places."""
    gone = np.where(places > 0, total[places - 1], 0.0)
    total -= np.repeat(np.append(-before, gone), np.diff(places, prepend=0, append=len(total)))


class Tally:
    """Numbers of accepted samples along thresholds, and the shares they make of all samples."""

    if TYPE_CHECKING:  # what `Counts` computes and `Window` cuts out, for the type checker alone

        @property
        def thresholds(self) -> Floats:
            """-inf, then every distinct score."""

        @property
        def accepted(self) -> NDArray[np.float64]:
            """All accepted samples."""

        @property
        def open(self) -> NDArray[np.float64]:
            """Accepted open-set samples."""

        @property
        def known(self) -> NDArray[np.float64]:
            """Accepted knowns."""

        @property
        def right(self) -> NDArray[np.float64]:
            """Knowns that are accepted and predicted as their own class."""

        @property
        def macro_precision(self) -> NDArray[np.float64]:
            """Mean over the K classes of TP / (TP + FP)."""

        @property
        def macro_recall(self) -> NDArray[np.float64]:
            """Mean over the K classes of the fraction accepted and correct."""

        @property
        def macro_specificity(self) -> NDArray[np.float64]:
            """Mean over the K classes of TN / (TN + FP)."""

        @property
        def n_samples(self) -> float:
            """All samples."""

        @property
        def n_known(self) -> float:
            """All knowns."""

        @property
        def n_open(self) -> float:
            """All open-set samples."""

        @property
        def n_classes(self) -> int:
            """K."""

        @property
        def zero_division(self) -> float:
            """What 0/0 counts as in a ratio of one class."""

        @property
        def tied_steps(self) -> Bools:
            """Of orders of the samples of bins: at which steps all samples have one score."""

        def windows(self) -> Iterator["Tally"]:
            """All thresholds in runs, each beginning with the last one of the run before."""

    @property
    def fpr(self) -> NDArray[np.float64]:
        """Fraction of open-set samples accepted."""
        return self.open / self.n_open

    @property
    def acceptance(self) -> NDArray[np.float64]:
        """Fraction of knowns accepted."""
        return self.known / self.n_known

    @property
    def ccr(self) -> NDArray[np.float64]:
        """Fraction of knowns accepted and correct."""
        return self.right / self.n_known


class Window(Tally):
    """A run of neighbouring thresholds: what is computed on it fits the cache and leaves no large arrays behind."""

    _SLICED = frozenset(
        ("thresholds", "accepted", "open", "known", "right", "macro_precision", "macro_recall", "macro_specificity")
    )

    def __init__(self, whole: Tally, start: int, stop: int) -> None:
        self._whole, self._part = whole, slice(start, stop)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._whole, name)
        return value[self._part] if name in self._SLICED else value

    def windows(self) -> Iterator[Tally]:
        """Itself: it is small already."""
        yield self


@dataclass(frozen=True)
class Counts(Tally):
    """How many samples of each kind are accepted at every threshold of a ranking.

    All arrays run along `thresholds`, from -inf (nothing accepted) to the largest score (all accepted). `weights`
    counts each sample that many times (in the ranking's order), which is how a bootstrap resample is evaluated.
    """

    ranking: Ranking
    weights: NDArray[np.float64] | None = None
    zero_division: float = 0.0
    below: Below | None = None
    """Where the ranking is a range of the scores alone: what lies below it."""

    @cached_property
    def thresholds(self) -> Floats:
        """-inf, or what the scores below end with; then every distinct score."""
        if self.below is None:
            return self.ranking.thresholds
        found = self.ranking.thresholds.copy()
        found[0] = self.below.threshold
        return found

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return self.ranking.n_classes

    def windows(self) -> Iterator[Tally]:
        """All thresholds in runs, each beginning with the last one of the run before, so that steps add up."""
        n = len(self.ranking.ends) + 1
        if n <= sorting.CHUNK + 1:
            yield self
            return
        for start in range(0, n - 1, sorting.CHUNK):
            yield Window(self, start, min(start + sorting.CHUNK + 1, n))

    def _accumulate(self, amount: Callable[[slice], NDArray[Any]], start: int = 0) -> NDArray[Any]:
        """Running total of `amount` (of a run of samples) at each threshold, in whole numbers."""
        ends = self.ranking.ends
        n = len(self.ranking.score)
        starts = np.arange(0, n, sorting.CHUNK)
        borders = [*np.searchsorted(ends, starts).tolist(), len(ends)]
        out: NDArray[Any] | None = None
        total: Any = start
        for begin, first, last in zip(starts.tolist(), borders, borders[1:], strict=False):
            part = amount(slice(begin, begin + sorting.CHUNK))
            if out is None:  # sums of fractions of classes need all 64 bits, counts are exact as floats
                out = np.empty(len(ends) + 1, dtype=np.int64 if part.dtype == np.int64 else np.float64)
                out[0] = total
            running = np.cumsum(part, dtype=np.int32 if part.dtype.kind == "b" else part.dtype)
            here = running if last - first == len(running) else running.take(ends[first:last] - begin)
            np.add(here, total, out=out[1 + first : 1 + last], casting="unsafe")
            total += running[-1].item()
        assert out is not None, "no samples"
        return out

    def _count(self, which: Bools, start: int) -> NDArray[np.float64]:
        weights = self.weights
        if weights is None:
            return self._accumulate(lambda part: which[part], start)
        return self._accumulate(lambda part: which[part] * weights[part], start)

    @cached_property
    def accepted(self) -> NDArray[np.float64]:
        """All accepted samples."""
        if self.weights is not None:
            return self._accumulate(self.weights.__getitem__)
        before = 0 if self.below is None else self.below.accepted
        out = np.empty(len(self.ranking.ends) + 1)
        out[0] = before
        np.add(self.ranking.ends, before + 1, out=out[1:])
        return out

    @cached_property
    def open(self) -> NDArray[np.float64]:
        """Accepted open-set samples."""
        return self._count(~self.ranking.known, 0 if self.below is None else self.below.open)

    @cached_property
    def right(self) -> NDArray[np.float64]:
        """Knowns that are accepted and predicted as their own class."""
        return self._count(self.ranking.right, 0 if self.below is None else self.below.right)

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """Accepted knowns."""
        return self.accepted - self.open

    @cached_property
    def tied_pairs(self) -> float:
        """Fraction of the pairs of a known and an open-set sample that have equal scores."""
        return whole_dot(np.diff(self.open), np.diff(self.known)) / (int(self.n_known) * int(self.n_open))

    @cached_property
    def n_known(self) -> float:
        """All knowns."""
        return self.n_samples - self.n_open

    @cached_property
    def n_open(self) -> float:
        """All open-set samples."""
        return float(self.open[-1]) if self.below is None else float(self.below.n_open)

    @cached_property
    def n_samples(self) -> float:
        """All samples."""
        return float(self.accepted[-1]) if self.below is None else float(self.below.n_samples)

    @cached_property
    def _class_totals(self) -> NDArray[np.float64]:
        if self.below is not None:
            return self.below.class_totals.astype(np.float64)
        ranking = self.ranking
        totals = np.zeros(ranking.n_classes + 2)  # unknowns, negatives, then the classes
        for part in sorting.runs(len(ranking.label)):
            weights = None if self.weights is None else self.weights[part]
            place = ranking.label[part].astype(np.int64) - UNKNOWN
            totals += np.bincount(place, weights=weights, minlength=len(totals))
        return totals[2:]

    @cached_property
    def macro_recall(self) -> NDArray[np.float64]:
        """Mean over the K classes of the fraction accepted and correct: the class-balanced CCR."""
        totals = self._class_totals
        return self._macro(lambda hits, _, of: self._ratio(hits, totals[of], self.zero_division))

    @cached_property
    def macro_specificity(self) -> NDArray[np.float64]:
        """Mean over the K classes of TN / (TN + FP), one class against everything else."""
        others = self.n_samples - self._class_totals  # never 0: the open-set samples are among them
        return self._macro(lambda hits, taken, of: self._ratio(others[of] - (taken - hits), others[of]))

    @cached_property
    def macro_precision(self) -> NDArray[np.float64]:
        """Mean over the K classes of TP / (TP + FP)."""
        return self._macro(lambda hits, taken, _: self._ratio(hits, taken, self.zero_division))

    def _ratio(self, top: Array, bottom: Array, zero_division: float = 0.0) -> Array:
        return class_ratio(top, bottom, self.n_classes, zero_division)

    def _macro(self, ratio: Callable[[Array, Array, Any], Array]) -> NDArray[np.float64]:
        """Mean over the classes, at every threshold, of a ratio of (hits, taken) in one class or in each of several.

        Accepting one more sample changes the ratio of its predicted class alone, so the running sum of those changes,
        put back into score order, is the sum over classes at every threshold: O(n log n), any K. Ratios are whole
        numbers of a small unit, so that the sum does not depend on the order.
        """
        first = ratio(*self._below_in_classes, slice(None))
        changes = np.empty(len(self.ranking.score), dtype=np.int64)
        before = 0.0  # of the class that the run before ended with
        for places, new, of, hits, taken in self._along_classes:
            values = ratio(hits, taken, of)
            step = np.diff(values, prepend=before)
            step[new] = values[new] - first[of[new]]
            before = values[-1]
            changes[places] = step
        return class_mean(self._accumulate(changes.__getitem__, int(first.astype(np.int64).sum())), self.n_classes)

    @cached_property
    def _below_in_classes(self) -> tuple[Array, Array]:
        """Correct and accepted samples of each class below the range that is counted."""
        if self.below is None:
            return np.zeros(self.n_classes), np.zeros(self.n_classes)
        return self.below.hits.astype(np.float64), self.below.taken.astype(np.float64)

    @cached_property
    def _along_classes(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Array, Array]]:
        """All samples, class by predicted class, in runs that fit the cache.

        Of each run: the places in score order, where a class begins, the class of each, and how many of that class were
        correct (hits) and accepted (taken) by then.
        """
        ranking, weights = self.ranking, self.weights
        assert ranking.prediction is not None
        grouped, starts = ranking.by_prediction
        hits_before = taken_before = 0.0  # of the class that the run before ended with
        found = []
        for run in sorting.runs(len(grouped)):
            places = grouped[run]
            new = starts[slice(*np.searchsorted(starts, (run.start, run.stop)))] - run.start
            right: NDArray[Any] = ranking.right[places]
            if weights is None:
                hits, taken = np.cumsum(right, dtype=np.float64), np.arange(1.0, len(places) + 1)
            else:
                weight = weights[places]
                hits, taken = np.cumsum(right * weight), np.cumsum(weight)
            _begin_again(hits, new, hits_before)
            _begin_again(taken, new, taken_before)
            hits_before, taken_before = hits[-1], taken[-1]
            of = ranking.prediction[places].astype(np.intp)
            if self.below is not None:
                hits += self._below_in_classes[0][of]
                taken += self._below_in_classes[1][of]
            found.append((places, new, of, hits, taken))
        return found

    def at(self, threshold: float) -> int:
        """Index of the counts that hold at any threshold a user names."""
        check_threshold(threshold)
        return int(index_at(self.thresholds, threshold))


def count(
    labels: ArrayLike,
    predictions: ArrayLike | None,
    unknown_score: ArrayLike,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> Counts:
    """Check, sort, select and count: the way every metric starts."""
    ranking = rank(labels, predictions, unknown_score, n_classes=n_classes)
    return count_ranking(ranking, against=against, groups=groups, zero_division=zero_division)


def count_ranking(
    ranking: Ranking, *, against: str = "all", groups: ArrayLike | None = None, zero_division: float = 0.0
) -> Counts:
    """Counts of the knowns and the open-set samples that `against` names, from a sort that is already done."""
    check_share("count", "zero_division", zero_division, zero=True)
    if against != "all":
        if groups is not None:
            names = as_text("groups", groups)
            check_lengths(labels=ranking.order, groups=names)
            groups = names[ranking.order]
        ranking = ranking.only(ranking.known | open_mask(ranking.label, against, groups))
    counts = Counts(ranking, zero_division=zero_division)
    require_both(counts.n_known, counts.n_open, against)
    return counts
