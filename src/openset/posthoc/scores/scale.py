"""Energy of the logits that features give once they are multiplied by e^(all activations / the largest ones).

    r(x) = - log sum_k exp(e^s w_k' x + b_k),  s = sum of x / sum of its `top` largest fraction

SCALE, Xu et al., ICLR 2024 (arXiv:2310.00227), with top = 0.15. As w_k' x = z_k - b_k, stored logits and the bias of
the last layer are enough. Made for activations that are never negative: s is 1 in rows whose largest ones sum to 0 or
less.

>>> from openset.posthoc import scale
>>> scale([[2.0]], [[1.0, 3.0]], bias=[1.0], top=0.5).round(4)  # s = 4 / 3, e^s = 3.7937 times 2 - 1, plus 1
array([-4.7937])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, largest_sum, log_sum_exp
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, fraction


def scale_factors(features: Array, top: float) -> Array:
    """e^s of each row."""

    def factor(some: Array) -> Array:
        largest, _ = largest_sum(some, top)
        return np.exp(np.divide(some.sum(axis=1), largest, out=np.ones(len(largest)), where=largest > 0))

    return by_blocks(factor, features)


def scaled(logits: Array, factors: Array, bias: Array) -> Array:
    """Logits of features that are multiplied by `factors`: the bias is added after, not multiplied."""
    return (logits - bias) * factors[:, None] + bias


def _apply(outputs: Outputs, _: Learned, *, top: float) -> Array:
    factors, bias = scale_factors(outputs.embedding(), top), outputs.bias()
    return by_blocks(lambda logits, some: -log_sum_exp(scaled(logits, some, bias)), outputs.known_logits(), factors)


register(
    Score(
        name="scale",
        title="Scaled activations (SCALE)",
        paper="Xu et al., ICLR 2024, arXiv:2310.00227",
        needs=("logits", "features", "head"),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter(
                "top",
                0.15,
                "fraction of the largest activations",
                fraction,
                grid=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35),
            ),
        ),
    )
)
