"""Generalised entropy of the largest probabilities.

    r(x) = sum over the `top` largest p_k of p_k^gamma (1 - p_k)^gamma

GEN, Liu et al., CVPR 2023, with gamma = 0.1 and top = 100, the values of its released program; with fewer classes all
of them count. Logarithms are added and the complement of the largest probability is summed from the others, so that
confident samples differ: with so small a power they matter most.

>>> from openset.posthoc import gen
>>> gen([[0.0, 0.0]], gamma=0.5)  # twice the root of 1/2 x 1/2
array([1.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, lags
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, above, at_least


def _apply(outputs: Outputs, _: Learned, *, gamma: float, top: int) -> Array:
    def generalised(values: Array) -> Array:
        behind, best = lags(values), values.argmax(axis=1)
        behind[np.arange(len(behind)), best] = -np.inf
        others = np.exp(behind).sum(axis=1)
        total = np.log1p(others)
        with np.errstate(divide="ignore"):  # a probability of 1 has no others: its term is 0
            found = np.exp(gamma * (np.log(others) - 2.0 * total))
        kept = min(top, values.shape[1]) - 1
        if kept:
            place = values.shape[1] - kept
            logs = np.partition(behind, place, axis=1)[:, place:] - total[:, None]
            found += np.exp(gamma * (logs + np.log1p(-np.exp(logs)))).sum(axis=1)
        return np.asarray(found)

    return by_blocks(generalised, outputs.known_logits())


register(
    Score(
        name="gen",
        title="Generalised entropy (GEN)",
        paper="Liu et al., CVPR 2023",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter("gamma", 0.1, "power of the probabilities", above(0), grid=(0.01, 0.1, 0.5, 1.0)),
            Parameter("top", 100, "how many of the largest probabilities count", at_least(1), grid=(10, 100)),
        ),
    )
)
