"""Distance to the k-th nearest training sample, all features scaled to length one.

    r(x) = |u - u_(k)|,  u = x / |x|

Sun et al., ICML 2022 (arXiv:2204.06507), with k = 50, its value for CIFAR10 (200 for CIFAR100, 1000 for ImageNet).
With fewer than k training samples the farthest counts.

>>> from openset.posthoc import knn
>>> knn([[0.0, 2.0]], fit_features=[[0.0, 1.0], [0.0, -3.0]], k=2)
array([2.])
"""

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, at_least


def _learn(train: Outputs, *, k: int) -> dict[str, Array]:
    return {"bank": train.unit_features()}


def _apply(outputs: Outputs, learned: Learned, *, k: int) -> Array:
    bank = learned.once("prepared", lambda: Bank(learned["bank"]))
    return bank.kth_distance(outputs.unit_features(), k)


register(
    Score(
        name="knn",
        title="Distance to the k-th neighbour",
        paper="Sun et al., ICML 2022, arXiv:2204.06507",
        needs=("features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"bank": "md"},
        parameters=(Parameter("k", 50, "which neighbour", at_least(1), grid=(1, 5, 10, 20, 50, 100, 200)),),
    )
)
