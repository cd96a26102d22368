"""One minus the largest probability of a known class.

    r(x) = 1 - max_k softmax_k(z / T)

Hendrycks and Gimpel, ICLR 2017 (arXiv:1610.02136), with T = 1; temperature scaling (Guo et al., ICML 2017) and ODIN
(Liang et al., ICLR 2018, T = 1000) divide the logits by a `temperature` first. Summed from the other classes' shares,
so that samples at probability 0.99999999999 still differ. With a background class the softmax runs over all K+1.

>>> from openset.posthoc import msp
>>> msp([[40.0, 0.0], [50.0, 0.0]])
array([4.24835426e-18, 1.92874985e-22])
>>> msp([[2.0, 0.0]], temperature=2.0).round(4)
array([0.2689])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, as_matrix, by_blocks
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, above


def _apply(outputs: Outputs, _: Learned, *, temperature: float) -> Array:
    known = outputs.known_logits()
    every = as_matrix("logits", outputs.logits) if outputs.background and outputs.logits is not None else known

    def shares_of_others(values: Array) -> Array:
        best = values[:, : known.shape[1]].argmax(axis=1)
        shares = np.exp((values - values.max(axis=1, keepdims=True)) / temperature)
        total = shares.sum(axis=1)
        shares[np.arange(len(shares)), best] = 0.0
        return np.asarray(shares.sum(axis=1) / total)

    return by_blocks(shares_of_others, every)


register(
    Score(
        name="msp",
        title="Maximum softmax probability",
        paper="Hendrycks and Gimpel, ICLR 2017, arXiv:1610.02136",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter(
                "temperature", 1.0, "logits are divided by it", above(0), grid=(0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)
            ),
        ),
    )
)
