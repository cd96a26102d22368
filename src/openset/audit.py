"""How a metric could be fooled, on the user's own scores: the three constructions of the OpenAUC paper.

Each construction changes a model's output on some samples so that a metric does not notice (or even improves) while
the model gets worse at rejecting unknowns or at accepting correct knowns. Each is carried as far as the data allows,
and the result says how far that was.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.counts import Counts, rank
from openset._core.decisions import first_reaching, is_rejected, last_catching
from openset._core.numbers import number, percent
from openset.curves import (
    UnknownRecallCurve,
    f_score_of,
    normalized_accuracy_of,
    unknown_recall_of,
    youden_of,
)
from openset.metrics import METRICS
from openset.scores import Scores


@dataclass(frozen=True)
class FoolingAttempt:
    """One metric before and after a construction."""

    metric: str
    construction: str
    threshold: float | None
    before: float
    after: float
    open_auc_before: float
    open_auc_after: float
    unknown_recall_before: float | None
    unknown_recall_after: float | None
    changed: int
    """Number of pairs of samples whose outputs were changed."""
    limit: str
    """Why the construction ended where it did."""

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        moved = f"OpenAUC {_moved(self.open_auc_before, self.open_auc_after)}"
        if not self.changed:
            return f"{self.metric}: the construction does not apply here ({self.limit})."
        if self.unknown_recall_before is None or self.unknown_recall_after is None:
            return (
                f"{self.metric} stays at {number(self.before)} for a model that puts its misclassified knowns first; "
                f"{moved} "
                f"({self.changed} pairs of knowns exchanged)."
            )
        same = abs(self.before - self.after) < 1e-9
        reached = "is also reached by" if same else f"rises to {number(self.after)} for"
        return (
            f"{self.metric} of {number(self.before)} {reached} a model that catches "
            f"{percent(self.unknown_recall_after, 0)} of the unknowns instead of "
            f"{percent(self.unknown_recall_before, 0)}; {moved} ({self.limit})."
        )


def _moved(before: float, after: float) -> str:
    if abs(before - after) < 5e-4:
        return f"stays at {number(before)}"
    digits = 3 if number(before) != number(after) else 4
    return f"{'falls' if after < before else 'rises'} from {number(before, digits)} to {number(after, digits)}"


@dataclass(frozen=True)
class Consistency:
    """A row of the paper's Table 1 as it comes out on these scores; None where nothing could be shown either way.

    The paper grants normalized accuracy P2 by its definition; here it counts what the second construction does to it.
    """

    metric: str
    close: bool | None
    """P1: a correct known ranked worse than a wrong one is noticed."""
    open: bool | None
    """P2: unknowns that are no longer caught are noticed."""
    threshold: bool
    """P3: no threshold has to be chosen."""
    numeric: bool
    """P4: it is one number."""


@dataclass(frozen=True, eq=False)
class Audit:
    """All findings on one model's scores."""

    findings: tuple[FoolingAttempt, ...]
    table: tuple[Consistency, ...]
    curve: UnknownRecallCurve
    at_recall: Mapping[float, int]
    """For some fractions of unknowns caught, the point of the curve with the largest threshold that catches so many."""
    tied_pairs: float


@dataclass(frozen=True, eq=False)
class _Model:
    """Outputs on the samples under audit, in ascending order of unknown score; a construction returns a new one."""

    label: NDArray[Any]
    prediction: NDArray[Any]
    score: NDArray[Any]
    n_classes: int

    def counts(self) -> Counts:
        return Counts(rank(self.label, self.prediction, self.score, n_classes=self.n_classes))


def exchange_rejections(model: _Model, threshold: float) -> tuple[_Model, int, str]:
    """Proposition 1: accept a caught unknown as what an accepted, misclassified known was taken for; reject that known.

    Counts of true and false positives and negatives of every known class stay the same, so F-score and Youden's index
    do; one unknown fewer is caught each time.
    """
    rejected = is_rejected(model.score, threshold)
    caught = np.flatnonzero(rejected & (model.label < 0))
    wrong = np.flatnonzero(~rejected & (model.label >= 0) & (model.label != model.prediction))
    n = min(len(caught), len(wrong))
    prediction, score = model.prediction.copy(), model.score.copy()
    prediction[caught[:n]] = model.prediction[wrong[:n]]
    score[caught[:n]], score[wrong[:n]] = model.score[wrong[:n]], model.score[caught[:n]]
    limit = f"{n} accepted misclassified knowns could be exchanged for the {len(caught)} caught unknowns"
    if n == len(caught):
        limit = f"all {n} caught unknowns exchanged for accepted misclassified knowns"
    return _Model(model.label, prediction, score, model.n_classes), n, limit


def accept_in_pairs(model: _Model, threshold: float) -> tuple[_Model, int, str]:
    """Proposition 2: accept a rejected known, rightly, together with a caught unknown, as the known's class.

    The accuracy on knowns (AKS) stays, while the precision of "unknown" (AUS) rises as long as more unknowns than
    knowns are rejected; it ends when no rejected known is left.
    """
    rejected = is_rejected(model.score, threshold)
    caught = np.flatnonzero(rejected & (model.label < 0))
    lost = np.flatnonzero(rejected & (model.label >= 0))
    n = min(len(caught), len(lost)) if len(caught) > len(lost) else 0
    prediction, score = model.prediction.copy(), model.score.copy()
    prediction[caught[:n]] = prediction[lost[:n]] = model.label[lost[:n]]
    score[caught[:n]] = score[lost[:n]] = threshold  # the least change that makes both accepted
    if not len(lost):
        limit = "no known is rejected at this threshold"
    elif not n:
        limit = f"needs more caught unknowns than rejected knowns, found {len(caught)} and {len(lost)}"
    else:
        limit = (
            f"ends when all {n} rejected knowns are used up, {len(caught) - n} of {len(caught)} unknowns still caught"
        )
    return _Model(model.label, prediction, score, model.n_classes), n, limit


def exchange_ranks(model: _Model) -> tuple[_Model, int, str]:
    """Proposition 3: misclassified and correct knowns exchange scores until the former are ranked most known.

    Accuracy and AUROC cannot see it: the scores of the knowns as a set stay the same. Each exchange has an open-set
    sample strictly between the two scores, so each costs OpenAUC.
    """
    known = np.flatnonzero(model.label >= 0)  # in score order
    right = model.label[known] == model.prediction[known]
    low, high = known[right], known[~right][::-1]  # lowest correct known first, highest misclassified known first
    n = min(len(low), len(high))
    low, high = low[:n], high[:n]
    opens = model.score[model.label < 0]
    between = np.searchsorted(opens, model.score[high], side="left") - np.searchsorted(
        opens, model.score[low], side="right"
    )
    pairs = between > 0
    low, high = low[pairs], high[pairs]
    score = model.score.copy()
    score[low], score[high] = model.score[high], model.score[low]
    limit = f"{len(low)} pairs of a correct and a misclassified known with an unknown between them"
    if not len(low):
        limit = "no unknown lies between a correct known and a misclassified known ranked worse"
    return _Model(model.label, model.prediction, score, model.n_classes), len(low), limit


_RECALLS = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_Curve = Callable[[Counts], NDArray[np.float64]]
_Construction = Callable[[_Model, float], tuple[_Model, int, str]]
_DECISIONS: dict[str, tuple[_Curve, _Construction, str]] = {
    "macro F-score": (lambda counts: f_score_of(counts, "macro").f_score, exchange_rejections, "Prop. 1"),
    "micro F-score": (lambda counts: f_score_of(counts, "micro").f_score, exchange_rejections, "Prop. 1"),
    "macro Youden": (lambda counts: youden_of(counts, "macro"), exchange_rejections, "Prop. 1"),
    "micro Youden": (lambda counts: youden_of(counts, "micro"), exchange_rejections, "Prop. 1"),
    "normalized accuracy": (normalized_accuracy_of, accept_in_pairs, "Prop. 2"),
}
_AGGREGATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "AUROC": ("auroc", {}),
    "accuracy * AUROC": ("accuracy_auroc", {"combine": "product"}),
    "accuracy + AUROC": ("accuracy_auroc", {"combine": "sum"}),
    "pointwise accuracy + AUROC": ("accuracy_auroc", {"combine": "pointwise"}),
}


def audit(scores: Scores, *, against: str = "all", threshold: float | None = None) -> Audit:
    """Run the three constructions on these scores.

    Without a `threshold`, F-score and Youden's index are attacked where they are largest, normalized accuracy where
    95 % of the knowns are accepted (where it is largest, no known is rejected as a rule, and nothing is left to gain).
    """
    counts = scores.counts(against)
    ranking = counts.ranking
    assert ranking.prediction is not None
    model = _Model(ranking.label, ranking.prediction, ranking.score, ranking.n_classes)
    findings = [_fool_decisions(name, model, counts, threshold) for name in _DECISIONS]
    changed, n, limit = exchange_ranks(model)
    after = changed.counts()
    for name, (metric, params) in _AGGREGATIONS.items():
        findings.append(
            FoolingAttempt(
                metric=name,
                construction="Prop. 3",
                threshold=None,
                before=METRICS[metric].of(counts, **params),
                after=METRICS[metric].of(after, **params),
                open_auc_before=METRICS["open_auc"].of(counts),
                open_auc_after=METRICS["open_auc"].of(after),
                unknown_recall_before=None,
                unknown_recall_after=None,
                changed=n,
                limit=limit,
            )
        )
    at_recall = {share: last_catching(counts.open, counts.n_open, share) for share in _RECALLS}
    return Audit(tuple(findings), _table(findings), unknown_recall_of(counts), at_recall, counts.tied_pairs)


def _fool_decisions(name: str, model: _Model, counts: Counts, threshold: float | None) -> FoolingAttempt:
    curve_of, construct, title = _DECISIONS[name]
    curve = curve_of(counts)
    if threshold is not None:
        at = counts.at(threshold)
    elif construct is accept_in_pairs:
        at = first_reaching(counts.known, counts.n_known, 0.95)
    else:
        at = int(curve.argmax())
    lowest = counts.thresholds[1]
    value = float(counts.thresholds[at]) if at else float(np.nextafter(lowest, -np.inf, dtype=lowest.dtype))
    changed, n, limit = construct(model, value)
    after = changed.counts()
    there = after.at(value)
    return FoolingAttempt(
        metric=name,
        construction=title,
        threshold=value,
        before=float(curve[at]),
        after=float(curve_of(after)[there]),
        open_auc_before=METRICS["open_auc"].of(counts),
        open_auc_after=METRICS["open_auc"].of(after),
        unknown_recall_before=float(1 - counts.fpr[at]),
        unknown_recall_after=float(1 - after.fpr[there]),
        changed=n,
        limit=limit,
    )


def _table(findings: list[FoolingAttempt]) -> tuple[Consistency, ...]:
    """Table 1: marks that a construction can give are taken from what it did here, the others hold by definition."""
    by_name = {finding.metric: finding for finding in findings}

    def notices(name: str) -> bool | None:
        finding = by_name[name]
        if not finding.changed:
            return None
        return finding.after < finding.before - 1e-9

    exchanged = by_name["AUROC"]
    coupled = None if not exchanged.changed else exchanged.open_auc_after < exchanged.open_auc_before
    swapped = by_name["macro F-score"]
    unknowns = None if not swapped.changed else swapped.open_auc_after < swapped.open_auc_before
    return (
        Consistency("open-set F-score", True, notices("macro F-score"), threshold=False, numeric=True),
        Consistency("Youden's index", True, notices("macro Youden"), threshold=False, numeric=True),
        Consistency("normalized accuracy", True, notices("normalized accuracy"), threshold=False, numeric=True),
        Consistency("AUROC", notices("AUROC"), True, threshold=True, numeric=True),
        Consistency("accuracy * AUROC", notices("accuracy * AUROC"), True, threshold=True, numeric=True),
        Consistency("OSCR curve", coupled, unknowns, threshold=True, numeric=False),
        Consistency("OpenAUC", coupled, unknowns, threshold=True, numeric=True),
    )
