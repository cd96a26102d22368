"""Metric values of each known class at one threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Ints
from openset._core.fractions import exact_ends
from openset.results.views.details import details_at
from openset.scores import Scores

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassRates:
    """Per known class that has test samples: CCR at a threshold, with exact intervals, and accuracy unrejected."""

    names: tuple[str, ...]
    total: Ints
    ccr: Array
    low: Array
    high: Array
    accuracy: Array
    threshold: float


def class_rates(scores: Scores, threshold: float, *, level: float = 0.95) -> ClassRates:
    """CCR of each class at `threshold`; classes without a test sample are left out.

    >>> class_rates(Scores([0, 0, 1, -2], [0, 0, 1, 0], [0.1, 0.4, 0.2, 0.9]), 0.3).ccr
    array([0.5, 1. ])
    """
    made = details_at(scores, [threshold])
    some = np.flatnonzero(made.total)
    total = made.total[some]
    ccr = made.right[0, some] / total
    low, high = exact_ends(made.right[0, some], total, level)
    names = tuple(scores.class_name(int(place)) for place in some)
    return ClassRates(names, total, ccr, low, high, made.right_unrejected[some] / total, threshold)
