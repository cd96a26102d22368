"""Minus the largest logit.

    r(x) = - max_k z_k

Hendrycks et al., ICML 2022 (arXiv:1911.11132), where it is called MaxLogit; Vaze et al., ICLR 2022.

>>> from openset.posthoc import max_logit
>>> max_logit([[3.0, 1.0], [0.5, 0.0]])
array([-3. , -0.5])
"""

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs


def _apply(outputs: Outputs, _: Learned) -> Array:
    return -outputs.known_logits().max(axis=1)


register(
    Score(
        name="max_logit",
        title="Maximum logit",
        paper="Hendrycks et al., ICML 2022, arXiv:1911.11132",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
    )
)
