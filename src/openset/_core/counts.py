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
from openset._core.macro import (
    Below,
    Changing,
    ClassRatios,
    ClassRun,
    along_classes,
    by_class,
    changing_steps,
    class_mean,
    class_steps,
    mean_after,
)
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
        return by_class(self.prediction)

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


def windows_of(counts: Tally, n: int) -> Iterator[Tally]:
    """Its n thresholds in runs, each beginning with the last one of the run before."""
    if n <= sorting.CHUNK + 1:
        yield counts
        return
    for start in range(0, n - 1, sorting.CHUNK):
        yield Window(counts, start, min(start + sorting.CHUNK + 1, n))


@dataclass(frozen=True)
class Counts(Tally):
    """How many samples of each kind are accepted at every threshold of a ranking.

    All arrays run along `thresholds`, from -inf (nothing accepted) to the largest score (all accepted). `weights`
    counts each sample that many times (in the ranking's order), which is how a bootstrap resample is evaluated.
    """

    ranking: Ranking
    weights: NDArray[np.float64] | None = None
    zero_division: float = 0.0

    @cached_property
    def thresholds(self) -> Floats:
        """-inf, then every distinct score."""
        return self.ranking.thresholds

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return self.ranking.n_classes

    def windows(self) -> Iterator[Tally]:
        """All thresholds in runs, each beginning with the last one of the run before, so that steps add up."""
        return windows_of(self, len(self.ranking.ends) + 1)

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

    def _count(self, which: Bools) -> NDArray[np.float64]:
        weights = self.weights
        if weights is None:
            return self._accumulate(lambda part: which[part])
        return self._accumulate(lambda part: which[part] * weights[part])

    @cached_property
    def accepted(self) -> NDArray[np.float64]:
        """All accepted samples."""
        if self.weights is not None:
            return self._accumulate(self.weights.__getitem__)
        out = np.zeros(len(self.ranking.ends) + 1)
        np.add(self.ranking.ends, 1, out=out[1:])
        return out

    @cached_property
    def open(self) -> NDArray[np.float64]:
        """Accepted open-set samples."""
        return self._count(~self.ranking.known)

    @cached_property
    def right(self) -> NDArray[np.float64]:
        """Knowns that are accepted and predicted as their own class."""
        return self._count(self.ranking.right)

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
        return float(self.open[-1])

    @cached_property
    def n_samples(self) -> float:
        """All samples."""
        return float(self.accepted[-1])

    @cached_property
    def _class_totals(self) -> NDArray[np.float64]:
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
        return self._changing(self.ranking.right, self._passed_right, self._ratios.recall)

    @cached_property
    def macro_specificity(self) -> NDArray[np.float64]:
        """Mean over the K classes of TN / (TN + FP), one class against everything else."""
        passed = np.zeros(len(self.ranking.ends) + 1, dtype=np.intp)
        np.add(self.ranking.ends, 1, out=passed[1:])
        passed -= self._passed_right
        return self._changing(~self.ranking.right, passed, self._ratios.specificity)

    @cached_property
    def macro_precision(self) -> NDArray[np.float64]:
        """Mean over the K classes of TP / (TP + FP)."""
        nothing = Below(np.zeros(self.n_classes), np.zeros(self.n_classes))
        start, steps = class_steps(self._along_classes, len(self.ranking.score), self._ratios.precision, nothing)
        return class_mean(self._accumulate(steps.__getitem__, start), self.n_classes)

    @property
    def _ratios(self) -> ClassRatios:
        return ClassRatios(self._class_totals, self.n_samples, self.zero_division)

    @cached_property
    def _passed_right(self) -> NDArray[np.intp]:
        """Samples up to each threshold that are correct, each counted once whatever its weight."""
        right = self.right if self.weights is None else self._accumulate(self.ranking.right.__getitem__)
        return right.astype(np.intp)

    def _changing(self, which: Bools, passed: NDArray[np.intp], ratio: Changing) -> NDArray[np.float64]:
        """Mean over the classes of a ratio of one class that the samples in `which` change, `passed` at each threshold.

        Other samples leave it as it is.
        """
        assert self.ranking.prediction is not None
        weights = None if self.weights is None else np.compress(which, self.weights)
        classes = np.compress(which, self.ranking.prediction)  # three times as fast as an index
        start, steps = changing_steps(classes, np.zeros(self.n_classes), ratio, weights)
        return mean_after(passed, start, steps, self.n_classes)

    @cached_property
    def _along_classes(self) -> list[ClassRun]:
        ranking = self.ranking
        assert ranking.prediction is not None
        return along_classes(ranking.right, ranking.prediction, ranking.by_prediction, weights=self.weights)

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
