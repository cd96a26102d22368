"""Minus the largest logit, divided by how far the features are from those of its class.

    r(x) = - z_y / sum_d |x_d - m_yd| / s_yd,  y the predicted class

with m_k and s_k the mean and standard deviation of each feature over the correctly classified training samples of class
k; features that do not vary within a class do not count for it. GHOST, Rabinowitz et al., AAAI 2025 (arXiv:2502.03359).
The released program goes on to map the quotient to a probability per class (a generalised Pareto distribution); the
paper's score, and this one, is the quotient.

>>> from openset.posthoc import ghost
>>> train = {"fit_logits": [[2.0], [2.0]], "fit_features": [[0.0, 7.0], [2.0, 7.0]], "fit_labels": [0, 0]}
>>> ghost([[4.0]], [[3.0, 8.0]], **train).round(4)  # two away from the mean, standard deviation 2 ** 0.5
array([-2.8284])
"""

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, rows_by_class
from openset.posthoc.outputs import Outputs

_SMALLEST = 1e-12
"""In place of a sum of 0: a sample at the very mean of its class."""


def _learn(train: Outputs) -> dict[str, Array]:
    correct = train.correct_per_class("ghost", 2)
    features = correct.embedding()
    means = np.empty((train.known_logits().shape[1], features.shape[1]))
    per_spread = np.zeros_like(means)
    for known, rows in rows_by_class(np.asarray(correct.labels)):
        means[known] = features[rows].mean(axis=0)
        spread = features[rows].std(axis=0, ddof=1)
        np.divide(1.0, spread, out=per_spread[known], where=spread > 0)
        if not spread.any():
            raise OpenSetError(f"ghost: the training samples of class {known} do not differ; there is no spread.")
    return {"means": means, "per_spread": per_spread}


def _apply(outputs: Outputs, learned: Learned) -> Array:
    def deviation(features: Array, predicted: Array) -> Array:
        return np.asarray(
            (np.abs(features - learned["means"][predicted]) * learned["per_spread"][predicted]).sum(axis=1)
        )

    away = by_blocks(deviation, outputs.embedding(), outputs.predictions())
    return -outputs.known_logits().max(axis=1) / np.maximum(away, _SMALLEST)


register(
    Score(
        name="ghost",
        title="Gaussian hypothesis (GHOST)",
        paper="Rabinowitz et al., AAAI 2025, arXiv:2502.03359",
        needs=("logits", "features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"means": "kd", "per_spread": "kd"},
        uses_labels=True,
    )
)
