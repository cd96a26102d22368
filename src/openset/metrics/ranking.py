"""Metrics of the ranking: how well unknown scores order samples, over all thresholds or at one fixed by a rate."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from openset._core.annotations import ArrayLike
from openset._core.arithmetic import divide, unit_bits, unit_sum
from openset._core.checks import check_threshold
from openset._core.counts import Tally, count
from openset._core.decisions import (
    Ties,
    allowed_by,
    last_within,
    precision_at_share,
    tie_credit,
    twice_area,
    whole_number_for,
)
from openset._core.folds import Fold, Place, Reading, Several, Sum, at_threshold, reaching, up_to
from openset._core.pairs import rank_pairs
from openset.curves import Positive, area_units, harmonic_between, height_between, precision_recall_of, risk_units
from openset.errors import check_choice, check_share
from openset.metrics._card import metric

_OPENAUC = "OpenAUC (Wang et al., NeurIPS 2022)"


# ---- kernels: folds over counts ------------------------------------------------------------------------------------


def _auroc() -> Fold:
    # Among all accepted samples the open-set ones rank against each other too: n_open**2 / 2 pairs with ties half.
    return Sum(
        term=lambda run: twice_area(np.diff(run.open), run.accepted),
        value=lambda total, all_of: (total - int(all_of.n_open) ** 2) / _twice_the_pairs(all_of),
    )


def _twice_the_pairs(counts: Tally) -> int:
    return 2 * int(counts.n_known) * int(counts.n_open)


def _aupr(*, positive: Positive = "unknown") -> Fold:
    check_choice("aupr", "positive", positive, ("known", "unknown"))

    def term(run: Tally) -> int:
        curve = precision_recall_of(run, positive)
        gain = np.diff(curve.recall)  # recall of "known" grows along the thresholds, that of "unknown" shrinks
        return unit_sum(gain * curve.precision[1:] if positive == "known" else -gain * curve.precision[:-1], 1)

    plain = Sum(term=term, value=lambda total, _: total / 2 ** unit_bits(1))
    return replace(plain, bounds=lambda best, worst: (_least_aupr(worst, positive), plain(best)))


def _aupr_trapezoid(*, positive: Positive = "unknown") -> Fold:
    check_choice("aupr_trapezoid", "positive", positive, ("known", "unknown"))

    def term(run: Tally) -> int:
        curve = precision_recall_of(run, positive)
        return unit_sum(np.abs(np.diff(curve.recall)) * height_between(curve.precision, 1), 1)

    plain = Sum(term=term, value=lambda total, _: total / 2 ** unit_bits(1))
    return replace(plain, bounds=lambda best, worst: _trapezoid_bounds(best, positive))


def _trapezoid_bounds(counts: Tally, positive: Positive) -> tuple[float, float]:
    """Anywhere in a bin precision is at least that with all its negatives and none of its positives, and at most that
    with all its positives and none of its negatives. In a bin of one score it is the mean of both ends.
    """  # noqa: D205
    forward = 1 if positive == "known" else -1
    found = counts.known[::3] if positive == "known" else (counts.n_open - counts.open[::3])[::-1]
    called = counts.accepted[::3] if positive == "known" else (counts.n_samples - counts.accepted[::3])[::-1]
    gain, more = np.diff(found), np.diff(called)
    start, ends = found[:-1], divide(found, called, 1.0)
    tied = counts.tied_steps[::3][::forward]
    low = np.where(called[:-1] + more - gain > 0, start / np.maximum(called[:-1] + more - gain, 1), 1.0)
    high = (start + gain) / np.maximum(called[:-1] + gain, 1)
    low, high = np.minimum(low, ends[1:]), np.maximum(high, ends[:-1])
    exact = height_between(ends, 1)
    total = found[-1]
    return tuple(float((gain * np.where(tied, exact, one)).sum() / total) for one in (low, high))  # type: ignore[return-value]


def _least_aupr(counts: Tally, positive: Positive) -> float:
    """Average precision where the positives of every bin follow its negatives, one by one.

    From P positives in a bin, with p positives among Q samples before them, come (p + i) / (Q + i) for i = 1 ... P:
    P - (Q - p) (1 / (Q + 1) + ... + 1 / (Q + P)). In a bin of one score all are found together.
    """
    if positive == "known":
        found, called, n = counts.known, counts.accepted, counts.n_known
    else:
        found, called, n = (
            (counts.n_open - counts.open)[::-1],
            (counts.n_samples - counts.accepted)[::-1],
            counts.n_open,
        )
    together = counts.tied_steps[:: 1 if positive == "known" else -1]
    gain, before = np.diff(found), called[:-1]
    one_by_one = gain - (before - found[:-1]) * harmonic_between(before, before + gain)
    at_once = gain * divide(found, called, 1.0)[1:]
    return float(np.where(together, at_once, one_by_one).sum() / n)


def _at_tpr(tpr: float, positive: Positive) -> Place:
    """Strictest threshold that finds a fraction `tpr` of the positives: the first, or the last, that still does."""
    if positive == "known":
        return reaching("known", lambda run: whole_number_for(tpr, run.n_known))
    return up_to("open", lambda run: _missed_at(tpr, run))


def _missed_at(tpr: float, counts: Tally) -> float:
    """Open-set samples that may be accepted where a share `tpr` of them is caught."""
    return counts.n_open - whole_number_for(tpr, counts.n_open)


def _fpr_at_tpr(*, tpr: float = 0.95, positive: Positive = "known") -> Fold:
    check_share("fpr_at_tpr", "tpr", tpr)
    check_choice("fpr_at_tpr", "positive", positive, ("known", "unknown"))

    def read(run: Tally, at: int) -> float:
        if positive == "known":
            return float(run.open[at] / run.n_open)
        return float((run.n_known - (run.accepted[at] - run.open[at])) / run.n_known)

    return Reading(place=_at_tpr(tpr, positive), read=read)


def _error_at_tpr(*, tpr: float = 0.95) -> Fold:
    check_share("error_at_tpr", "tpr", tpr)

    def read(run: Tally, at: int) -> float:
        known_lost = run.n_known - (run.accepted[at] - run.open[at])
        return float((run.open[at] + known_lost) / run.n_samples)

    plain = Reading(place=_at_tpr(tpr, "unknown"), read=read)

    def bounds(best: Tally, worst: Tally) -> tuple[float, float]:
        allowed = _missed_at(tpr, worst)
        at = int(np.searchsorted(worst.open, allowed, side="right")) - 1
        more = 0.0  # open-set samples of the bin that is divided, which may be accepted one by one
        if at + 1 < len(worst.open) and not worst.tied_steps[at]:
            more = max(allowed - float(worst.open[at]), 0.0)
        return plain(best), read(worst, at) + more / worst.n_samples

    return replace(plain, bounds=bounds)


def _open_auc(*, ties: Ties = "half", balanced: bool = False) -> Fold:
    credit = tie_credit("open_auc", ties)
    if not balanced:
        return Sum(
            term=lambda run: twice_area(np.diff(run.open), run.right, credit),
            value=lambda total, all_of: total / _twice_the_pairs(all_of),
        )
    return Sum(
        per_class=True,
        term=lambda run: unit_sum(np.diff(run.open) / run.n_open * height_between(run.macro_recall, credit), 1),
        value=lambda total, _: total / 2 ** unit_bits(1),
    )


def _partial_open_auc(*, max_fpr: float, ties: Ties = "half", balanced: bool = False) -> Fold:
    tie_credit("partial_open_auc", ties)
    check_share("partial_open_auc", "max_fpr", max_fpr)

    def term(run: Tally) -> int:
        if run.open[0] / run.n_open > max_fpr:
            return 0
        part = slice(None, last_within(run.open, run.n_open, max_fpr) + 2)  # up to the first point beyond max_fpr
        ccr = run.macro_recall[part] if balanced else run.right[part] / run.n_known
        return area_units(run.open[part] / run.n_open, ccr, ties=ties, max_fpr=max_fpr)

    return Sum(per_class=balanced, term=term, value=lambda total, _: total / 2 ** unit_bits(1) / max_fpr)


def _ccr_at_fpr(*, fpr: float, balanced: bool = False) -> Fold:
    check_share("ccr_at_fpr", "fpr", fpr, zero=True)
    return Reading(
        per_class=balanced,
        place=up_to("open", lambda run: allowed_by(fpr, run.n_open)),
        read=lambda run, at: float(run.macro_recall[at] if balanced else run.right[at] / run.n_known),
    )


def _aurc() -> Fold:
    return Sum(
        term=lambda run: risk_units(run.accepted, run.accepted - run.right, run.n_samples),
        value=lambda total, all_of: total / (int(all_of.n_samples) << unit_bits(all_of.n_samples)),
    )


def _augrc() -> Fold:
    return Sum(
        term=lambda run: twice_area(np.diff(run.accepted), run.accepted - run.right),
        value=lambda total, all_of: total / (2 * int(all_of.n_samples) ** 2),
    )


def _accuracy_auroc(*, combine: str = "product") -> Fold:
    check_choice("accuracy_auroc", "combine", combine, ("product", "sum", "pointwise"))
    ranked = _auroc()

    def part(run: Tally) -> tuple[int, float]:
        return ranked.part(run), float(run.right[-1] / run.n_known)

    def join(parts: Sequence[tuple[int, float]]) -> tuple[int, float]:
        return sum(one for one, _ in parts), parts[-1][1]

    def value(both: tuple[int, float], all_of: Tally) -> float:
        ranking, accuracy = ranked.whole([both[0]], all_of), both[1]
        return accuracy * ranking if combine == "product" else accuracy + ranking

    return Several(gather=part, joined=join, value=value)


def _known_precision(*, threshold: float, unknown_share: float, right: bool = False) -> Fold:
    check_share("known_precision", "unknown_share", unknown_share, zero=True)
    check_threshold(threshold)

    def read(run: Tally, at: int) -> float:
        known, hits, fpr = run.accepted[at] - run.open[at], run.right[at], run.open[at] / run.n_open
        return float(
            precision_at_share(
                known / run.n_known,
                fpr,
                unknown_share,
                hits=hits / run.n_known if right else None,
                zero_division=run.zero_division,
            )
        )

    return Reading(place=at_threshold(threshold), read=read)


# ---- the public functions ------------------------------------------------------------------------------------------


@metric(
    "OpenAUC",
    fold=_open_auc,
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
    """Probability that a known is classified correctly and ranked below an open-set sample.

    Mean over all pairs of [known correct] * [open-set score higher than known score]: the area under the OSCR curve.
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
        return _open_auc(ties=ties, balanced=True)(counts)
    tie_credit("open_auc", ties)
    pairs = rank_pairs(labels, predictions, unknown_score, against=against, groups=groups, n_classes=n_classes)
    return pairs.share(ties)


@metric("AUROC", fold=_auroc, paper=f"{_OPENAUC}, eq. 8", uses_predictions=False, interval="delong", headline=True)
def auroc(
    labels: ArrayLike, unknown_score: ArrayLike, *, against: str = "all", groups: ArrayLike | None = None
) -> float:
    """Probability that an open-set sample has a higher unknown score than a known one; ties count half.

    Blind to whether the knowns are classified correctly.

    >>> auroc([0, 1, -2, -2], [0.3, 0.1, 0.3, 0.9])
    0.875
    """
    return rank_pairs(labels, None, unknown_score, against=against, groups=groups).share("half")


@metric(
    "AUPR ({positive} positive)",
    fold=_aupr,
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
    return _aupr(positive=positive)(count(labels, None, unknown_score, against, groups))


@metric(
    "AUPR, trapezoid ({positive} positive)",
    fold=_aupr_trapezoid,
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
    return _aupr_trapezoid(positive=positive)(count(labels, None, unknown_score, against, groups))


@metric(
    "FPR at {tpr:percent} TPR ({positive} positive)",
    fold=_fpr_at_tpr,
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
    """False positive rate at the strictest threshold that finds a fraction `tpr` of the positives.

    `positive="known"`: fraction of open-set samples accepted where at least `tpr` of the knowns are accepted.
    `positive="unknown"`: fraction of knowns rejected where at least `tpr` of the open-set samples are rejected.

    >>> fpr_at_tpr([0, 0, -2, -2], [0.1, 0.3, 0.2, 0.9])
    0.5
    >>> fpr_at_tpr([0, 0, 0, -2, -2], [0.1, 0.3, 0.1, 0.2, 0.9], positive="unknown").__round__(3)
    0.333
    """
    return _fpr_at_tpr(tpr=tpr, positive=positive)(count(labels, None, unknown_score, against, groups))


@metric(
    "Error at {tpr:percent} TPR (unknown positive)",
    fold=_error_at_tpr,
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
    """Error rate of known versus unknown at the largest threshold that still rejects a fraction `tpr` of the unknowns.

    >>> error_at_tpr([0, 0, -2, -2], [0.1, 0.2, 0.8, 0.9])
    0.0
    """
    return _error_at_tpr(tpr=tpr)(count(labels, None, unknown_score, against, groups))


@metric(
    "Partial OpenAUC up to FPR {max_fpr:g}",
    fold=_partial_open_auc,
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
    return _partial_open_auc(max_fpr=max_fpr, ties=ties, balanced=balanced)(counts)


@metric(
    "CCR at FPR {fpr:g}",
    fold=_ccr_at_fpr,
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
    """Largest fraction of knowns accepted and correct where at most a fraction `fpr` of the open set is accepted.

    At `fpr=1` it is the closed-set accuracy. `balanced=True` averages over the known classes.

    >>> ccr_at_fpr([0, 0, 0, -2, -2], [0, 0, 1, 0, 0], [0.1, 0.5, 0.2, 0.3, 0.9], fpr=0.25).__round__(3)
    0.333
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _ccr_at_fpr(fpr=fpr, balanced=balanced)(counts)


@metric("AURC", fold=_aurc, better="lower", paper="Geifman and El-Yaniv, 2017", invariant_to_repeats=False)
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
    return _aurc()(count(labels, predictions, unknown_score, against, groups))


@metric(
    "AUGRC",
    fold=_augrc,
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
    return _augrc()(count(labels, predictions, unknown_score, against, groups))


@metric(
    "Accuracy and AUROC ({combine})",
    fold=_accuracy_auroc,
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

    "pointwise", the mean over pairs of [correct] + [ranked higher], equals "sum", because the mean of a sum is the sum
    of the means.

    >>> accuracy_auroc([0, 1, -2, -2], [0, 0, 1, 1], [0.3, 0.1, 0.3, 0.9])
    0.4375
    """
    return _accuracy_auroc(combine=combine)(count(labels, predictions, unknown_score, against, groups))


@metric("Precision of known at {unknown_share:percent} unknowns", fold=_known_precision, variants=())
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
    """Fraction of accepted samples that are known if a fraction `unknown_share` of arriving samples is open-set.

    The test set's own mix does not matter: acceptance and FPR are weighted by the assumed mix. With `right=True` a
    sample counts only if it is also classified correctly. If nothing is accepted the value is `zero_division`.

    >>> scores = [0.1, 0.3, 0.2, 0.9]
    >>> known_precision([0, 0, -2, -2], [0, 0, 0, 0], scores, threshold=0.3, unknown_share=0.1).__round__(4)
    0.9474
    """
    counts = count(labels, predictions, unknown_score, against, groups, None, zero_division)
    return _known_precision(threshold=threshold, unknown_share=unknown_share, right=right)(counts)
