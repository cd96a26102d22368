"""Mahalanobis distance to the nearest class minus that to all training samples as one.

    r(x) = min_k (x - m_k)' S^-1 (x - m_k) - (x - m)' S_0^-1 (x - m)

with m and S_0 the mean and covariance of all training samples, whatever their class.
Ren et al., 2021 (arXiv:2106.09022).

>>> from openset.posthoc import relative_mahalanobis
>>> train = [[-3.0], [-1.0], [1.0], [3.0]]  # within classes the variance is 1, of all it is 5
>>> relative_mahalanobis([[2.0], [0.0]], fit_features=train, fit_labels=[0, 0, 1, 1])
array([-0.8,  4. ])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, inverse_root
from openset.posthoc.outputs import Outputs
from openset.posthoc.scores.mahalanobis import learn_classes, nearest_class


def _learn(train: Outputs) -> dict[str, Array]:
    features = train.embedding()
    mean = features.mean(axis=0)
    centred = features - mean
    whiten = inverse_root(centred.T @ centred / len(centred), "relative_mahalanobis")
    return {**learn_classes(train, "relative_mahalanobis"), "mean": mean, "whiten_all": whiten}


def _apply(outputs: Outputs, learned: Learned) -> Array:
    def to_all(features: Array) -> Array:
        points = (features - learned["mean"]) @ learned["whiten_all"]
        return np.asarray(np.einsum("ij,ij->i", points, points))

    return nearest_class(outputs, learned) - by_blocks(to_all, outputs.embedding())


register(
    Score(
        name="relative_mahalanobis",
        title="Relative Mahalanobis distance",
        paper="Ren et al., 2021, arXiv:2106.09022",
        needs=("features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"whiten": "dr", "centres": "cr", "mean": "d", "whiten_all": "ds"},
        uses_labels=True,
    )
)
