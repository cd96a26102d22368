"""Shannon entropy of the softmax, in nats.

    r(x) = - sum_k p_k log p_k

With d_k the lag of class k behind the best one and s the sum of exp(d_k) over the others, it is
log(1 + s) - sum_k exp(d_k) d_k / (1 + s): nothing is subtracted from nearly the same, so confident samples differ.

>>> from openset.posthoc import entropy
>>> entropy([[0.0, 0.0]]).round(4)
array([0.6931])
>>> entropy([[40.0, 0.0], [50.0, 0.0]])
array([1.74182524e-16, 9.83662422e-21])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, lags
from openset.posthoc.outputs import Outputs


def _entropy(values: Array) -> Array:
    behind = lags(values)
    shares = np.exp(behind)
    shares[np.arange(len(shares)), values.argmax(axis=1)] = 0.0  # of several best ones only the first
    others = shares.sum(axis=1)
    return np.asarray(np.log1p(others) - (shares * behind).sum(axis=1) / (1.0 + others))


def _apply(outputs: Outputs, _: Learned) -> Array:
    return by_blocks(_entropy, outputs.known_logits())


register(
    Score(
        name="entropy",
        title="Entropy of the softmax",
        paper="",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
    )
)
