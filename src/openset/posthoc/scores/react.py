"""Energy of the logits that features give once they are cut off at a cap.

    r(x) = - log sum_k exp(w_k' min(x, c) + b_k)

with c the `quantile` of all training activations. ReAct, Sun et al., NeurIPS 2021 (arXiv:2111.12797), with the
quantile 0.9.

>>> from openset.posthoc import react
>>> train = {"fit_features": [[0.0], [1.0], [2.0], [3.0], [4.0]]}
>>> react([[9.0]], weight=[[2.0]], bias=[1.0], **train, quantile=0.5)  # 2 x 2 + 1
array([-5.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, log_sum_exp
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, inner_fraction


def _learn(train: Outputs, *, quantile: float) -> dict[str, Array]:
    cap = np.quantile(train.embedding(), quantile)
    return {"cap": np.array(cap), "weight": train.weight(), "bias": train.bias()}


def _apply(outputs: Outputs, learned: Learned, *, quantile: float) -> Array:
    weight, bias, cap = learned["weight"], learned["bias"], learned["cap"]
    return by_blocks(
        lambda features: -log_sum_exp(np.minimum(features, cap) @ weight.T + bias),
        outputs.embedding(),
    )


register(
    Score(
        name="react",
        title="Rectified activations (ReAct)",
        paper="Sun et al., NeurIPS 2021, arXiv:2111.12797",
        needs=("features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"cap": "", "weight": "kd", "bias": "k"},
        parameters=(
            Parameter(
                "quantile",
                0.9,
                "of the training activations, the cap",
                inner_fraction,
                grid=(0.8, 0.85, 0.9, 0.95, 0.99),
            ),
        ),
    )
)
