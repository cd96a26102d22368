"""Metrics of decisions: what is accepted, as what, at one threshold or at the best of all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openset._core.annotations import ArrayLike
from openset._core.checks import (
    as_ints,
    as_scores,
    as_text,
    check_finite,
    check_labels,
    check_lengths,
    check_threshold,
    open_mask,
    resolve_classes,
)
from openset._core.counts import Counts, Tally, count
from openset._core.decisions import confusion_counts, confusion_rows, first_acceptance
from openset._core.folds import AT_END, Best, Fold, Reading, at_threshold, point_of
from openset.curves import Average, macro_f_of, micro_f_of, normalized_accuracy_of, youden_of
from openset.errors import OpenSetError, check_choice, check_share
from openset.metrics._card import metric

_OPENAUC = "OpenAUC (Wang et al., NeurIPS 2022)"
Highest = Literal["best"]


def pick(
    curve: Callable[[Tally], NDArray[np.float64]], threshold: float | str, *, per_class: bool = False
) -> Best | Reading:
    """The largest value of a curve, or its value at the threshold that the user names."""
    if isinstance(threshold, str):
        check_choice("threshold", "threshold", threshold, ("best",))
        return Best(per_class=per_class, curve=curve)
    check_threshold(threshold)
    return Reading(per_class=per_class, place=at_threshold(threshold), read=point_of(curve))


def _closed_set_accuracy(*, balanced: bool = False) -> Fold:
    return Reading(
        per_class=balanced,
        place=AT_END,
        read=lambda run, at: float(run.macro_recall[at] if balanced else run.right[at] / run.n_known),
    )


def _f_score(*, average: Average = "macro", threshold: float | Highest = "best") -> Fold:
    check_choice("open_set_f_score", "average", average, ("macro", "micro"))
    return pick(macro_f_of if average == "macro" else micro_f_of, threshold, per_class=average == "macro")


def _youden(*, average: Average = "macro", threshold: float | Highest = "best") -> Fold:
    check_choice("youden_index", "average", average, ("macro", "micro"))
    return pick(lambda run: youden_of(run, average), threshold, per_class=average == "macro")


def _normalized_accuracy(
    *, threshold: float | Highest = "best", weight: float = 0.5, aus: Literal["paper", "recall"] = "paper"
) -> Fold:
    check_choice("normalized_accuracy", "aus", aus, ("paper", "recall"))
    check_share("normalized_accuracy", "weight", weight, zero=True)

    def curve(run: Tally) -> NDArray[np.float64]:
        return normalized_accuracy_of(run, weight=weight, aus=aus)

    # In a bin the value is convex in the wrong ones accepted: best with none or all, both of which the best order has.
    return pick(curve, threshold)


def _operational_accuracy(counts: Counts, *, threshold: float, unknown_share: float | None = None) -> float:
    at = counts.at(threshold)
    right, caught = float(counts.right[at]), float(counts.n_open - counts.open[at])
    if unknown_share is None:
        return (right + caught) / float(counts.n_known + counts.n_open)
    check_share("operational_accuracy", "unknown_share", unknown_share, zero=True)
    return (1 - unknown_share) * right / float(counts.n_known) + unknown_share * caught / float(counts.n_open)


@metric(
    "Closed-set accuracy",
    fold=_closed_set_accuracy,
    variants=({}, {"balanced": True}),
    uses_scores=False,
    headline=True,
)
def closed_set_accuracy(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    balanced: bool = False,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """Fraction of knowns predicted as their own class, nothing being rejected; `balanced` averages over the K classes.

    >>> closed_set_accuracy([0, 0, 0, 1, -2], [0, 0, 0, 0, 1])
    0.75
    >>> closed_set_accuracy([0, 0, 0, 1, -2], [0, 0, 0, 0, 1], balanced=True)
    0.5
    """
    check_share("closed_set_accuracy", "zero_division", zero_division, zero=True)
    label, prediction = as_ints("labels", labels), as_ints("predictions", predictions)
    check_lengths(labels=label, predictions=prediction)
    check_labels(label)
    n_classes = resolve_classes(label, prediction, n_classes)
    known = label >= 0
    if not known.any():
        raise OpenSetError(f"Found 0 known samples among {len(label)}: closed-set accuracy needs some.")
    right = (label == prediction)[known]
    if not balanced:
        return float(right.mean())
    totals = np.bincount(label[known], minlength=n_classes)
    hits = np.bincount(label[known], weights=right, minlength=n_classes)
    return float(np.where(totals > 0, hits / np.maximum(totals, 1), zero_division).mean())


@metric(
    "Open-set F-score, {average}",
    fold=_f_score,
    paper=f"{_OPENAUC}, eqs. 1-3",
    headline=True,
    variants=({"average": "macro"}, {"average": "micro"}),
    best_over_thresholds=True,
)
def open_set_f_score(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    average: Average = "macro",
    threshold: float | Highest = "best",
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """Harmonic mean of precision and recall over the K known classes, with rejection; best over all thresholds.

    "macro" is the harmonic mean of the mean precision and the mean recall (eq. 2), which is not the mean of the
    classes' F-scores; "micro" adds the counts first (eq. 3). Every distinct score is tried as threshold, exactly.
    A class that is never predicted has precision `zero_division`.

    >>> open_set_f_score([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.9])
    1.0
    >>> open_set_f_score([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.9], threshold=0.9).__round__(4)
    0.8571
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _f_score(average=average, threshold=threshold)(counts)


@metric(
    "Youden's index, {average}",
    fold=_youden,
    span=(-1.0, 1.0),
    paper=f"{_OPENAUC}, eq. 4",
    variants=({"average": "macro"}, {"average": "micro"}),
    best_over_thresholds=True,
)
def youden_index(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    average: Average = "macro",
    threshold: float | Highest = "best",
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """True positive rate + true negative rate - 1, each known class against all else; best over all thresholds.

    >>> youden_index([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.9])
    1.0
    >>> youden_index([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.9], threshold=0.9)
    0.75
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _youden(average=average, threshold=threshold)(counts)


@metric(
    "Normalized accuracy, AUS as {aus}",
    fold=_normalized_accuracy,
    paper=f"{_OPENAUC}, eqs. 5-6",
    variants=({"aus": "paper"}, {"aus": "recall"}),
    best_over_thresholds=True,
)
def normalized_accuracy(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    threshold: float | Highest = "best",
    weight: float = 0.5,
    aus: Literal["paper", "recall"] = "paper",
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> float:
    """`weight` * accuracy on knowns (AKS) + (1 - `weight`) * accuracy on unknowns (AUS); best over all thresholds.

    AKS counts true positives and negatives of all K classes over all samples, as eq. 6 does. `aus="paper"` is the
    precision of "unknown" (eq. 6); `aus="recall"` the fraction of unknowns caught, which the name suggests. With
    nothing rejected the paper's AUS is 0/0 and counts as `zero_division`.

    >>> normalized_accuracy([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.9])
    1.0
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes, zero_division)
    return _normalized_accuracy(threshold=threshold, weight=weight, aus=aus)(counts)


@metric(
    "Operational open-set accuracy at threshold {threshold:g}",
    of=_operational_accuracy,
    paper="Cruz et al., Operational Open-Set Recognition and PostMax Refinement, ECCV 2024",
    variants=(),
)
def operational_accuracy(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    threshold: float,
    unknown_share: float | None = None,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
) -> float:
    """Fraction of samples decided correctly at a threshold that was chosen on other data (OOSA).

    A known is decided correctly if it is accepted and classified correctly, an open-set sample if it is rejected. The
    threshold has no default and is never searched for here: choose it on validation data, for example by the rule
    `best_accuracy`, and give its value. The samples count alike, as in the authors' program; with `unknown_share`,
    knowns and open-set samples are weighted as if this fraction of what arrives was open-set.

    Three knowns, one of them rejected, and one of two unknowns caught:

    >>> labels, predictions, score = [0, 1, 1, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.7, 0.4, 0.9]
    >>> operational_accuracy(labels, predictions, score, threshold=0.5)
    0.6
    >>> operational_accuracy(labels, predictions, score, threshold=0.5, unknown_share=0.1).__round__(4)
    0.65
    """
    counts = count(labels, predictions, unknown_score, against, groups, n_classes)
    return _operational_accuracy(counts, threshold=threshold, unknown_share=unknown_share)


def openness(*, n_train: int, n_test: int, n_target: int | None = None) -> float:
    """How open a protocol is: 1 - sqrt(2 * train classes / (test classes + target classes)) (Scheirer et al., 2013).

    `n_test` counts all classes seen in testing, known and unknown; `n_target`, the classes to be recognised, is
    `n_train` unless given. 0 means closed.

    >>> round(openness(n_train=6, n_test=10), 4)
    0.134
    """
    target = n_train if n_target is None else n_target
    if min(n_train, n_test, target) < 1 or 2 * n_train > n_test + target:
        raise OpenSetError(
            f"openness: {n_train} training, {n_test} test and {target} target classes do not go together."
        )
    return float(1 - np.sqrt(2 * n_train / (n_test + target)))


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """Counts by true class (rows: K known classes, then the open set) and decision (columns: K classes, rejected)."""

    counts: NDArray[np.int64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    threshold: float
    n_classes: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """Each row divided by its sum."""
        return np.asarray(self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1))

    def accepted_open_classes(self) -> list["AcceptedOpenClass"]:
        """Which open-set classes are accepted, as which known class; the most accepted first."""
        found = []
        for row, name in enumerate(self.rows[self.n_classes :], start=self.n_classes):
            accepted = self.counts[row, : self.n_classes]
            taken_for = int(accepted.argmax())
            total, passed = int(self.counts[row].sum()), int(accepted.sum())
            if passed:
                found.append(AcceptedOpenClass(name, total, passed, self.columns[taken_for], int(accepted[taken_for])))
        return sorted(found, key=lambda one: (-one.share, one.open_class))


@dataclass(frozen=True)
class AcceptedOpenClass:
    """An open-set class of `total` samples, `accepted` of which pass, `most` of them as `taken_for`."""

    open_class: str
    total: int
    accepted: int
    taken_for: str
    most: int

    @property
    def share(self) -> float:
        """Fraction of the class that passes."""
        return self.accepted / self.total


def open_set_confusion_matrix(
    labels: ArrayLike,
    predictions: ArrayLike,
    unknown_score: ArrayLike,
    *,
    threshold: float,
    open_classes: ArrayLike | None = None,
    class_names: Any = None,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
) -> ConfusionMatrix:
    """What becomes of each class at a threshold: K known rows plus negative and unknown (or one per open-set class).

    >>> matrix = open_set_confusion_matrix([0, 1, -1, -2], [0, 1, 1, 0], [0.1, 0.9, 0.2, 0.8], threshold=0.5)
    >>> matrix.counts
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0],
           [0, 0, 1]])
    >>> matrix.rows, matrix.columns
    (('0', '1', 'negative', 'unknown'), ('0', '1', 'rejected'))
    """
    label, prediction = as_ints("labels", labels), as_ints("predictions", predictions)
    score = as_scores("unknown_score", unknown_score)
    check_threshold(threshold)
    names = None if open_classes is None else as_text("open_classes", open_classes)
    check_lengths(labels=label, predictions=prediction, unknown_score=score, open_classes=names)
    check_labels(label)
    check_finite(score)
    if n_classes is None and class_names is not None:
        n_classes = len(class_names)
    n_classes = resolve_classes(label, prediction, n_classes)
    keep = (label >= 0) | open_mask(label, against, groups)
    open_rows, row = confusion_rows(label[keep], None if names is None else names[keep], n_classes)
    cells = confusion_counts(
        row,
        prediction[keep],
        first_acceptance(score[keep], [threshold]),
        n_rows=n_classes + len(open_rows),
        n_classes=n_classes,
        n_levels=1,
    )[0]
    known_names = [str(number) for number in range(n_classes)] if class_names is None else [str(n) for n in class_names]
    return ConfusionMatrix(cells, (*known_names, *open_rows), (*known_names, "rejected"), float(threshold), n_classes)
