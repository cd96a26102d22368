"""Minus the energy times how well energetic training samples agree.

    r(x) = - L(x) * mean over the k largest of <u, L(x_i) u_i>,  u = x / |x|,  L = log sum_k exp(z_k)

NNGuide, Park et al., ICCV 2023 (arXiv:2309.14888), with k = 10, the value of its released program, over all training
samples.

>>> from openset.posthoc import nnguide
>>> logits = [[0.0], [2.0], [1.0]]  # one class: L is the logit
>>> nnguide([[3.0]], [[0.0, 5.0]], fit_logits=logits, fit_features=[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], k=2)
array([-4.5])
"""

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, at_least


def _learn(train: Outputs, *, k: int) -> dict[str, Array]:
    return {"bank": train.unit_features() * train.log_sum_exp()[:, None]}


def _apply(outputs: Outputs, learned: Learned, *, k: int) -> Array:
    bank = learned.once("prepared", lambda: Bank(learned["bank"]))
    return -outputs.log_sum_exp() * bank.mean_of_largest_products(outputs.unit_features(), k)


register(
    Score(
        name="nnguide",
        title="Nearest-neighbour guidance (NNGuide)",
        paper="Park et al., ICCV 2023, arXiv:2309.14888",
        needs=("logits", "features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"bank": "md"},
        parameters=(Parameter("k", 10, "how many training samples guide", at_least(1), grid=(1, 10, 100)),),
    )
)
