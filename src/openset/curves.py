"""Curves over all thresholds: frozen results that plots and metrics read.

Every curve starts at `t = -inf`, where nothing is accepted, and has one point per distinct unknown score. FPR is the
fraction of open-set samples accepted, CCR the fraction of knowns accepted and correct.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openset._core.annotations import ArrayLike
from openset._core.arithmetic import divide, unit_bits, unit_sum
from openset._core.counts import Tally, count
from openset._core.decisions import Ties, tie_credit
from openset.errors import check_choice, check_share

Array = NDArray[np.float64]
Average = Literal["macro", "micro"]
Positive = Literal["known", "unknown"]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Fraction of knowns accepted (`tpr`) against fraction of open-set samples accepted (`fpr`)."""

    thresholds: NDArray[np.floating[Any]]
    fpr: Array
    tpr: Array


@dataclass(frozen=True, eq=False)
class OscrCurve:
    """Fraction of knowns accepted and correct (`ccr`) against fraction of open-set samples accepted (`fpr`)."""

    thresholds: NDArray[np.floating[Any]]
    fpr: Array
    ccr: Array

    def area(self, *, ties: Ties = "half", max_fpr: float = 1.0) -> float:
        """Area up to `max_fpr`, divided by it.

        Joints between points are straight for `ties="half"`, lower steps for "strict", upper steps for "full".
        """
        size = unit_bits(1)
        return area_units(self.fpr, self.ccr, ties=ties, max_fpr=max_fpr) / 2**size / max_fpr


def area_units(fpr: Array, ccr: Array, *, ties: Ties = "half", max_fpr: float = 1.0) -> int:
    """Area under a run of an OSCR curve up to `max_fpr`, in units that add up: see `unit_sum`."""
    credit = tie_credit("area", ties)
    check_share("area", "max_fpr", max_fpr)
    inside = int(np.searchsorted(fpr, max_fpr, side="right"))
    if inside == 0:
        return 0
    fpr, ccr = fpr[: inside + 1], ccr[: inside + 1]
    if fpr[-1] > max_fpr:  # the last segment is cut where it reaches max_fpr
        reach = (max_fpr - fpr[-2]) / (fpr[-1] - fpr[-2])
        end = ccr[-2] + (ccr[-1] - ccr[-2]) * reach if ties == "half" else ccr[-1]
        fpr, ccr = np.append(fpr[:-1], max_fpr), np.append(ccr[:-1], end)
    return unit_sum(np.diff(fpr) * height_between(ccr, credit), 1)


def height_between(heights: Array, credit: int) -> Array:
    """Height between neighbouring points: the former (credit 0), the latter (2), or the mean of both (1)."""
    if credit != 1:
        return heights[1:] if credit else heights[:-1]
    mean = heights[:-1] + heights[1:]
    mean /= 2
    return mean


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall of finding the `positive` kind; precision is 1 where nothing is called positive."""

    thresholds: NDArray[np.floating[Any]]
    precision: Array
    recall: Array
    positive: Positive


@dataclass(frozen=True, eq=False)
class FScoreCurve:
    """Open-set F-score with its precision and recall over the K known classes (OpenAUC paper, eqs. 1-3)."""

    thresholds: NDArray[np.floating[Any]]
    f_score: Array
    precision: Array
    recall: Array
    average: Average


@dataclass(frozen=True, eq=False)
class UnknownRecallCurve:
    """Classification metrics at each threshold against the fraction of unknowns caught (OpenAUC paper, Fig. 1)."""

    thresholds: NDArray[np.floating[Any]]
    unknown_recall: Array
    f_macro: Array
    f_micro: Array
    youden_macro: Array
    youden_micro: Array
    normalized_accuracy: Array
    ccr: Array


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve:
    """Fraction of accepted samples that are wrong (`risk`: misclassified or open-set) against fraction accepted."""

    thresholds: NDArray[np.floating[Any]]
    coverage: Array
    risk: Array
    n_samples: float

    def area(self) -> float:
        """Mean risk while samples are accepted one by one, over all orders of tied ones: the metric `aurc`."""
        accepted = np.rint(self.coverage * self.n_samples)
        return risk_sum(accepted, np.rint(self.risk * accepted)) / self.n_samples


# ---- from counts ---------------------------------------------------------------------------------------------------


def along(counts: Tally, curve: Callable[[Tally], Array]) -> Array:
    """The values of a curve at every threshold, computed window by window."""
    out = np.empty(len(counts.open))
    start = 0
    for part in counts.windows():
        values = curve(part)
        out[start : start + len(values)] = values
        start += len(values) - 1  # the next window begins with this one's last threshold
    return out


def roc_of(counts: Tally) -> RocCurve:
    """ROC of counts already made."""
    return RocCurve(counts.thresholds, counts.fpr, counts.acceptance)


def oscr_of(counts: Tally, *, balanced: bool = False) -> OscrCurve:
    """OSCR of counts already made."""
    return OscrCurve(counts.thresholds, counts.fpr, counts.macro_recall if balanced else counts.ccr)


def precision_recall_of(counts: Tally, positive: Positive) -> PrecisionRecallCurve:
    """Precision and recall of counts already made."""
    check_choice("precision_recall_curve", "positive", positive, ("known", "unknown"))
    if positive == "known":
        precision, recall = divide(counts.known, counts.accepted, 1.0), counts.acceptance
    else:
        recall = counts.n_open - counts.open
        called = counts.n_samples - counts.accepted
        precision = divide(recall, called, 1.0, out=called)
        recall /= counts.n_open
    return PrecisionRecallCurve(counts.thresholds, precision, recall, positive)


def f_score_of(counts: Tally, average: Average) -> FScoreCurve:
    """Open-set F-score of counts already made."""
    check_choice("open_set_f_score", "average", average, ("macro", "micro"))
    if average == "macro":
        precision, recall = counts.macro_precision, counts.macro_recall
        f_score = along(counts, macro_f_of)
    else:
        precision, recall = divide(counts.right, counts.accepted, counts.zero_division), counts.ccr
        f_score = along(counts, micro_f_of)
    return FScoreCurve(counts.thresholds, f_score, precision, recall, average)


def macro_f_of(counts: Tally) -> Array:
    """Harmonic mean of macro precision and macro recall at each threshold."""
    f_score = counts.macro_precision * counts.macro_recall
    f_score *= 2
    both = counts.macro_precision + counts.macro_recall
    both += np.finfo(np.float64).tiny  # makes 0/0 the 0 it is meant to be, and changes nothing else
    f_score /= both
    return f_score


def micro_f_of(counts: Tally) -> Array:
    """Micro F-score at each threshold: 2 TP / (accepted + knowns), which is defined even where precision is 0/0."""
    f_score = counts.accepted + counts.n_known
    np.divide(counts.right, f_score, out=f_score)
    f_score *= 2
    return f_score


def youden_of(counts: Tally, average: Average) -> Array:
    """Youden's index TPR + TNR - 1, one known class against everything else, at each threshold."""
    check_choice("youden_index", "average", average, ("macro", "micro"))
    if average == "macro":
        index = counts.macro_recall + counts.macro_specificity
        index -= 1
        return index
    others = counts.n_classes * counts.n_samples - counts.n_known  # every sample counts once for each other class
    wrongly_accepted = counts.accepted - counts.right
    wrongly_accepted /= others
    index = counts.ccr
    index -= wrongly_accepted
    return index


def normalized_accuracy_of(counts: Tally, *, weight: float = 0.5, aus: Literal["paper", "recall"] = "paper") -> Array:
    """Normalized accuracy (OpenAUC paper, eqs. 5-6) at each threshold."""
    check_choice("normalized_accuracy", "aus", aus, ("paper", "recall"))
    check_share("normalized_accuracy", "weight", weight, zero=True)
    cells = (
        counts.n_classes * counts.n_samples
    )  # every sample is a true or false, positive or negative case of each class
    # Wrong cells: missed knowns (n_known - right) and wrongly accepted samples (accepted - right).
    value = 2 * counts.right
    value -= counts.accepted
    value += cells - counts.n_known
    value *= weight / cells
    caught = counts.n_open - counts.open
    if aus == "paper":
        open_part = divide(caught, counts.n_samples - counts.accepted, counts.zero_division, out=caught)
    else:
        open_part = np.divide(caught, counts.n_open, out=caught)
    open_part *= 1 - weight
    value += open_part
    return value


def unknown_recall_of(counts: Tally) -> UnknownRecallCurve:
    """Fig. 1 of counts already made."""
    caught = counts.fpr
    np.subtract(1, caught, out=caught)
    return UnknownRecallCurve(
        thresholds=counts.thresholds,
        unknown_recall=caught,
        f_macro=along(counts, macro_f_of),
        f_micro=along(counts, micro_f_of),
        youden_macro=along(counts, lambda part: youden_of(part, "macro")),
        youden_micro=along(counts, lambda part: youden_of(part, "micro")),
        normalized_accuracy=along(counts, normalized_accuracy_of),
        ccr=counts.ccr,
    )


def risk_coverage_of(counts: Tally) -> RiskCoverageCurve:
    """Risk and coverage of counts already made; the risk of accepting nothing is that of the first ones accepted."""
    first = int(np.searchsorted(counts.accepted, 0, side="right"))
    risk = divide(counts.right, counts.accepted, counts.right[first] / counts.accepted[first])
    np.subtract(1.0, risk, out=risk)
    return RiskCoverageCurve(counts.thresholds, counts.accepted / counts.n_samples, risk, counts.n_samples)


def risk_sum(accepted: Array, wrong: Array) -> float:
    """Sum of the risks at which single samples are accepted, in the mean over all orders of tied ones.

    `accepted` and `wrong` count samples at each distinct score. From a to b accepted samples, w of a being wrong
    before and a fraction p of the new ones, the k-th is accepted at a mean risk of (w + (k - a) p) / k. The sum over
    k = a + 1 ... b is (b - a) p + (w - a p) (1 / (a + 1) + ... + 1 / b).
    """
    size = max(float(accepted[-1]), 1.0)
    return risk_units(accepted, wrong, size) / 2 ** unit_bits(size)


def risk_units(accepted: Array, wrong: Array, size: float) -> int:
    """`risk_sum` of a run of thresholds in units that add up, of `size` samples: see `unit_sum`."""
    step = np.diff(accepted)
    risk = np.divide(wrong[1:], accepted[1:], out=np.zeros(len(step)), where=step == 1)
    tied = np.flatnonzero(step > 1)
    if len(tied):
        start, stop, before = accepted[tied], accepted[tied + 1], wrong[tied]
        share = (wrong[tied + 1] - before) / (stop - start)
        risk[tied] = share * (stop - start) + (before - start * share) * harmonic_between(start, stop)
    return unit_sum(risk, size)


_TABLED = 512  # from here on three terms of the series are exact to 1e-18
_HARMONIC = np.append(0.0, np.cumsum(1.0 / np.arange(1, _TABLED + 1)))


def harmonic_between(start: Array, stop: Array) -> Array:
    """1 / (start + 1) + ... + 1 / stop for whole numbers, to rounding: from a table, then by Euler and Maclaurin.

    >>> harmonic_between(np.array([0.0, 100.0]), np.array([3.0, 102.0])).round(6)
    array([1.833333, 0.019705])
    """
    table = [_HARMONIC[np.minimum(number, _TABLED).astype(np.int64)] for number in (start, stop)]
    low, high = np.maximum(start, _TABLED), np.maximum(stop, _TABLED)
    x, y = 1 / low, 1 / high
    beyond = np.log1p((high - low) * x)  # not log(high) - log(low), which would lose the digits of short runs
    return np.asarray(table[1] - table[0] + beyond + _after_log(y) - _after_log(x))


def _after_log(inverse: Array) -> Array:
    """1/2n - 1/12n^2 + 1/120n^4 of 1/n: what a harmonic number has beyond log n and Euler's constant."""
    square = inverse * inverse
    return inverse / 2 - square * (1 / 12 - square / 120)


# ---- from arrays ---------------------------------------------------------------------------------------------------


def roc_curve(
    labels: ArrayLike, unknown_score: ArrayLike, *, against: str = "all", groups: ArrayLike | None = None
) -> RocCurve:
    """ROC curve of telling knowns from open-set samples.

    >>> curve = roc_curve([0, 1, -2, -2], [0.1, 0.3, 0.3, 0.9])
    >>> curve.thresholds, curve.fpr, curve.tpr
    (array([-inf,  0.1,  0.3,  0.9]), array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))
    """
    return roc_of(count(labels, None, unknown_score, against, groups))


def oscr_curve(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    balanced: bool = False,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> OscrCurve:
    """Open-set classification rate curve (ImageNet protocols paper, eq. 6); `balanced` averages CCR over classes.

    >>> curve = oscr_curve([0, 1, -2, -2], [0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9])
    >>> curve.fpr, curve.ccr
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 0.5, 0.5]))
    """
    return oscr_of(
        count(labels, predictions, unknown_score, against, groups, n_classes, zero_division),
        balanced=balanced,
    )


def precision_recall_curve(
    labels: ArrayLike,
    unknown_score: ArrayLike,
    *,
    positive: Positive = "unknown",
    against: str = "all",
    groups: ArrayLike | None = None,
) -> PrecisionRecallCurve:
    """Precision and recall of finding unknowns (or knowns) at each threshold.

    >>> curve = precision_recall_curve([0, 0, -2], [0.1, 0.5, 0.5])
    >>> curve.precision, curve.recall
    (array([0.33333333, 0.5       , 1.        ]), array([1., 1., 0.]))
    """
    return precision_recall_of(count(labels, None, unknown_score, against, groups), positive)


def f_score_curve(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    average: Average = "macro",
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> FScoreCurve:
    """Open-set F-score at each threshold.

    >>> f_score_curve([0, 0, -2], [0, 0, 0], [0.1, 0.5, 0.9], average="micro").f_score.round(3)
    array([0.   , 0.667, 1.   , 0.8  ])
    """
    return f_score_of(count(labels, predictions, unknown_score, against, groups, n_classes, zero_division), average)


def unknown_recall_curve(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> UnknownRecallCurve:
    """What F-score, Youden's index and normalized accuracy say at each fraction of unknowns caught.

    >>> unknown_recall_curve([0, 0, -2], [0, 0, 0], [0.1, 0.5, 0.9]).unknown_recall
    array([1., 1., 1., 0.])
    """
    return unknown_recall_of(count(labels, predictions, unknown_score, against, groups, n_classes, zero_division))


def risk_coverage_curve(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    against: str = "all",
    groups: ArrayLike | None = None,
) -> RiskCoverageCurve:
    """Risk among accepted samples at each coverage; an accepted open-set sample is an error.

    Tied samples are accepted together, so they make one point. The risk of accepting nothing, 0/0, is that of the first
    ones accepted. `area()` is the metric `aurc`.

    >>> curve = risk_coverage_curve([0, 0, -2], [0, 1, 0], [0.1, 0.5, 0.9])
    >>> curve.coverage.round(3), curve.risk.round(3), round(curve.area(), 4)
    (array([0.   , 0.333, 0.667, 1.   ]), array([0.   , 0.   , 0.5  , 0.667]), 0.3889)
    """
    return risk_coverage_of(count(labels, predictions, unknown_score, against, groups))
