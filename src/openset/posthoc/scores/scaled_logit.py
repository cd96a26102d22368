"""Minus the largest logit of features that are multiplied by e^(all activations / the largest ones).

    r(x) = - max_k e^s w_k' x + b_k,  s = sum of x / sum of its `top` largest fraction

SCALE (Xu et al., ICLR 2024, arXiv:2310.00227) with the largest logit in place of the energy, and top = 0.35, chosen on
held-out classes. As w_k' x = z_k - b_k, stored logits and the bias of the last layer are enough; without a `bias` the
layer is taken to have none. Activations below zero count as zero.

>>> from openset.posthoc import scaled_logit
>>> scaled_logit([[2.0, 1.0]], [[1.0, 3.0]], top=0.5)  # s = 4 / 3
array([-7.58733579])
>>> scaled_logit([[2.0, 1.0]], [[1.0, 3.0]], bias=[1.0, 0.0], top=0.5)  # e^s times 2 - 1, plus 1
array([-4.79366789])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, fraction
from openset.posthoc.scores.scale import scale_factors, scaled


def _apply(outputs: Outputs, _: Learned, *, top: float) -> Array:
    factors, bias = scale_factors(np.maximum(outputs.embedding(), 0.0), top), outputs.bias()
    return by_blocks(lambda logits, some: -scaled(logits, some, bias).max(axis=1), outputs.known_logits(), factors)


register(
    Score(
        name="scaled_logit",
        title="Largest logit, scaled",
        paper="after Xu et al., ICLR 2024, arXiv:2310.00227",
        needs=("logits", "features", "head"),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter("top", 0.35, "fraction of the largest activations", fraction, grid=(0.05, 0.15, 0.25, 0.35, 0.5)),
        ),
    )
)
