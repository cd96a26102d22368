"""Means over the classes at every threshold, in whole numbers, so that parts of the samples add up to the same bits."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._core import sorting
from openset._core.checks import Bools, Ints

Array = NDArray[np.float64]
Ratio = Callable[[Array, Array, Any], Array]
"""From correct and from all accepted samples that are predicted as a class, or as each of several classes."""
Changing = Callable[[Array, Any, Any], Array]
"""From numbers of accepted samples of one kind that are predicted as each class, several numbers for each or one."""


def _digits(n_classes: int) -> int:
    """Binary digits to which the ratio of one class is rounded, so that the sum of all fits into 64 bits."""
    return min(52, 62 - n_classes.bit_length())


def class_ratio(
    top: NDArray[Any], bottom: NDArray[Any], n_classes: int, zero_division: float = 0.0, times: Any = None
) -> Array:
    """Ratios of counts of one class in units of which whole numbers add up to the sum over classes, in any order.

    With `times`, each of `bottom` belongs to so many of `top`.
    """
    defined = np.min(bottom, initial=1) > 0
    bottom = bottom if times is None else np.repeat(bottom, times)
    if defined:  # as nearly always: a division without a mask takes a third of the time
        ratio = np.divide(top, bottom)
    else:
        ratio = np.full(np.shape(top), zero_division)
        np.divide(top, bottom, out=ratio, where=np.greater(bottom, 0))
    ratio *= 2.0 ** _digits(n_classes)
    return np.asarray(np.rint(ratio, out=ratio))


def class_mean(units: NDArray[np.int64], n_classes: int) -> Array:
    """Mean over the classes of what `class_ratio` gave, added up over them."""
    return np.asarray(units / (n_classes * 2.0 ** _digits(n_classes)))


@dataclass(frozen=True, eq=False)
class ClassRatios:
    """Ratios of each class, one class against everything else, as `class_ratio` makes them."""

    totals: NDArray[Any]
    """(K,) knowns of each class."""
    n_samples: float
    zero_division: float = 0.0

    def recall(self, hits: Array, of: Any, times: Any = None) -> Array:
        """TP / (TP + FN), of several counts of each class."""
        return class_ratio(hits, self.totals[of], len(self.totals), self.zero_division, times)

    def specificity(self, wrong: Array, of: Any, times: Any = None) -> Array:
        """TN / (TN + FP), from FP, of several counts of each class."""
        others = self.n_samples - self.totals[of]  # never 0: the open-set samples are among them
        every = others if times is None else np.repeat(others, times)
        return class_ratio(every - wrong, every, len(self.totals))

    def precision(self, hits: Array, taken: Array, of: Any) -> Array:
        """TP / (TP + FP)."""
        return class_ratio(hits, taken, len(self.totals), self.zero_division)


def by_class(prediction: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places grouped by predicted class (in their order within a class), and where each class begins."""
    grouped = np.argsort(prediction, kind="stable")
    sizes = np.bincount(prediction)
    sizes = sizes[sizes > 0]
    return grouped, np.cumsum(sizes) - sizes


class Below(NamedTuple):
    """(K,) samples predicted as each class that lie below those that are counted."""

    hits: Array
    taken: Array


class ClassRun(NamedTuple):
    """Some samples, class by predicted class; few enough for the cache."""

    places: NDArray[np.intp]
    """Where they are in score order."""
    new: NDArray[np.intp]
    """At which of them a class begins."""
    of: NDArray[np.intp]
    """The class of each."""
    hits: Array
    taken: Array
    """How many of that class were correct, and accepted, by then."""


def along_classes(
    right: Bools,
    prediction: Ints,
    groups: tuple[NDArray[np.intp], NDArray[np.intp]],
    *,
    below: Below | None = None,
    weights: Array | None = None,
) -> list[ClassRun]:
    """All samples, class by class; `groups`: `by_class` of `prediction`."""
    grouped, starts = groups
    hits_before = taken_before = 0.0  # of the class that the run before ended with
    found = []
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
            hits += below.hits[of]
            taken += below.taken[of]
        found.append(ClassRun(places, new, of, hits, taken))
    return found


def class_steps(runs: Iterable[ClassRun], n: int, ratio: Ratio, below: Below) -> tuple[int, NDArray[np.int64]]:
    """The sum over classes of a ratio for what lies `below` n samples, and by how much each sample changes it.

    Accepting one more sample changes the ratio of its predicted class alone, so the running sum of those changes, in
    score order, is the sum over classes at every threshold: O(n log n), any K. Ratios are whole numbers of a small
    unit, so that the sum does not depend on the order.
    """
    first = ratio(below.hits, below.taken, slice(None))
    steps = np.empty(n, dtype=np.int64)
    before = 0.0  # of the class that the run before ended with
    for places, new, of, hits, taken in runs:
        values = ratio(hits, taken, of)
        step = np.diff(values, prepend=before)
        step[new] = values[new] - first[of[new]]
        before = values[-1]
        steps[places] = step
    return int(first.astype(np.int64).sum()), steps


def changing_steps(
    classes: Ints, below: Array, ratio: Changing, weights: Array | None = None
) -> tuple[int, NDArray[np.int64]]:
    """`class_steps` of a ratio that depends on one count, from the classes of those samples alone that add to it.

    Correct samples change the recall and all others the specificity, each that of its predicted class; `below` counts
    those of each class that lie below.
    """
    first = ratio(below, slice(None), None)
    steps = np.empty(len(classes), dtype=np.int64)
    if len(classes):
        grouped, starts = by_class(classes)
        of, sizes = classes[grouped[starts]].astype(np.intp), np.diff(starts, append=len(classes))
        if weights is None:
            count, before = np.arange(1.0, len(classes) + 1), starts.astype(np.float64)
        else:
            weight = weights[grouped]
            count = np.cumsum(weight)
            before = count[starts] - weight[starts]
        count += np.repeat(below[of] - before, sizes)
        values = ratio(count, of, sizes)
        change = np.empty(len(values))
        np.subtract(values[1:], values[:-1], out=change[1:])
        change[starts] = values[starts] - first[of]
        steps[grouped] = change
    return int(first.astype(np.int64).sum()), steps


def mean_after(passed: NDArray[Any], start: int, steps: NDArray[np.int64], n_classes: int) -> Array:
    """Mean over the classes after so many of the samples, by what `class_steps` or `changing_steps` gave."""
    running = np.empty(len(steps) + 1, dtype=np.int64)
    running[0] = start
    np.cumsum(steps, out=running[1:])
    running[1:] += start
    return class_mean(running, n_classes).take(passed.astype(np.intp, copy=False))


def _begin_again(total: Array, places: NDArray[np.intp], before: float) -> None:
    """Make a running total, which was at `before`, begin at zero at each of the places."""
    gone = np.where(places > 0, total[places - 1], 0.0)
    total -= np.repeat(np.append(-before, gone), np.diff(places, prepend=0, append=len(total)))
