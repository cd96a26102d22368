"""Energy of the logits that the most telling weights of the last layer give.

    r(x) = - log sum_k exp((w_k * mask_k)' x + b_k),  mask_kd = [w_kd m_d above the `sparsity` quantile of all of them]

with m the mean training features. DICE, Sun and Li, ECCV 2022 (arXiv:2111.09805), with the sparsity 0.9.

>>> from openset.posthoc import dice
>>> head = {"weight": [[1.0, 2.0], [3.0, 4.0]], "bias": [0.0, 0.0]}
>>> dice([[1.0, 1.0]], **head, fit_features=[[1.0, 1.0]], sparsity=0.7).round(4)  # the weight 4 alone is left
array([-4.0181])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, log_sum_exp
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, inner_fraction


def _learn(train: Outputs, *, sparsity: float) -> dict[str, Array]:
    weight = train.weight()
    telling = weight * train.embedding().mean(axis=0)
    return {"weight": np.where(telling > np.quantile(telling, sparsity), weight, 0.0), "bias": train.bias()}


def _apply(outputs: Outputs, learned: Learned, *, sparsity: float) -> Array:
    weight, bias = learned["weight"], learned["bias"]
    return by_blocks(lambda features: -log_sum_exp(features @ weight.T + bias), outputs.embedding())


register(
    Score(
        name="dice",
        title="Sparse last layer (DICE)",
        paper="Sun and Li, ECCV 2022, arXiv:2111.09805",
        needs=("features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"weight": "kd", "bias": "k"},
        parameters=(
            Parameter(
                "sparsity",
                0.9,
                "fraction of the weights that is dropped",
                inner_fraction,
                grid=(0.1, 0.3, 0.5, 0.7, 0.9),
            ),
        ),
    )
)
