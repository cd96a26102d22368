"""Minus the scaled largest logit times the agreement of features and weighted features with those of its class.

    r(x) = - l(x) * (1 + cos([x, x * w_y], m_y)) / 2,  l(x) = clip((z_y - low) / (high - low), 0, 1)

with y the predicted class, w_y its weights, m_k the mean of [x, x * w_k] over the correctly classified training samples
of class k, and low and high the smallest and largest logit of those samples.
COSTARR, Rabinowitz et al., ICCV 2025 (arXiv:2508.01087), equal to the authors' class as another repository
(ND-25-Nuisance-Novelty) has it. The paper's equations themselves could not be compared.

>>> from openset.posthoc import costarr
>>> train = {"fit_logits": [[2.0], [4.0]], "fit_features": [[1.0, 0.0], [3.0, 0.0]], "fit_labels": [0, 0]}
>>> head = {"weight": [[1.0, 1.0]], "bias": [1.0]}
>>> costarr([[3.0]], [[2.0, 0.0]], **head, **train)  # half way between low and high, the same direction
array([-0.5])
"""

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, class_means, unit
from openset.posthoc.outputs import Outputs


def _learn(train: Outputs) -> dict[str, Array]:
    correct = train.correct_per_class("costarr", 1)
    means = class_means(correct.embedding(), np.asarray(correct.labels), train.known_logits().shape[1])
    weight, logits = train.weight(), correct.known_logits()
    low, high = logits.min(), logits.max()
    if not low < high:
        raise OpenSetError("costarr: all logits of the training samples are equal; there is no scale to measure by.")
    directions = unit(np.concatenate([means, means * weight], axis=1))  # the mean of x * w is the mean of x, times w
    width = means.shape[1]
    return {
        "direction": directions[:, :width],
        "weighted_direction": directions[:, width:],
        "weight": weight,
        "span": np.array([low, high]),
    }


def _apply(outputs: Outputs, learned: Learned) -> Array:
    low, high = learned["span"]

    def agreement(features: Array, predicted: Array) -> Array:
        weighted = features * learned["weight"][predicted]
        length = np.sqrt((features**2).sum(axis=1) + (weighted**2).sum(axis=1))
        products = (features * learned["direction"][predicted]).sum(axis=1)
        products += (weighted * learned["weighted_direction"][predicted]).sum(axis=1)
        return np.asarray((1.0 + products / np.where(length > 0, length, 1.0)) / 2.0)

    scaled = np.clip((outputs.known_logits().max(axis=1) - low) / (high - low), 0.0, 1.0)
    return -scaled * by_blocks(agreement, outputs.embedding(), outputs.predictions())


register(
    Score(
        name="costarr",
        title="Attenuated features (COSTARR)",
        paper="Rabinowitz et al., ICCV 2025, arXiv:2508.01087",
        needs=("logits", "features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"direction": "kd", "weighted_direction": "kd", "weight": "kd", "span": "2"},
        uses_labels=True,
    )
)
