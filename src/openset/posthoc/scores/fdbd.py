"""Minus the mean distance to the decision boundaries, relative to the distance from the training mean.

    r(x) = - 1 / ((K - 1) |x - m|) sum over k != y of |z_y - z_k| / |w_y - w_k|,  y the predicted class

with m the mean training features. fDBD, Liu and Qin, ICML 2024 (arXiv:2312.11536); it has no parameters.

>>> from openset.posthoc import fdbd
>>> train = {"fit_logits": [[0.0, 0.0]], "fit_features": [[0.0, 0.0]]}
>>> fdbd([[4.0, 3.0]], [[4.0, 3.0]], weight=[[1.0, 0.0], [0.0, 1.0]], bias=[0.0, 0.0], **train).round(4)
array([-0.1414])
"""

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks
from openset.posthoc.outputs import Outputs

_SMALLEST = 1e-12
"""In place of a distance of 0 from the training mean."""


def _learn(train: Outputs) -> dict[str, Array]:
    weight = train.weight()
    if len(weight) < 2:
        raise OpenSetError(f"fdbd needs two or more known classes, got {len(weight)}.")
    gaps = np.stack([np.linalg.norm(weight - one, axis=1) for one in weight])
    # Between a class and itself, or one of the same weights, there is no boundary.
    return {
        "mean": train.embedding().mean(axis=0),
        "per_gap": np.divide(1.0, gaps, out=np.zeros_like(gaps), where=gaps > 0),
    }


def _apply(outputs: Outputs, learned: Learned) -> Array:
    def distances(logits: Array, predicted: Array) -> Array:
        ahead = logits.max(axis=1, keepdims=True) - logits
        return np.asarray((ahead * learned["per_gap"][predicted]).sum(axis=1))

    to_boundaries = by_blocks(distances, outputs.known_logits(), outputs.predictions())
    away = by_blocks(lambda features: np.linalg.norm(features - learned["mean"], axis=1), outputs.embedding())
    return -to_boundaries / ((len(learned["per_gap"]) - 1) * np.maximum(away, _SMALLEST))


register(
    Score(
        name="fdbd",
        title="Distance to the decision boundaries (fDBD)",
        paper="Liu and Qin, ICML 2024, arXiv:2312.11536",
        needs=("logits", "features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"mean": "d", "per_gap": "kk"},
    )
)
