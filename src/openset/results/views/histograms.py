"""How scores are distributed over knowns, negatives and unknowns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import RESERVED_GROUPS, open_mask
from openset.errors import OpenSetError
from openset.scores import Scores

Array = NDArray[np.float64]
_FARTHEST = float(np.finfo(np.float64).max) / 8
"""The width of a range that goes farther, and the space that a chart leaves beside it, may be no finite number."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """Fraction of each kind of sample in each bin. The first and last bin also hold what lies beyond them."""

    edges: Array
    shares: Mapping[str, Array]
    """By kind, in the order known, negative, unknown; kinds without samples are left out."""
    beyond: float
    """Fraction of all samples that lie outside the edges."""
    quantity: str
    """What the scores are, for an axis."""
    groups: Mapping[str, Array] = field(default_factory=dict)
    """Likewise by group of the open-set samples, where there are several."""


def score_histogram(scores: Scores, *, bins: int = 60, tail: float = 0.001) -> Histogram:
    """Unknown scores; the range leaves out a fraction `tail` at both ends, so one far score does not hide the rest.

    >>> made = score_histogram(Scores([0, 0, -2], [0, 0, 0], [0.0, 0.25, 1.0]), bins=2)
    >>> made.shares["known"], made.shares["unknown"]
    (array([1., 0.]), array([0., 1.]))
    """
    values = scores.unknown_score.astype(np.float64)
    low, high = np.quantile(values, [tail, 1 - tail], method="closest_observation")
    if not low < high:
        low, high = float(values.min()), float(values.max())
    return _histogram(scores, values, float(low), float(high), bins, "unknown score")


def probability_histogram(scores: Scores, *, bins: int = 50) -> Histogram:
    """Probability of the true class on knowns, largest probability on open-set samples (ImageNet protocols, Fig. 4).

    >>> made = probability_histogram(Scores([0, -2], [0, 0], [0.2, 0.4], [[0.8, 0.2], [0.6, 0.4]]), bins=2)
    >>> made.shares["known"], made.shares["unknown"]
    (array([0., 1.]), array([0., 1.]))
    """
    if scores.probabilities is None:
        raise OpenSetError("These scores carry no probabilities, which this histogram needs.")
    target = scores.probabilities[np.arange(len(scores)), np.maximum(scores.labels, 0)]
    values = np.where(scores.labels >= 0, target, scores.probabilities.max(axis=1)).astype(np.float64)
    return _histogram(scores, values, 0.0, 1.0, bins, "probability")


def _histogram(scores: Scores, values: Array, low: float, high: float, bins: int, quantity: str) -> Histogram:
    low, high = _range(low, high, bins)
    edges = np.linspace(low, high, bins + 1)
    shares = {}
    for kind, mask in (
        ("known", scores.labels >= 0),
        ("negative", scores.labels == -1),
        ("unknown", scores.labels == -2),
    ):
        if mask.any():
            shares[kind] = np.histogram(values[mask].clip(low, high), bins=edges)[0] / mask.sum()
    beyond = float(((values < low) | (values > high)).mean())
    named = [part for part in scores.against_choices() if part not in RESERVED_GROUPS]
    groups = {}
    for part in named:
        own = open_mask(scores.labels, part, scores.groups)
        groups[part] = np.histogram(values[own].clip(low, high), bins=edges)[0] / own.sum()
    return Histogram(edges, shares, beyond, quantity, groups)


def _range(low: float, high: float, bins: int) -> tuple[float, float]:
    """Ends of the bins: far enough apart that all edges differ, and not so far that they overflow."""
    low, high = (min(max(end, -_FARTHEST), _FARTHEST) for end in (low, high))
    if low == high:
        reach = max(abs(low), 1.0) / 2
        return low - reach, high + reach
    narrowest = bins * float(np.spacing(max(abs(low), abs(high))))
    reach = narrowest if high - low < narrowest else 0.0
    return low - reach, high + reach
