"""What becomes of each class at some thresholds: what is lost, what is accepted by mistake, and as what."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Ints, open_mask
from openset._core.decisions import confusion_counts, confusion_rows, first_acceptance
from openset.scores import Scores

MATRIX_CLASSES = 50


@dataclass(frozen=True, eq=False)
class Details:
    """Counts per class; arrays have one row per threshold where they depend on it."""

    thresholds: NDArray[np.float64]
    total: Ints
    """(K,) test samples of each known class."""
    right_unrejected: Ints
    """(K,) predicted correctly if nothing is rejected."""
    accepted: Ints
    """(D, K) accepted samples of each known class."""
    right: Ints
    """(D, K) accepted and correct."""
    intruders: Ints
    """(D, K) open-set samples accepted as each known class."""
    open_names: tuple[str, ...]
    """Names of the R open-set classes, or "negative" and "unknown" where they have none."""
    open_total: Ints
    """(R,)"""
    open_accepted: Ints
    """(D, R)"""
    taken_for: Ints
    """(D, R) the known class most of them are taken for; -1 if none is accepted."""
    taken: Ints
    """(D, R) how many are taken for it."""
    matrix: NDArray[np.int64] | None
    """(D, K + R, K + 1) as `open_set_confusion_matrix`, for up to 50 known and 50 open-set classes."""


def details_at(scores: Scores, thresholds: Sequence[float] | NDArray[np.float64], *, against: str = "all") -> Details:
    """Count every class once; ascending thresholds then only add up.

    >>> scores = Scores([0, 1, -2, -2], [0, 1, 1, 1], [0.1, 0.3, 0.2, 0.9], open_classes=["", "", "cat", "dog"])
    >>> details = details_at(scores, [0.2])
    >>> details.open_names, details.open_accepted.tolist(), details.taken_for.tolist()
    (('cat', 'dog'), [[1, 0]], [[1, -1]])
    """
    levels = np.asarray(thresholds, dtype=np.float64)
    n_classes, n_levels = scores.n_classes, len(levels)
    keep = (scores.labels >= 0) | open_mask(scores.labels, against, scores.groups)
    label, prediction = scores.labels[keep].astype(np.int64), scores.predictions[keep].astype(np.int64)
    level = first_acceptance(scores.unknown_score[keep], levels)
    known = label >= 0
    open_classes = None if scores.open_classes is None else scores.open_classes[keep]
    open_names, row = confusion_rows(label, open_classes, n_classes)
    n_rows, open_place = n_classes + len(open_names), row - n_classes

    def tally(which: NDArray[np.bool_], place: Ints, size: int) -> Ints:
        cells = level[which] * size + place[which]
        table = np.bincount(cells, minlength=(n_levels + 1) * size).reshape(n_levels + 1, size)
        return np.cumsum(table[:n_levels], axis=0)

    right = known & (label == prediction)
    taken_for, taken = _taken_for(open_place[~known], prediction[~known], level[~known], len(open_names), n_levels)
    return Details(
        thresholds=levels,
        total=np.bincount(label[known], minlength=n_classes),
        right_unrejected=np.bincount(label[right], minlength=n_classes),
        accepted=tally(known, label, n_classes),
        right=tally(right, label, n_classes),
        intruders=tally(~known, prediction, n_classes),
        open_names=open_names,
        open_total=np.bincount(open_place[~known], minlength=len(open_names)),
        open_accepted=tally(~known, open_place, len(open_names)),
        taken_for=taken_for,
        taken=taken,
        matrix=None
        if max(n_classes, len(open_names)) > MATRIX_CLASSES
        else confusion_counts(row, prediction, level, n_rows=n_rows, n_classes=n_classes, n_levels=n_levels),
    )


def _taken_for(row: Ints, prediction: Ints, level: Ints, n_rows: int, n_levels: int) -> tuple[Ints, Ints]:
    """Per threshold and open-set class: the known class with most of its accepted samples, and how many."""
    best, most = np.full((n_levels, n_rows), -1), np.zeros((n_levels, n_rows), dtype=np.int64)
    order = np.argsort(row, kind="stable")
    for place, samples in enumerate(np.split(order, np.searchsorted(row[order], np.arange(1, n_rows)))):
        classes, column = np.unique(prediction[samples], return_inverse=True)
        table = np.bincount(level[samples] * len(classes) + column, minlength=(n_levels + 1) * len(classes))
        counts = np.cumsum(table.reshape(n_levels + 1, -1)[:n_levels], axis=0)
        most[:, place] = counts.max(axis=1)
        best[:, place] = np.where(most[:, place] > 0, classes[counts.argmax(axis=1)], -1)
    return best, most
