"""Curves over all thresholds: frozen results that plots and metrics read.

Every curve starts at `t = -inf`, where nothing is accepted, and has one point per distinct unknown score. FPR is the
share of open-set samples accepted, CCR the share of knowns accepted and right.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset.counts import Counts, Ties, count
from openset.errors import check_choice, check_share

Array = NDArray[np.float64]
Average = Literal["macro", "micro"]
Positive = Literal["known", "unknown"]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Share of knowns accepted (`tpr`) against share of open-set samples accepted (`fpr`)."""

    thresholds: NDArray[np.floating[Any]]
    fpr: Array
    tpr: Array


@dataclass(frozen=True, eq=False)
class OscrCurve:
    """Share of knowns accepted and right (`ccr`) against share of open-set samples accepted (`fpr`)."""

    thresholds: NDArray[np.floating[Any]]
    fpr: Array
    ccr: Array

    def area(self, *, ties: Ties = "half", max_fpr: float = 1.0) -> float:
        """Area up to `max_fpr`, divided by it.

        Joints between points are straight for `ties="half"`, lower steps for "strict", upper steps for "full".
        """
        check_choice("area", "ties", ties, ("half", "strict", "full"))
        check_share("area", "max_fpr", max_fpr)
        left, right = self.ccr[:-1], self.ccr[1:]
        width = np.diff(self.fpr)
        if max_fpr < 1.0:
            inside = np.clip(max_fpr - self.fpr[:-1], 0.0, width)
            if ties == "half":  # the last segment is cut where it reaches max_fpr
                reach = np.divide(inside, width, out=np.zeros_like(width), where=width > 0)
                right = left + (right - left) * reach
            width = inside
        height = {"half": (left + right) / 2, "strict": left, "full": right}[ties]
        return float(np.dot(width, height) / max_fpr)


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
    """Classification metrics at each threshold against the share of unknowns caught (OpenAUC paper, Fig. 1)."""

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
    """Share of accepted samples that are wrong (`risk`: misclassified or open-set) against share accepted."""

    thresholds: NDArray[np.floating[Any]]
    coverage: Array
    risk: Array


# ---- from counts ---------------------------------------------------------------------------------------------------


def ratio(top: NDArray[Any], bottom: NDArray[Any], zero_division: float) -> Array:
    """Top / bottom, with an explicit value for 0/0."""
    out = np.full(len(top), zero_division, dtype=np.float64)
    return np.asarray(np.divide(top, bottom, out=out, where=bottom > 0))


def roc_of(counts: Counts) -> RocCurve:
    """ROC of counts already made."""
    return RocCurve(counts.thresholds, counts.fpr, counts.acceptance)


def oscr_of(counts: Counts, *, balanced: bool = False) -> OscrCurve:
    """OSCR of counts already made."""
    return OscrCurve(counts.thresholds, counts.fpr, counts.macro_recall if balanced else counts.ccr)


def precision_recall_of(counts: Counts, positive: Positive) -> PrecisionRecallCurve:
    """Precision and recall of counts already made."""
    check_choice("precision_recall_curve", "positive", positive, ("known", "unknown"))
    if positive == "known":
        hits, called = counts.known, counts.known + counts.open
        total = counts.n_known
    else:
        hits = counts.n_open - counts.open
        called = hits + counts.n_known - counts.known
        total = counts.n_open
    return PrecisionRecallCurve(counts.thresholds, ratio(hits, called, 1.0), hits / total, positive)


def f_score_of(counts: Counts, average: Average) -> FScoreCurve:
    """Open-set F-score of counts already made."""
    check_choice("open_set_f_score", "average", average, ("macro", "micro"))
    if average == "macro":
        precision, recall = counts.macro_precision, counts.macro_recall
    else:
        precision = ratio(counts.right, counts.known + counts.open, counts.zero_division)
        recall = counts.ccr
    f_score = ratio(2 * precision * recall, precision + recall, 0.0)
    return FScoreCurve(counts.thresholds, f_score, precision, recall, average)


def youden_of(counts: Counts, average: Average) -> Array:
    """Youden's index TPR + TNR - 1, one known class against everything else, at each threshold."""
    check_choice("youden_index", "average", average, ("macro", "micro"))
    if average == "macro":
        return counts.macro_recall + counts.macro_specificity - 1
    wrongly_accepted = counts.known - counts.right + counts.open
    others = counts.n_classes * (counts.n_known + counts.n_open) - counts.n_known
    specificity = 1 - ratio(wrongly_accepted, np.full(len(wrongly_accepted), others), 1 - counts.zero_division)
    return np.asarray(counts.ccr + specificity - 1)


def normalized_accuracy_of(counts: Counts, *, weight: float = 0.5, aus: Literal["paper", "recall"] = "paper") -> Array:
    """Normalized accuracy (OpenAUC paper, eqs. 5-6) at each threshold."""
    check_choice("normalized_accuracy", "aus", aus, ("paper", "recall"))
    check_share("normalized_accuracy", "weight", weight, zero=True)
    total = counts.n_known + counts.n_open
    cells = counts.n_classes * total  # every sample is a true or false, positive or negative case of each class
    missed = counts.n_known - counts.right
    wrongly_accepted = counts.known - counts.right + counts.open
    known_part = (cells - missed - wrongly_accepted) / cells
    caught = counts.n_open - counts.open
    rejected = caught + counts.n_known - counts.known
    open_part = ratio(caught, rejected, counts.zero_division) if aus == "paper" else caught / counts.n_open
    return np.asarray(weight * known_part + (1 - weight) * open_part)


def unknown_recall_of(counts: Counts) -> UnknownRecallCurve:
    """Fig. 1 of counts already made."""
    return UnknownRecallCurve(
        thresholds=counts.thresholds,
        unknown_recall=1 - counts.fpr,
        f_macro=f_score_of(counts, "macro").f_score,
        f_micro=f_score_of(counts, "micro").f_score,
        youden_macro=youden_of(counts, "macro"),
        youden_micro=youden_of(counts, "micro"),
        normalized_accuracy=normalized_accuracy_of(counts),
        ccr=counts.ccr,
    )


def risk_coverage_of(counts: Counts) -> RiskCoverageCurve:
    """Risk and coverage of counts already made; the risk of accepting nothing is 0."""
    accepted = counts.known + counts.open
    risk = ratio(accepted - counts.right, accepted, 0.0)
    return RiskCoverageCurve(counts.thresholds, accepted / (counts.n_known + counts.n_open), risk)


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
    """What F-score, Youden's index and normalized accuracy say at each share of unknowns caught.

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

    >>> curve = risk_coverage_curve([0, 0, -2], [0, 1, 0], [0.1, 0.5, 0.9])
    >>> curve.coverage.round(3), curve.risk.round(3)
    (array([0.   , 0.333, 0.667, 1.   ]), array([0.   , 0.   , 0.5  , 0.667]))
    """
    return risk_coverage_of(count(labels, predictions, unknown_score, against, groups))
