"""Mahalanobis distance to the nearest class minus that to all training samples as one.

    r(x) = min_k (x - m_k)' S^-1 (x - m_k) - (x - m)' S_0^-1 (x - m)

with m and S_0 the mean and covariance of all training samples, whatever their class.
Ren et al., 2021 (arXiv:2106.09022). With y = x - m and d_k = m_k - m it is computed as

    r(x) = y' (S^-1 - S_0^-1) y + min_k d_k' S^-1 d_k - 2 y' S^-1 d_k

so that a sample meets one matrix of all pairs of features in place of two.

>>> from openset.posthoc import relative_mahalanobis
>>> train = [[-3.0], [-1.0], [1.0], [3.0]]  # within classes the variance is 1, of all it is 5
>>> relative_mahalanobis([[2.0], [0.0]], fit_features=train, fit_labels=[0, 0, 1, 1])
array([-0.8,  4. ])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import Array, Triangle, by_blocks, inverse_root
from openset.posthoc.outputs import Outputs
from openset.posthoc.scores.mahalanobis import learn_classes


def _learn(train: Outputs) -> dict[str, Array]:
    features = train.embedding()
    mean = features.mean(axis=0)
    centred = features - mean
    classes = learn_classes(train, "relative_mahalanobis")
    whiten = classes["whiten"]
    whiten_all = inverse_root(centred.T @ centred / len(centred), "relative_mahalanobis")
    away = classes["centres"] - mean @ whiten
    return {
        "mean": mean,
        "precision": whiten @ whiten.T - whiten_all @ whiten_all.T,
        "directions": away @ whiten.T,
        "offsets": np.einsum("ij,ij->i", away, away),
    }


def _prepared(learned: Learned) -> tuple[Triangle, Bank]:
    """Of the matrix that is the same on both sides of its diagonal one side is enough."""
    precision = learned["precision"]
    one_side = 2.0 * np.triu(precision, 1) + np.diag(np.diag(precision))
    return Triangle(one_side), Bank(learned["directions"], learned["offsets"] / 2.0)


def _apply(outputs: Outputs, learned: Learned) -> Array:
    triangle, bank = learned.once("prepared", lambda: _prepared(learned))

    def distance(features: Array) -> Array:
        centred = features - learned["mean"]
        nearest = -2.0 * bank.largest_product(centred)
        return np.asarray(np.einsum("ij,ij->i", triangle.times(centred), centred) + nearest)

    return by_blocks(distance, outputs.embedding())


register(
    Score(
        name="relative_mahalanobis",
        title="Relative Mahalanobis distance",
        paper="Ren et al., 2021, arXiv:2106.09022",
        needs=("features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"mean": "d", "precision": "dd", "directions": "cd", "offsets": "c"},
        uses_labels=True,
    )
)
