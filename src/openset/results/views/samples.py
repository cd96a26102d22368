"""The samples worth looking at: open-set samples that are accepted first, and knowns that are rejected first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE
from openset.scores import Scores

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class WorstSamples:
    """Rows of scores, the worst first. At a threshold, those of them on its wrong side are the mistakes it makes."""

    slipped: Rows
    """Open-set samples by unknown score, the lowest first: accepted where the threshold is not below it."""
    lost: Rows
    """Knowns by unknown score, the highest first: rejected where the threshold is below it."""


def worst_samples(scores: Scores, *, most: int = 200, per_class: int = 4) -> WorstSamples:
    """Up to `most` samples of either kind: the worst of all, and of every class and group the worst few.

    Of each class and group `per_class` are kept while they take no more than half of the places. Samples with equal
    scores come in the order of their rows.

    >>> scores = Scores([0, 0, -2, -2, -2], [0, 0, 0, 0, 0], [0.1, 0.7, 0.9, 0.2, 0.4])
    >>> found = worst_samples(scores)
    >>> found.slipped.tolist(), found.lost.tolist()
    ([3, 4, 2], [1, 0])
    """
    value = scores.unknown_score.astype(np.float64)
    known = scores.labels >= 0
    _, of_class = np.unique(class_texts(scores), return_inverse=True)
    group = of_class if scores.groups is None else np.unique(scores.groups, return_inverse=True)[1]
    opened, knowns = np.flatnonzero(~known), np.flatnonzero(known)
    return WorstSamples(
        slipped=_worst(opened, value[opened], [of_class[opened], group[opened]], most, per_class),
        lost=_worst(knowns, -value[knowns], [of_class[knowns]], most, per_class),
    )


def _worst(rows: Rows, badness: NDArray[np.float64], kinds: list[NDArray[np.intp]], most: int, per_class: int) -> Rows:
    order = np.argsort(badness, kind="stable")
    if len(order) <= most:
        return rows[order]
    picked = np.zeros(len(order), dtype=bool)
    for kind in kinds:
        ordered = kind[order]
        by_kind = np.argsort(ordered, kind="stable")
        _, first, size = np.unique(ordered[by_kind], return_index=True, return_counts=True)
        place = np.empty(len(order), dtype=np.intp)
        place[by_kind] = np.arange(len(order)) - np.repeat(first, size)
        picked |= place < per_class
    few = np.flatnonzero(picked)[: most // 2]
    chosen = np.union1d(few, np.arange(most - len(few)))
    more = np.setdiff1d(np.arange(most), chosen)[: most - len(chosen)]  # as some of `few` are among the first
    return rows[order[np.union1d(chosen, more)]]


def class_texts(scores: Scores) -> NDArray[np.str_]:
    """What each sample really is: its known class, its open-set class, or, where that has no name, its kind.

    >>> class_texts(Scores([0, -2, -1], [0, 0, 0], [0.1, 0.9, 0.8], open_classes=["", "cat", ""])).tolist()
    ['0', 'cat', 'negative']
    """
    names = np.array([scores.class_name(label) for label in range(scores.n_classes)])
    found = np.where(scores.labels == NEGATIVE, "negative", "unknown").astype(object)
    known = scores.labels >= 0
    found[known] = names[scores.labels[known]]
    if scores.open_classes is not None:
        named = ~known & (scores.open_classes != "")
        found[named] = scores.open_classes[named]
    return found.astype(np.str_)
