"""Minus the log-sum-exp of the logits, the free energy.

    r(x) = - T log sum_k exp(z_k / T)

Liu et al., NeurIPS 2020 (arXiv:2010.03759), with T = 1.

>>> from openset.posthoc import energy
>>> energy([[0.0, 0.0]]).round(4)
array([-0.6931])
"""

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, log_sum_exp
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, above


def _apply(outputs: Outputs, _: Learned, *, temperature: float) -> Array:
    if temperature == 1.0:
        return -outputs.log_sum_exp()
    return by_blocks(lambda values: -temperature * log_sum_exp(values / temperature), outputs.known_logits())


register(
    Score(
        name="energy",
        title="Energy",
        paper="Liu et al., NeurIPS 2020, arXiv:2010.03759",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
        parameters=(
            Parameter("temperature", 1.0, "logits are divided by it", above(0), grid=(0.5, 1.0, 2.0, 5.0, 10.0)),
        ),
    )
)
