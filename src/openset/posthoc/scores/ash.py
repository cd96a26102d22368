"""Energy of the logits that features give once only the `top` fraction of them is left, shaped.

    r(x) = - log sum_k exp(w_k' h(x) + b_k)

where h drops all but the largest activations, and then, by `shape`: `s` multiplies them by e^(all / those left), `b`
sets each to (all / number left), `p` leaves them, with "all" the sum of the activations. ASH, Djurisic et al., ICLR
2023 (arXiv:2209.09858), with `s` and 10 % left. Made for activations that are never negative: rows whose largest ones
sum to 0 or less are pruned only.

>>> from openset.posthoc import ash
>>> ash([[1.0, 3.0]], weight=[[1.0, 1.0]], bias=[1.0], top=0.5, shape="b")  # 3 becomes 4
array([-5.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, largest_sum, log_sum_exp
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, fraction, one_of


def _apply(outputs: Outputs, _: Learned, *, top: float, shape: str) -> Array:
    weight, bias = outputs.weight(), outputs.bias()

    def shaped(features: Array) -> Array:
        left, columns = largest_sum(features, top)
        every = features.sum(axis=1)
        kept = np.take_along_axis(features, columns, axis=1)
        usable = left > 0
        if shape == "s":
            kept = kept * np.exp(np.divide(every, left, out=np.zeros(len(left)), where=usable))[:, None]
        elif shape == "b":
            kept = np.where(usable[:, None], (every / columns.shape[1])[:, None], kept)
        pruned = np.zeros_like(features)
        np.put_along_axis(pruned, columns, kept, axis=1)
        return -log_sum_exp(pruned @ weight.T + bias)

    return by_blocks(shaped, outputs.embedding())


register(
    Score(
        name="ash",
        title="Activation shaping (ASH)",
        paper="Djurisic et al., ICLR 2023, arXiv:2209.09858",
        needs=("features", "head"),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter(
                "top", 0.1, "fraction of the activations that is left", fraction, grid=(0.05, 0.1, 0.15, 0.25, 0.35)
            ),
            Parameter("shape", "s", "s, b or p", one_of("s", "b", "p"), grid=("s", "b", "p")),
        ),
    )
)
