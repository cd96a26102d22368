"""Means over the classes at every threshold, in whole numbers, so that parts of the samples add up to the same bits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.checks import Bools, Ints

Array = NDArray[np.float64]
Ratios = Callable[[Array, Array, Any], list[Array]]
"""From correct and from all accepted samples that are predicted as a class, or as each of several classes."""


def _digits(n_classes: int) -> int:
    """Binary digits to which the ratio of one class is rounded, so that the sum of all fits into 64 bits."""
    return min(52, 62 - n_classes.bit_length())


def class_ratio(top: NDArray[Any], bottom: NDArray[Any], n_classes: int, zero_division: float = 0.0) -> Array:
    """Ratios of counts of one class in units of which whole numbers add up to the sum over classes, in any order."""
    ratio = np.full(np.shape(top), zero_division)
    np.divide(top, bottom, out=ratio, where=np.greater(bottom, 0))
    ratio *= 2.0 ** _digits(n_classes)
    return np.asarray(np.rint(ratio, out=ratio))


def class_mean(units: NDArray[np.int64], n_classes: int) -> Array:
    """Mean over the classes of what `class_ratio` gave, added up over them."""
    return units / (n_classes * 2.0 ** _digits(n_classes))


@dataclass(frozen=True, eq=False)
class ClassRatios:
    """Ratios of each class, one class against everything else, as `class_ratio` makes them."""

    totals: NDArray[Any]
    """(K,) knowns of each class."""
    zero_division: float = 0.0

    def recall(self, hits: Array, of: Any) -> Array:
        """TP / (TP + FN)."""
        return class_ratio(hits, self.totals[of], len(self.totals), self.zero_division)

    def against(self, n_samples: float) -> Ratios:
        """Recall, specificity TN / (TN + FP), and precision TP / (TP + FP) among so many samples."""

        def ratios(hits: Array, taken: Array, of: Any) -> list[Array]:
            others = n_samples - self.totals[of]  # never 0: the open-set samples are among them
            specificity = class_ratio(others - (taken - hits), others, len(self.totals))
            return [self.recall(hits, of), specificity, class_ratio(hits, taken, len(self.totals), self.zero_division)]

        return ratios


def by_class(prediction: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places grouped by predicted class (in their order within a class), and where each class begins."""
    grouped = np.argsort(prediction, kind="stable")
    sizes = np.bincount(prediction)
    sizes = sizes[sizes > 0]
    return grouped, np.cumsum(sizes) - sizes


def class_steps(
    right: Bools,
    prediction: Ints,
    groups: tuple[NDArray[np.intp], NDArray[np.intp]],
    ratios: Ratios,
    *,
    below: tuple[Array, Array] | None = None,
    n_classes: int,
    weights: Array | None = None,
) -> tuple[list[int], list[NDArray[np.int64]]]:
    """By how much each sample, accepted in this order, changes the sum over classes of each ratio.

    Accepting one more sample changes the ratios of its predicted class alone, so the running sum of those changes is
    the sum over classes at every threshold: O(n log n), any K. Before these comes the sum for what lies `below` the
    samples: (K,) correct ones and (K,) all that are predicted as each class. `groups`: `by_class` of `prediction`.
    """
    none = np.zeros(n_classes)
    first = ratios(*(below or (none, none)), slice(None))
    grouped, starts = groups
    changes = [np.empty(len(grouped), dtype=np.int64) for _ in first]
    hits_before = taken_before = 0.0  # of the class that the run before ended with
    before = [0.0] * len(first)
    for run in sorting.runs(len(grouped)):
        places = grouped[run]
        new = starts[slice(*np.searchsorted(starts, (run.start, run.stop)))] - run.start
        correct: NDArray[Any] = right[places]
        if weights is None:
            hits, taken = np.cumsum(correct, dtype=np.float64), np.arange(1.0, len(places) + 1)
        else:
            weight = weights[places]
            hits, taken = np.cumsum(correct * weight), np.cumsum(weight)
        _begin_again(hits, new, hits_before)
        _begin_again(taken, new, taken_before)
        hits_before, taken_before = hits[-1], taken[-1]
        of = prediction[places].astype(np.intp)
        if below is not None:
            hits += below[0][of]
            taken += below[1][of]
        for place, values in enumerate(ratios(hits, taken, of)):
            step = np.diff(values, prepend=before[place])
            step[new] = values[new] - first[place][of[new]]
            before[place] = values[-1]
            changes[place][places] = step
    return [int(one.astype(np.int64).sum()) for one in first], changes


def recall_steps(own: Ints, below: Ints, ratios: ClassRatios) -> tuple[int, NDArray[np.int64]]:
    """`class_steps` of the recall alone, from the classes of correct samples, with so many of each class below."""
    grouped, starts = by_class(own)
    steps = np.empty(len(own), dtype=np.int64)
    for places in np.split(grouped, starts[1:]) if len(own) else []:
        of = int(own[places[0]])
        hits = np.arange(below[of], below[of] + len(places) + 1, dtype=np.float64)
        steps[places] = np.diff(ratios.recall(hits, of))
    return int(ratios.recall(below.astype(np.float64), slice(None)).astype(np.int64).sum()), steps


def _begin_again(total: Array, places: NDArray[np.intp], before: float) -> None:
    """Make a running total, which was at `before`, begin at zero at each of the places."""
    gone = np.where(places > 0, total[places - 1], 0.0)
    total -= np.repeat(np.append(-before, gone), np.diff(places, prepend=0, append=len(total)))
