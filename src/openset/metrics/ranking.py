"""Metrics of the ranking: how well unknown scores order samples, over all thresholds or at one fixed by a rate."""

from typing import Literal

import numpy as np

from openset._core.annotations import ArrayLike
from openset._core.arithmetic import dot
from openset._core.counts import Counts, count
from openset._core.decisions import (
    Ties,
    area,
    first_reaching,
    last_catching,
    last_within,
    precision_at_share,
    tie_credit,
)
from openset._core.pairs import rank_pairs
from openset.curves import OscrCurve, Positive, precision_recall_of, risk_sum
from openset.errors import check_choice, check_share
from openset.metrics._card import metric

_OPENAUC = "OpenAUC (Wang et al., NeurIPS 2022)"


# ---- kernels: from counts ------------------------------------------------------------------------------------------


def _auroc(counts: Counts) -> float:
    return counts.ranked_known / (counts.n_known * counts.n_open)


def _aupr(counts: Counts, *, positive: Positive = "unknown") -> float:
    check_choice("aupr", "positive", positive, ("known", "unknown"))
    total = 0.0
    for part in counts.windows():
        curve = precision_recall_of(part, positive)
        gain = np.diff(curve.recall)  # recall of "known" grows along the thresholds, that of "unknown" shrinks
        total += float(dot(gain, curve.precision[1:]) if positive == "known" else -dot(gain, curve.precision[:-1]))
    return total


def _aupr_trapezoid(counts: Counts, *, positive: Positive = "unknown") -> float:
    check_choice("aupr_trapezoid", "positive", positive, ("known", "unknown"))
    total = 0.0
    for part in counts.windows():
        curve = precision_recall_of(part, positive)
        total += abs(area(np.diff(curve.recall), curve.precision))
    return total


def _at_tpr(counts: Counts, tpr: float, positive: Positive) -> int:
    """Strictest threshold that finds a share `tpr` of the positives: the first, or the last, that still does."""
    if positive == "known":
        return first_reaching(counts.known, counts.n_known, tpr)
    return last_catching(counts.open, counts.n_open, tpr)


def _fpr_at_tpr(counts: Counts, *, tpr: float = 0.95, positive: Positive = "known") -> float:
    check_share("fpr_at_tpr", "tpr", tpr)
    check_choice("fpr_at_tpr", "positive", positive, ("known", "unknown"))
    at = _at_tpr(counts, tpr, positive)
    if positive == "known":
        return float(counts.open[at] / counts.n_open)
    return float((counts.n_known - (counts.accepted[at] - counts.open[at])) / counts.n_known)


def _error_at_tpr(counts: Counts, *, tpr: float = 0.95) -> float:
    check_share("error_at_tpr", "tpr", tpr)
    at = _at_tpr(counts, tpr, "unknown")
    known_lost = counts.n_known - (counts.accepted[at] - counts.open[at])
    return float((counts.open[at] + known_lost) / counts.n_samples)


def _open_auc(counts: Counts, *, ties: Ties = "half", balanced: bool = False) -> float:
    credit = tie_credit("open_auc", ties)
    total = sum(
        area(np.diff(part.open), part.macro_recall if balanced else part.right, credit) for part in counts.windows()
    )
    return total / (counts.n_open * (1 if balanced else counts.n_known))


def _partial_open_auc(counts: Counts, *, max_fpr: float, ties: Ties = "half", balanced: bool = False) -> float:
    tie_credit("partial_open_auc", ties)
    check_share("partial_open_auc", "max_fpr", max_fpr)
    part = slice(None, last_within(counts.open, counts.n_open, max_fpr) + 2)  # up to the first point beyond max_fpr
    ccr = counts.macro_recall[part] if balanced else counts.right[part] / counts.n_known
    curve = OscrCurve(counts.thresholds[part], counts.open[part] / counts.n_open, ccr)
    return curve.area(ties=ties, max_fpr=max_fpr)


def _ccr_at_fpr(counts: Counts, *, fpr: float, balanced: bool = False) -> float:
    check_share("ccr_at_fpr", "fpr", fpr, zero=True)
    at = last_within(counts.open, counts.n_open, fpr)
    return float(counts.macro_recall[at] if balanced else counts.right[at] / counts.n_known)


def _aurc(counts: Counts) -> float:
    parts = (risk_sum(part.accepted, part.accepted - part.right) for part in counts.windows())
    return sum(parts) / counts.n_samples


def _augrc(counts: Counts) -> float:
    parts = (area(np.diff(part.accepted), part.accepted - part.right) for part in counts.windows())
    return sum(parts) / counts.n_samples**2


def _accuracy_auroc(counts: Counts, *, combine: str = "product") -> float:
    check_choice("accuracy_auroc", "combine", combine, ("product", "sum", "pointwise"))
    accuracy, ranking = float(counts.right[-1] / counts.n_known), _auroc(counts)
    return accuracy * ranking if combine == "product" else accuracy + ranking


def _known_precision(counts: Counts, *, threshold: float, unknown_share: float, right: bool = False) -> float:
    check_share("known_precision", "unknown_share", unknown_share, zero=True)
    at = counts.at(threshold)
    known, hits, fpr = counts.accepted[at] - counts.open[at], counts.right[at], counts.open[at] / counts.n_open
    return float(
        precision_at_share(
            known / counts.n_known,
            fpr,
            unknown_share,
            hits=hits / counts.n_known if right else None,
            zero_division=counts.zero_division,
        )
    )


# ---- the public functions ------------------------------------------------------------------------------------------


@metric(
    "OpenAUC",
    of=_open_auc,
    paper=f"{_OPENAUC}, eq. 12",
    variants=({}, {"balanced": True}),
    interval="delong",
    headline=True,
)
def open_auc(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    ties: Ties = "half",
    balanced: bool = False,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """Probability that a known is classified right and ranked below an open-set sample.

    Mean over all pairs of [known right] * [open-set score higher than known score]: the area under the OSCR curve.
    A tied pair counts half (`ties="half"`, straight joints of the curve), not at all ("strict", eq. 12) or fully
    ("full", eqs. 10-11). `balanced=True` gives every known class the same weight.

    Args:
        labels: (n,) 0 .. K-1 known, -1 negative, -2 unknown.
        predictions: (n,) best known class.
        unknown_score: (n,) higher = more unknown.
        ties: credit for tied pairs.
        balanced: average over classes instead of samples.
        against: "all", "negative", "unknown" or a name in `groups`.
        groups: (n,) names of parts of the open-set samples.
        n_classes: K, else 1 + the largest label or prediction.
        zero_division: CCR of a class without samples (with `balanced`).

    Two knowns, the second one wrong, and two unknowns: of the four pairs the two of the first known can count, and one
    of these is tied.

    >>> open_auc([0, 1, -2, -2], [0, 0, 1, 1], [0.3, 0.1, 0.3, 0.9])
    0.375
    """
    if balanced:
        counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
        return _open_auc(counts, ties=ties, balanced=True)
    tie_credit("open_auc", ties)
    pairs = rank_pairs(labels, predictions, unknown_score, against=against, groups=groups, n_classes=n_classes)
    return pairs.share(ties)


@metric("AUROC", of=_auroc, paper=f"{_OPENAUC}, eq. 8", uses_predictions=False, interval="delong", headline=True)
def auroc(
    labels: ArrayLike, unknown_score: ArrayLike, *, against: str = "all", groups: ArrayLike | None = None
) -> float:
    """Probability that an open-set sample has a higher unknown score than a known one; ties count half.

    Blind to whether the knowns are classified right.

    >>> auroc([0, 1, -2, -2], [0.3, 0.1, 0.3, 0.9])
    0.875
    """
    return rank_pairs(labels, None, unknown_score, against=against, groups=groups).share("half")


@metric(
    "AUPR ({positive} positive)",
    of=_aupr,
    paper="average precision, step-wise",
    variants=({"positive": "unknown"}, {"positive": "known"}),
    uses_predictions=False,
)
def aupr(
    labels: ArrayLike,
    unknown_score: ArrayLike,
    *,
    positive: Positive = "unknown",
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Average precision (step-wise area under precision-recall) of finding unknowns, or knowns.

    Sum over distinct scores of the gain in recall times the precision there, as scikit-learn does; not the trapezoid.

    >>> round(aupr([0, 0, 0, -2, -2], [0.1, 0.4, 0.35, 0.8, 0.3]), 3)
    0.75
    """
    return _aupr(count(labels, None, unknown_score, against, groups), positive=positive)


@metric(
    "AUPR, trapezoid ({positive} positive)",
    of=_aupr_trapezoid,
    paper="straight lines between the points, as OpenOOD and pytorch-ood report AUPR",
    variants=({"positive": "unknown"}, {"positive": "known"}),
    uses_predictions=False,
)
def aupr_trapezoid(
    labels: ArrayLike,
    unknown_score: ArrayLike,
    *,
    positive: Positive = "unknown",
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Area under precision-recall with straight lines between its points, of finding unknowns, or knowns.

    Straight lines promise precisions that no threshold reaches, so the value is mostly above average precision
    (`aupr`): it is here for comparison with results that were computed so. The curve begins at recall 0, precision 1.

    Points (recall, precision) of the example: (0, 1), (.5, 1), (.5, .5), (.5, .333), (1, .5), (1, .4).

    >>> round(aupr_trapezoid([0, 0, 0, -2, -2], [0.1, 0.4, 0.35, 0.8, 0.3]), 4)
    0.7083
    """
    return _aupr_trapezoid(count(labels, None, unknown_score, against, groups), positive=positive)


@metric(
    "FPR at {tpr:.0%} TPR ({positive} positive)",
    of=_fpr_at_tpr,
    better="lower",
    variants=({"tpr": 0.95, "positive": "known"}, {"tpr": 0.95, "positive": "unknown"}),
    uses_predictions=False,
    headline=True,
)
def fpr_at_tpr(
    labels: ArrayLike,
    unknown_score: ArrayLike,
    *,
    tpr: float = 0.95,
    positive: Positive = "known",
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """False positive rate at the strictest threshold that finds a share `tpr` of the positives.

    `positive="known"`: share of open-set samples accepted where at least `tpr` of the knowns are accepted.
    `positive="unknown"`: share of knowns rejected where at least `tpr` of the open-set samples are rejected.

    >>> fpr_at_tpr([0, 0, -2, -2], [0.1, 0.3, 0.2, 0.9])
    0.5
    >>> fpr_at_tpr([0, 0, 0, -2, -2], [0.1, 0.3, 0.1, 0.2, 0.9], positive="unknown").__round__(3)
    0.333
    """
    return _fpr_at_tpr(count(labels, None, unknown_score, against, groups), tpr=tpr, positive=positive)


@metric(
    "Error at {tpr:.0%} TPR (unknown positive)",
    of=_error_at_tpr,
    better="lower",
    variants=({"tpr": 0.95},),
    uses_predictions=False,
)
def error_at_tpr(
    labels: ArrayLike,
    unknown_score: ArrayLike,
    *,
    tpr: float = 0.95,
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Error rate of known versus unknown at the largest threshold that still rejects a share `tpr` of the unknowns.

    >>> error_at_tpr([0, 0, -2, -2], [0.1, 0.2, 0.8, 0.9])
    0.0
    """
    return _error_at_tpr(count(labels, None, unknown_score, against, groups), tpr=tpr)


@metric(
    "Partial OpenAUC up to FPR {max_fpr:g}",
    of=_partial_open_auc,
    paper=f"{_OPENAUC}, section 6",
    variants=({"max_fpr": 0.1},),
)
def partial_open_auc(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    max_fpr: float,
    ties: Ties = "half",
    balanced: bool = False,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """Mean CCR over the false positive rates from 0 to `max_fpr`: the part of OpenAUC where few unknowns pass.

    Area under the OSCR curve up to `max_fpr`, divided by it, so perfect is 1. Ties as in `open_auc`.

    >>> partial_open_auc([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.5, 0.3, 0.9], max_fpr=0.5)
    0.5
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _partial_open_auc(counts, max_fpr=max_fpr, ties=ties, balanced=balanced)


@metric(
    "CCR at FPR {fpr:g}",
    of=_ccr_at_fpr,
    paper="ImageNet open-set protocols (Palechor et al., WACV 2023), eq. 6",
    variants=({"fpr": 0.1}, {"fpr": 0.01}, {"fpr": 0.1, "balanced": True}),
    headline=True,
)
def ccr_at_fpr(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    fpr: float,
    balanced: bool = False,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """Largest share of knowns accepted and right at any threshold that accepts at most a share `fpr` of the open set.

    At `fpr=1` it is the closed-set accuracy. `balanced=True` averages over the known classes.

    >>> ccr_at_fpr([0, 0, 0, -2, -2], [0, 0, 1, 0, 0], [0.1, 0.5, 0.2, 0.3, 0.9], fpr=0.25).__round__(3)
    0.333
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _ccr_at_fpr(counts, fpr=fpr, balanced=balanced)


@metric("AURC", of=_aurc, better="lower", paper="Geifman and El-Yaniv, 2017", invariant_to_repeats=False)
def aurc(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Area under risk-coverage: mean fraction of errors among the accepted, as samples are accepted one by one.

    AURC = 1/n * sum over k of (errors among the k samples with the lowest unknown scores) / k. An accepted open-set
    sample is an error, like an accepted misclassified known. Of tied samples every order is equally likely, and the
    mean over all orders is taken.

    >>> aurc([0, 0, -2], [0, 1, 0], [0.1, 0.5, 0.9]).__round__(4)
    0.3889
    >>> aurc([0, -2, -2], [0, 0, 0], [0.1, 0.5, 0.5]).__round__(4)  # (0 + 1/2 + 2/3) / 3
    0.3889
    """
    return _aurc(count(labels, predictions, unknown_score, against, groups))


@metric(
    "AUGRC",
    of=_augrc,
    better="lower",
    span=(0.0, 0.5),
    paper="Traub et al., Overcoming Common Flaws in the Evaluation of Selective Classification Systems, NeurIPS 2024",
)
def augrc(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Area under generalized risk-coverage: mean fraction of all samples that are accepted errors, over coverages.

    The generalized risk at a threshold is (errors among the accepted) / (all samples), not / (accepted) as in `aurc`:
    it is the chance of an error that nobody catches, and its area gives all errors the same weight, where AURC weights
    the first ones most. An accepted open-set sample is an error, like an accepted misclassified known. With e the
    fraction of errors when all are accepted, AUGRC = (1 - AUROC of errors against correct ones) * e (1 - e) + e^2 / 2;
    ties count half. Rejecting by chance gives e / 2.

    >>> augrc([0, 0, -2], [0, 1, 0], [0.1, 0.5, 0.9]).__round__(4)  # risks 0, 0, 1/3, 2/3 at coverages 0, 1/3, 2/3, 1
    0.2222
    """
    return _augrc(count(labels, predictions, unknown_score, against, groups))


@metric(
    "Accuracy and AUROC ({combine})",
    of=_accuracy_auroc,
    span=(0.0, 2.0),
    paper=f"{_OPENAUC}, corollary 2; for comparison only",
    variants=({"combine": "product"}, {"combine": "sum"}),
)
def accuracy_auroc(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    combine: Literal["product", "sum", "pointwise"] = "product",
    against: str = "all",
    groups: ArrayLike | None = None,
) -> float:
    """Closed-set accuracy combined with AUROC: what people report instead of OpenAUC, and what the audit shows fooled.

    "pointwise", the mean over pairs of [right] + [ranked higher], equals "sum", because the mean of a sum is the sum of
    the means.

    >>> accuracy_auroc([0, 1, -2, -2], [0, 0, 1, 1], [0.3, 0.1, 0.3, 0.9])
    0.4375
    """
    return _accuracy_auroc(count(labels, predictions, unknown_score, against, groups), combine=combine)


@metric("Precision of known at {unknown_share:.0%} unknowns", of=_known_precision, variants=())
def known_precision(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    threshold: float,
    unknown_share: float,
    right: bool = False,
    against: str = "all",
    groups: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Share of accepted samples that are known, if a share `unknown_share` of what arrives in deployment is open-set.

    The test set's own mix does not matter: acceptance and FPR are weighted by the assumed mix. With `right=True` a
    sample counts only if it is also classified right. If nothing is accepted the value is `zero_division`.

    >>> scores = [0.1, 0.3, 0.2, 0.9]
    >>> known_precision([0, 0, -2, -2], [0, 0, 0, 0], scores, threshold=0.3, unknown_share=0.1).__round__(4)
    0.9474
    """
    counts = count(labels, predictions, unknown_score, against, groups, None, zero_division)
    return _known_precision(counts, threshold=threshold, unknown_share=unknown_share, right=right)
