"""Metrics of probabilities: the confidence gamma of the ImageNet protocols, and calibration on the knowns."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._core.annotations import ArrayLike
from openset._core.checks import as_ints, as_probabilities, as_text, check_labels, check_lengths, open_mask
from openset.errors import OpenSetError, check_choice
from openset.metrics._card import metric

Array = NDArray[np.float64]


class Confidence(NamedTuple):
    """gamma_plus: on knowns; gamma_minus: on the open set; gamma: their mean."""

    gamma_plus: float
    gamma_minus: float
    gamma: float


@dataclass(frozen=True, eq=False)
class Confidences:
    """What probability metrics need of each sample, in input order; `weights` counts samples several times."""

    labels: NDArray[np.integer[Any]]
    probabilities: NDArray[np.floating[Any]]
    groups: NDArray[Any] | None = None
    background: bool = False
    weights: Array | None = None

    def reweighted(self, weights: Array) -> "Confidences":
        """The same samples, each counted `weights` times."""
        copy = replace(self, weights=weights)
        for name in ("known", "highest", "right", "target", "square_error"):
            copy.__dict__[name] = getattr(self, name)  # these do not depend on the weights
        return copy

    @cached_property
    def known(self) -> NDArray[np.intp]:
        """Rows of the knowns."""
        rows = np.flatnonzero(self.labels >= 0)
        if not len(rows):
            raise OpenSetError(f"Found 0 known samples among {len(self.labels)}: this metric needs some.")
        return rows

    @cached_property
    def highest(self) -> Array:
        """Largest probability of every sample."""
        return np.asarray(self.probabilities.max(axis=1), dtype=np.float64)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Which knowns have their own class on top."""
        return np.asarray(self.probabilities[self.known].argmax(axis=1) == self.labels[self.known])

    @cached_property
    def target(self) -> Array:
        """Probability of the true class, of the knowns."""
        return np.asarray(self.probabilities[self.known, self.labels[self.known]], dtype=np.float64)

    @cached_property
    def square_error(self) -> Array:
        """Squared distance between probabilities and truth, of the knowns."""
        values = self.probabilities[self.known].astype(np.float64)
        return np.asarray((values**2).sum(axis=1) - 2 * self.target + 1)

    def mean(self, values: Array, rows: NDArray[np.intp]) -> float:
        """Mean over the given rows, weighted."""
        if self.weights is None:
            return float(values.mean())
        weights = self.weights[rows]
        return float(np.dot(values, weights) / weights.sum())


def gather(
    labels: ArrayLike, probabilities: ArrayLike, groups: ArrayLike | None = None, background: bool = False
) -> Confidences:
    """What probability metrics need, from arrays that are checked."""
    label = as_ints("labels", labels)
    matrix = as_probabilities(probabilities)
    check_lengths(labels=label, probabilities=matrix)
    check_labels(label)
    if int(label.max()) >= matrix.shape[1]:
        raise OpenSetError(
            f"Label {int(label.max())} is out of range: there are {matrix.shape[1]} probability columns."
        )
    return Confidences(label, matrix, None if groups is None else as_text("groups", groups), background)


def confidence_of(data: Confidences, *, against: str = "negative") -> Confidence:
    """Gamma of samples already gathered."""
    rows = np.flatnonzero(open_mask(data.labels, against, data.groups))
    if not len(rows):
        raise OpenSetError(
            f"confidence: found {len(data.known)} known samples and 0 of '{against}'. "
            "Use against='unknown' or 'all' if there are no negatives."
        )
    offset = 0.0 if data.background else 1.0 / data.probabilities.shape[1]
    plus = data.mean(data.target, data.known)
    minus = data.mean(1.0 - data.highest[rows] + offset, rows)
    return Confidence(plus, minus, (plus + minus) / 2)


def _gamma(data: Confidences, *, part: str = "gamma", against: str = "negative") -> float:
    check_choice("confidence", "part", part, Confidence._fields)
    return float(getattr(confidence_of(data, against=against), part))


def _calibration_error(data: Confidences, *, bins: int = 15) -> float:
    if bins < 1:
        raise OpenSetError(f"expected_calibration_error: 'bins' must be at least 1, got {bins}.")
    confidence = data.highest[data.known]
    weights = np.ones(len(confidence)) if data.weights is None else data.weights[data.known]
    # Bin i holds the confidences in (i/bins, (i+1)/bins]; a confidence of exactly 0 joins the first.
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gap = np.bincount(place, weights=weights * (data.right - confidence), minlength=bins)
    return float(np.abs(gap).sum() / weights.sum())


def _brier(data: Confidences) -> float:
    return data.mean(data.square_error, data.known)


@metric(
    "Confidence {part}",
    of=_gamma,
    source="probabilities",
    paper="ImageNet open-set protocols (Palechor et al., WACV 2023), eq. 7",
    variants=({"part": "gamma"}, {"part": "gamma_plus"}, {"part": "gamma_minus"}),
)
def confidence(
    labels: ArrayLike,
    probabilities: ArrayLike,
    *,
    background: bool = False,
    against: str = "negative",
    groups: ArrayLike | None = None,
) -> Confidence:
    """Mean probability of the true class on knowns, mean lack of any high probability on negatives, and their mean.

    gamma_plus = mean of p[true class]; gamma_minus = mean of 1 - max p + 1/K, without the 1/K if the network has a
    background class (`background=True`; `probabilities` are then the first K columns of a softmax over K+1).

    >>> confidence([0, -1], [[0.75, 0.25], [0.5, 0.5]])
    Confidence(gamma_plus=0.75, gamma_minus=1.0, gamma=0.875)
    """
    return confidence_of(gather(labels, probabilities, groups, background), against=against)


@metric(
    "Expected calibration error ({bins} bins)",
    of=_calibration_error,
    source="probabilities",
    better="lower",
    paper="Guo et al., 2017",
    variants=({"bins": 15},),
)
def expected_calibration_error(labels: ArrayLike, probabilities: ArrayLike, *, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over bins of equal width, on the knowns.

    >>> round(expected_calibration_error([0, 0], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.35
    """
    return _calibration_error(gather(labels, probabilities, None, background=False), bins=bins)


@metric(
    "Brier score",
    of=_brier,
    source="probabilities",
    better="lower",
    span=(0.0, 2.0),
    paper="Brier, 1950",
)
def brier_score(labels: ArrayLike, probabilities: ArrayLike) -> float:
    """Mean squared distance between the probabilities and the truth, summed over classes, on the knowns.

    >>> round(brier_score([0], [[0.8, 0.2]]), 3)
    0.08
    """
    return _brier(gather(labels, probabilities, None, background=False))
