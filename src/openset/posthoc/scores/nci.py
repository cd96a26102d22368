"""Minus the agreement of centred features with the weights of their class, and minus their size.

    r(x) = - <w_y, x - m> / |x - m| - alpha |x|_1,  y the predicted class

with m the mean training features. NCI, Liu and Qin, CVPR 2025 (arXiv:2311.01479), with alpha = 0.0001, where the
released program starts from; it is to be tuned between 0.0001 and 0.1.

>>> from openset.posthoc import nci
>>> train = {"fit_logits": [[2.0]], "fit_features": [[1.0, 0.0]]}
>>> nci([[8.0]], [[4.0, 4.0]], weight=[[2.0, 0.0]], bias=[0.0], **train, alpha=0.1)  # 2 x 3 / 5, 8 / 10
array([-2.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, above


def _learn(train: Outputs, *, alpha: float) -> dict[str, Array]:
    return {"mean": train.embedding().mean(axis=0), "weight": train.weight()}


def _apply(outputs: Outputs, learned: Learned, *, alpha: float) -> Array:
    def agreement(features: Array, predicted: Array) -> Array:
        centred = features - learned["mean"]
        length = np.linalg.norm(centred, axis=1)
        products = np.einsum("ij,ij->i", centred, learned["weight"][predicted])
        size = alpha * np.abs(features).sum(axis=1)
        return np.asarray(-products / np.where(length > 0, length, 1.0) - size)

    return by_blocks(agreement, outputs.embedding(), outputs.predictions())


register(
    Score(
        name="nci",
        title="Neural collapse (NCI)",
        paper="Liu and Qin, CVPR 2025, arXiv:2311.01479",
        needs=("logits", "features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"mean": "d", "weight": "kd"},
        parameters=(
            Parameter(
                "alpha", 1e-4, "weight of the size of features", above(0, include=True), grid=(1e-4, 1e-3, 1e-2, 1e-1)
            ),
        ),
    )
)
