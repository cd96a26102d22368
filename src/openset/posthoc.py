"""Unknown scores from stored logits and features, in plain NumPy; higher always means more unknown.

Every score is computed in float64 and never squashed: two samples tie only if their logits say so. Where a network has
a background class, only the logits of the K known classes enter a score; the softmax alone runs over all K+1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core.checks import as_array
from openset._core.registry import Registry
from openset.errors import OpenSetError, check_share

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Outputs:
    """What a network said about some samples: `logits` (n, K or K+1), `features` (n, D), `labels` (n), as stored."""

    labels: NDArray[np.integer[Any]] | None = None
    logits: NDArray[np.floating[Any]] | None = None
    features: NDArray[np.floating[Any]] | None = None
    background: bool = False
    name: str = "the file"
    """What an error calls them."""

    def known_logits(self) -> Array:
        """Logits of the K known classes."""
        if self.logits is None:
            raise OpenSetError(f"This score needs logits, and {self.name} has none (columns logit_0, logit_1, ...).")
        logits = as_matrix("logits", self.logits)
        return logits[:, :-1] if self.background else logits

    def embedding(self) -> Array:
        """Feature vectors."""
        if self.features is None:
            raise OpenSetError(
                f"This score needs features, and {self.name} has none (array 'features', or columns feature_0, ...)."
            )
        return as_matrix("features", self.features)

    def known(self) -> "Outputs":
        """The samples of known classes."""
        if self.labels is None:
            raise OpenSetError(f"To fit on, {self.name} needs labels.")
        keep = np.asarray(self.labels) >= 0
        if not keep.any():
            raise OpenSetError(f"To fit on, {self.name} needs known samples, and has no known samples.")
        return Outputs(
            labels=self.labels[keep],
            logits=None if self.logits is None else self.logits[keep],
            features=None if self.features is None else self.features[keep],
            background=self.background,
            name=self.name,
        )


@dataclass(frozen=True)
class PostHocScore:
    """Card of a score: what it means, what it needs, where it is from."""

    name: str
    title: str
    paper: str
    needs: Literal["logits", "features"]
    fitted: bool
    compute: Callable[[Outputs, Outputs | None], Array]


SCORES: Registry[PostHocScore] = Registry("score")


def as_matrix(name: str, values: ArrayLike) -> Array:
    """`values` as a finite float64 matrix with one row per sample."""
    given = as_array(name, values)
    if given.dtype.kind not in "fiub":
        raise OpenSetError(f"'{name}' must be numbers, got values of type {given.dtype}.")
    matrix = given.astype(np.float64, copy=False)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise OpenSetError(f"'{name}' must have one row per sample and one column per class, got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        row = int(np.argmin(np.isfinite(matrix).all(axis=1)))
        raise OpenSetError(f"'{name}' has a NaN or infinite value in row {row}.")
    return matrix


def softmax(logits: ArrayLike, *, background: bool = False) -> Array:
    """Probabilities of the K known classes; with a background class its share is dropped, not spread over the others.

    >>> softmax([[0.0, 0.0, 0.0, 0.0]], background=True)
    array([[0.25, 0.25, 0.25]])
    """
    values = as_matrix("logits", logits)
    exponents = np.exp(values - values.max(axis=1, keepdims=True))
    exponents /= exponents.sum(axis=1, keepdims=True)
    return exponents[:, :-1] if background else exponents


def _log_sum_exp(values: Array) -> Array:
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))


# ---- scores of the logits alone ----------------------------------------------------------------------------------


def max_logit(logits: ArrayLike) -> Array:
    """Minus the largest logit (Hendrycks et al., 2022; Vaze et al., 2022).

    >>> max_logit([[3.0, 1.0], [0.5, 0.0]])
    array([-3. , -0.5])
    """
    return -as_matrix("logits", logits).max(axis=1)


def msp(logits: ArrayLike, *, background: bool = False) -> Array:
    """One minus the largest probability of a known class (Hendrycks and Gimpel, 2017).

    Summed from the other classes' shares, so that samples at probability 0.99999999999 still differ.

    >>> msp([[40.0, 0.0], [50.0, 0.0]])
    array([4.24835426e-18, 1.92874985e-22])
    """
    values = as_matrix("logits", logits)
    known = values[:, :-1] if background else values
    best = known.argmax(axis=1)
    shares = np.exp(values - values.max(axis=1, keepdims=True))
    total = shares.sum(axis=1)
    shares[np.arange(len(shares)), best] = 0.0
    return np.asarray(shares.sum(axis=1) / total)


def energy(logits: ArrayLike, *, temperature: float = 1.0) -> Array:
    """Minus the (tempered) log-sum-exp of the logits (Liu et al., 2020).

    >>> energy([[0.0, 0.0]]).round(4)
    array([-0.6931])
    """
    if not temperature > 0:
        raise OpenSetError(f"energy: 'temperature' must be above 0, got {temperature:g}.")
    return -temperature * _log_sum_exp(as_matrix("logits", logits) / temperature)


def entropy(logits: ArrayLike) -> Array:
    """Shannon entropy of the softmax, in nats.

    With d_k the lag of class k behind the best one and s the sum of exp(d_k) over the others, it is
    log(1 + s) - sum_k exp(d_k) d_k / (1 + s): nothing is subtracted from nearly the same, so confident samples differ.

    >>> entropy([[0.0, 0.0]]).round(4)
    array([0.6931])
    >>> entropy([[40.0, 0.0], [50.0, 0.0]])
    array([1.74182524e-16, 9.83662422e-21])
    """
    values = as_matrix("logits", logits)
    lag = values - values.max(axis=1, keepdims=True)
    np.maximum(lag, -1000.0, out=lag)  # exp is 0 there already, and 0 times infinity would be no number
    shares = np.exp(lag)
    shares[np.arange(len(shares)), values.argmax(axis=1)] = 0.0  # of several best ones only the first
    others = shares.sum(axis=1)
    return np.asarray(np.log1p(others) - (shares * lag).sum(axis=1) / (1.0 + others))


def margin(logits: ArrayLike) -> Array:
    """Minus the lead of the largest logit over the second largest.

    >>> margin([[3.0, 1.0, 0.0]])
    array([-2.])
    """
    values = as_matrix("logits", logits)
    if values.shape[1] < 2:
        raise OpenSetError(f"margin needs the logits of two or more known classes, got {values.shape[1]}.")
    top = np.partition(values, -2, axis=1)
    return np.asarray(top[:, -2] - top[:, -1])


# ---- scores that learn from the training part's outputs ------------------------------------------------------------


def openmax(logits: ArrayLike, *, fit_logits: ArrayLike, fit_labels: ArrayLike, tail: int = 20, top: int = 10) -> Array:
    """Log-odds of OpenMax's unknown class (Bendale and Boult, 2016).

    Per class, a Weibull distribution is fitted to the `tail` largest distances between the mean logit vector and the
    training samples that were classified correctly. A test sample's `top` largest logits are scaled down by how
    extreme its distance to their class means is, and what they lose is the logit of the unknown class. The score is
    that logit minus the log-sum-exp of the others: the order of OpenMax's unknown probability, without its rounding.
    """
    train, labels = as_matrix("fit_logits", fit_logits), np.asarray(fit_labels)
    values = as_matrix("logits", logits)
    _check_width(values, train)
    _check_fit("openmax", train, labels)
    for option, given in (("tail", tail), ("top", top)):
        if given < 1:
            raise OpenSetError(f"openmax: '{option}' must be at least 1, got {given}.")
    n_classes = values.shape[1]
    right = train.argmax(axis=1) == labels
    extremeness = np.empty_like(values)
    for known in range(n_classes):
        members = train[right & (labels == known)]
        if len(members) < 2:
            raise OpenSetError(
                f"openmax: class {known} has {len(members)} correctly classified training samples, needs 2."
            )
        mean = members.mean(axis=0)
        distances = np.sort(np.linalg.norm(members - mean, axis=1))[-tail:]
        shape, scale = _fit_weibull(distances - distances[0] + 1.0)
        shifted = np.maximum(np.linalg.norm(values - mean, axis=1) - distances[0] + 1.0, 0.0)
        extremeness[:, known] = -np.expm1(-((shifted / scale) ** shape))
    top = min(top, n_classes)
    place = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)
    strength = np.maximum(top - place, 0) / top
    revised = values * (1.0 - strength * extremeness)
    return (values - revised).sum(axis=1) - _log_sum_exp(revised)


def _check_fit(score: str, train: Array, labels: NDArray[Any]) -> None:
    if labels.shape != (len(train),):
        raise OpenSetError(f"{score}: there are {len(train)} training samples and labels of shape {labels.shape}.")
    if not (labels >= 0).any():
        raise OpenSetError(f"{score}: among the training labels there is no known class.")


def _check_width(values: Array, train: Array) -> None:
    if values.shape[1] != train.shape[1]:
        raise OpenSetError(
            f"The samples have {values.shape[1]} columns and the training outputs {train.shape[1]}: another network?"
        )


def _fit_weibull(values: Array, steps: int = 100) -> tuple[float, float]:
    """Maximum likelihood (shape, scale) of positive values, by bisection of the shape's equation."""
    logs = np.log(values)
    if np.ptp(logs) < 1e-12:  # all equal: a step at that value
        return 1e3, float(values[-1])
    low, high = 1e-3, 1e4
    for _ in range(steps):
        shape = np.sqrt(low * high)
        power = np.exp(shape * (logs - logs.max()))
        excess = (power @ logs) / power.sum() - 1.0 / shape - logs.mean()
        low, high = (low, shape) if excess > 0 else (shape, high)
    shape = float(np.sqrt(low * high))
    scale = float(np.exp(logs.max()) * np.mean(np.exp(shape * (logs - logs.max()))) ** (1.0 / shape))
    return shape, scale


def scaled_logit(logits: ArrayLike, features: ArrayLike, *, top: float = 0.35) -> Array:
    """Minus the largest logit of features multiplied by e^r, r = all activations / those of the `top` share.

    SCALE (Xu et al., 2024), where `top` is 0.15 and the energy takes the place of the largest logit. Logits are
    multiplied instead of features: the same for a last layer without bias. Made for features that are never negative;
    below zero counts as zero.

    >>> scaled_logit([[2.0, 1.0]], [[1.0, 3.0]], top=0.5)  # r = 4 / 3
    array([-7.58733579])
    """
    values, activations = as_matrix("logits", logits), np.maximum(as_matrix("features", features), 0.0)
    check_share("scaled_logit", "top", top)
    if len(values) != len(activations):
        raise OpenSetError(f"There are logits of {len(values)} samples and features of {len(activations)}.")
    width = activations.shape[1]
    kept = max(1, round(top * width))
    largest = np.partition(activations, width - kept, axis=1)[:, width - kept :].sum(axis=1)
    ratio = np.divide(activations.sum(axis=1), largest, out=np.ones(len(largest)), where=largest > 0)
    return -values.max(axis=1) * np.exp(ratio)


def mahalanobis(features: ArrayLike, *, fit_features: ArrayLike, fit_labels: ArrayLike) -> Array:
    """Squared Mahalanobis distance to the nearest class mean, one covariance for all classes (Lee et al., 2018).

    >>> mahalanobis([[0.0], [3.0]], fit_features=[[-1.0], [1.0]], fit_labels=[0, 0])
    array([0., 9.])
    """
    values, train, labels = (
        as_matrix("features", features),
        as_matrix("fit_features", fit_features),
        np.asarray(fit_labels),
    )
    _check_width(values, train)
    _check_fit("mahalanobis", train, labels)
    known = np.unique(labels[labels >= 0])
    means = np.stack([train[labels == label].mean(axis=0) for label in known])
    keep = labels >= 0
    centred = train[keep] - means[np.searchsorted(known, labels[keep])]
    whiten = _inverse_root(centred.T @ centred / len(centred))
    points, centres = values @ whiten, means @ whiten
    nearest = np.full(len(points), np.inf)
    for centre in centres:
        np.minimum(nearest, ((points - centre) ** 2).sum(axis=1), out=nearest)
    return nearest


def _inverse_root(covariance: Array) -> Array:
    """W with W W' = pseudo-inverse of the covariance, so directions without spread do not blow up."""
    spread, axes = np.linalg.eigh(covariance)
    usable = spread > max(spread.max(), 0.0) * 1e-10
    if not usable.any():
        raise OpenSetError("mahalanobis: no class has training samples that differ; there is no spread to measure by.")
    return np.asarray(axes[:, usable] / np.sqrt(spread[usable]))


def knn(features: ArrayLike, *, fit_features: ArrayLike, k: int = 50) -> Array:
    """Distance to the k-th nearest training sample, all features scaled to length one (Sun et al., 2022).

    >>> knn([[0.0, 2.0]], fit_features=[[0.0, 1.0], [0.0, -3.0]], k=2)
    array([2.])
    """
    from sklearn.neighbors import NearestNeighbors

    train, values = as_matrix("fit_features", fit_features), as_matrix("features", features)
    if k < 1:
        raise OpenSetError(f"knn: 'k' must be at least 1, got {k}.")
    _check_width(values, train)
    finder = NearestNeighbors(n_neighbors=min(k, len(train))).fit(_unit(train))
    distances, _ = finder.kneighbors(_unit(values))
    return np.asarray(distances[:, -1], dtype=np.float64)


def _unit(values: Array) -> Array:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(length > 0, length, 1.0))


# ---- the cards -----------------------------------------------------------------------------------------------------


def _fit(fit: Outputs | None) -> Outputs:
    if fit is None:
        raise OpenSetError("This score learns from training outputs: give them, on the command line with --fit FILE.")
    return fit.known()


def _on_logits(function: Callable[[ArrayLike], Array]) -> Callable[[Outputs, Outputs | None], Array]:
    return lambda outputs, _: function(outputs.known_logits())


def _msp(outputs: Outputs, _: Outputs | None) -> Array:
    outputs.known_logits()  # for its check
    assert outputs.logits is not None
    return msp(outputs.logits, background=outputs.background)


def _openmax(outputs: Outputs, fit: Outputs | None) -> Array:
    train = _fit(fit)
    assert train.labels is not None
    return openmax(outputs.known_logits(), fit_logits=train.known_logits(), fit_labels=train.labels)


def _mahalanobis(outputs: Outputs, fit: Outputs | None) -> Array:
    train = _fit(fit)
    assert train.labels is not None
    return mahalanobis(outputs.embedding(), fit_features=train.embedding(), fit_labels=train.labels)


def _scaled(outputs: Outputs, _: Outputs | None) -> Array:
    return scaled_logit(outputs.known_logits(), outputs.embedding())


def _knn(outputs: Outputs, fit: Outputs | None) -> Array:
    return knn(outputs.embedding(), fit_features=_fit(fit).embedding())


for _card in (
    PostHocScore("max_logit", "Maximum logit", "arXiv:1911.11132", "logits", False, _on_logits(max_logit)),
    PostHocScore("msp", "Maximum softmax probability", "arXiv:1610.02136", "logits", False, _msp),
    PostHocScore("energy", "Energy", "arXiv:2010.03759", "logits", False, _on_logits(energy)),
    PostHocScore("entropy", "Entropy of the softmax", "", "logits", False, _on_logits(entropy)),
    PostHocScore("margin", "Margin between the two largest logits", "", "logits", False, _on_logits(margin)),
    PostHocScore("openmax", "OpenMax", "arXiv:1511.06233", "logits", True, _openmax),
    PostHocScore("scaled_logit", "Largest logit, scaled", "arXiv:2310.00227", "features", False, _scaled),
    PostHocScore("mahalanobis", "Mahalanobis distance", "arXiv:1807.03888", "features", True, _mahalanobis),
    PostHocScore("knn", "Distance to the k-th neighbour", "arXiv:2204.06507", "features", True, _knn),
):
    SCORES.add(_card.name, _card)
