"""Minus the inner product with the mean features of the predicted class.

    r(x) = - <x, m_y>,  y the predicted class, m_k = mean of the correctly classified training samples of class k

SHE, Zhang et al., ICLR 2023 (Out-of-distribution detection based on in-distribution data patterns memorization with
modern Hopfield energy), in its simplified form with the inner product.

>>> from openset.posthoc import she
>>> logits = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
>>> she([[1.0, 0.0]], [[3.0]], fit_logits=logits, fit_features=[[1.0], [3.0], [9.0]], fit_labels=[0, 0, 1])
array([-6.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, class_means
from openset.posthoc.outputs import Outputs


def _learn(train: Outputs) -> dict[str, Array]:
    correct = train.correct_per_class("she", 1)
    return {"means": class_means(correct.embedding(), np.asarray(correct.labels), train.known_logits().shape[1])}


def _apply(outputs: Outputs, learned: Learned) -> Array:
    def product(features: Array, predicted: Array) -> Array:
        return np.asarray(-np.einsum("ij,ij->i", features, learned["means"][predicted]))

    return by_blocks(product, outputs.embedding(), outputs.predictions())


register(
    Score(
        name="she",
        title="Stored patterns (SHE)",
        paper="Zhang et al., ICLR 2023",
        needs=("logits", "features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"means": "kd"},
        uses_labels=True,
    )
)
