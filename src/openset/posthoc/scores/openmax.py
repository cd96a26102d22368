"""Log-odds of OpenMax's unknown class.

Per class, a Weibull distribution is fitted to the `tail` largest distances between the mean logit vector and the
training samples that were classified correctly. A test sample's `top` largest logits are scaled down by how extreme
its distance to their class means is, and what they lose is the logit of the unknown class:

    z'_k = z_k (1 - (top - place_k) / top * W_k(|z - mean_k|)),  z'_0 = sum_k z_k - z'_k,
    r(x) = z'_0 - log sum_k exp(z'_k)

Bendale and Boult, CVPR 2016 (arXiv:1511.06233), algorithms 1 and 2, with the weights (top + 1 - i) / top of the
released program for the i-th largest logit, and libMR's shift of the tail by 1. It is the order of OpenMax's unknown
probability, without its rounding.

>>> from openset.posthoc import openmax
>>> train = [[4.0, 0.0], [5.0, 0.0], [0.0, 4.0], [0.0, 5.0]]
>>> near, far = openmax([[4.5, 0.0], [1.0, 1.0]], fit_logits=train, fit_labels=[0, 0, 1, 1])
>>> bool(near < far)
True
"""

import numpy as np
from numpy.typing import NDArray

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, blocks, class_means, log_sum_exp, rows_by_class
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, at_least


def _learn(train: Outputs, *, tail: int, top: int) -> dict[str, Array]:
    correct = train.correct_per_class("openmax", 2)
    logits, labels = correct.known_logits(), np.asarray(correct.labels)
    n_classes = logits.shape[1]
    means = class_means(logits, labels, n_classes)
    distances = np.empty(len(logits))
    for rows in blocks(len(logits), n_classes):
        distances[rows] = np.linalg.norm(logits[rows] - means[labels[rows]], axis=1)
    tails = np.full((n_classes, tail), np.nan)
    for known, members in rows_by_class(labels):
        largest = np.sort(distances[members])[-tail:]
        tails[known, : len(largest)] = largest
    shift = tails[:, 0] - 1.0
    shape, scale = fit_weibull(tails - shift[:, None])
    return {"means": means, "shift": shift, "shape": shape, "scale": scale}


def fit_weibull(values: Array, steps: int = 100) -> tuple[Array, Array]:
    """Maximum likelihood (shape, scale) of the positive values of each row, by bisection of the shape's equation.

    NaN fills up rows that are shorter.
    """
    logs = np.log(values)
    count = np.isfinite(logs).sum(axis=1)
    top, mean = np.nanmax(logs, axis=1), np.nanmean(logs, axis=1)
    behind = np.where(np.isfinite(logs), logs - top[:, None], -np.inf)
    low, high = np.full(len(logs), 1e-3), np.full(len(logs), 1e4)
    finite = np.where(np.isfinite(logs), logs, 0.0)

    def powers(shape: Array) -> Array:
        return np.exp(shape[:, None] * behind)

    for _ in range(steps):
        shape = np.sqrt(low * high)
        power = powers(shape)
        excess = (power * finite).sum(axis=1) / power.sum(axis=1) - 1.0 / shape - mean
        low, high = np.where(excess > 0, low, shape), np.where(excess > 0, shape, high)
    shape = np.sqrt(low * high)
    scale = np.exp(top) * (powers(shape).sum(axis=1) / count) ** (1.0 / shape)
    equal = top - np.nanmin(logs, axis=1) < 1e-12  # a step at that value
    return np.where(equal, 1e3, shape), np.where(equal, np.exp(top), scale)


def _apply(outputs: Outputs, learned: Learned, *, tail: int, top: int) -> Array:
    values = outputs.known_logits()
    n_classes = values.shape[1]
    n_top = min(top, n_classes)
    weights = (n_top - np.arange(n_top)) / n_top
    found = np.empty(len(values))
    for rows in blocks(len(values), n_classes * n_top):
        some = values[rows]
        columns = _largest(some, n_top)
        logits = np.take_along_axis(some, columns, axis=1)
        gaps = some[:, None, :] - learned["means"][columns]
        shifted = np.maximum(np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps)) - learned["shift"][columns], 0.0)
        with np.errstate(over="ignore"):  # far beyond the tail the probability is 1
            extremeness = -np.expm1(-((shifted / learned["scale"][columns]) ** learned["shape"][columns]))
        lost = logits * weights * extremeness
        revised = some.copy()
        np.put_along_axis(revised, columns, logits - lost, axis=1)
        found[rows] = lost.sum(axis=1) - log_sum_exp(revised)
    return found


def _largest(values: Array, n: int) -> NDArray[np.intp]:
    """Columns of the n largest values of each row, largest first, of equal ones the first."""
    width = values.shape[1]
    some = np.sort(np.argpartition(values, width - n, axis=1)[:, width - n :], axis=1)
    order = np.argsort(-np.take_along_axis(values, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


register(
    Score(
        name="openmax",
        title="OpenMax",
        paper="Bendale and Boult, CVPR 2016, arXiv:1511.06233",
        needs=("logits", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"means": "kk", "shift": "k", "shape": "k", "scale": "k"},
        parameters=(
            Parameter("tail", 20, "largest distances per class to fit to", at_least(1), grid=(10, 20, 50)),
            Parameter("top", 10, "how many of the largest logits are revised", at_least(1), grid=(3, 10)),
        ),
        uses_labels=True,
    )
)
