"""Energy with one more logit: the part of the features outside of the space that training samples fill.

    r(x) = a |R'(x - u)| - log sum_k exp(z_k),  u = - W^+ b

with R the directions outside of the `dim` principal ones of the training features around u, and a such that the term is
on average as large as the largest logit of training samples. ViM, Wang et al., CVPR 2022 (arXiv:2203.10807).
`dim` is 1000 for 2048 features or more and 512 for others, as in the released program; half of the features where
there are no more than 512.

>>> from openset.posthoc import vim
>>> head = {"weight": [[1.0, 0.0]], "bias": [0.0]}
>>> train = {"fit_logits": [[2.0], [4.0]], "fit_features": [[2.0, 1.0], [4.0, -1.0]]}
>>> straight, off = vim([[3.0], [3.0]], [[3.0, 0.0], [3.0, 5.0]], **head, **train, dim=1)
>>> bool(straight < off)
True
"""

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks
from openset.posthoc.outputs import Outputs
from openset.posthoc.parameters import Parameter, at_least, optional


def _dimensions(n_features: int) -> int:
    if n_features <= 512:
        return n_features // 2
    return 1000 if n_features >= 2048 else 512


def _learn(train: Outputs, *, dim: int | None) -> dict[str, Array]:
    features = train.embedding()
    n_features = features.shape[1]
    principal = _dimensions(n_features) if dim is None else dim
    if principal >= n_features:
        raise OpenSetError(f"vim: 'dim' must be below the number of features, {n_features}, got {principal}.")
    origin = -np.linalg.pinv(train.weight()) @ train.bias()
    moved = features - origin
    _, axes = np.linalg.eigh(moved.T @ moved / len(moved))  # the smallest spread first
    learned = Learned(origin=origin, residual=axes[:, : n_features - principal])
    mean = _residual(train, learned).mean()
    if not mean > 0:
        raise OpenSetError(
            f"vim: the training features fill no more than {principal} dimensions; choose a smaller dim."
        )
    return {**learned, "factor": np.array(train.known_logits().max(axis=1).mean() / mean)}


def _residual(outputs: Outputs, learned: Learned) -> Array:
    return by_blocks(
        lambda features: np.linalg.norm((features - learned["origin"]) @ learned["residual"], axis=1),
        outputs.embedding(),
    )


def _apply(outputs: Outputs, learned: Learned, *, dim: int | None) -> Array:
    return learned["factor"] * _residual(outputs, learned) - outputs.log_sum_exp()


register(
    Score(
        name="vim",
        title="Virtual logit matching (ViM)",
        paper="Wang et al., CVPR 2022, arXiv:2203.10807",
        needs=("logits", "features", "head", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"origin": "d", "residual": "dr", "factor": ""},
        parameters=(
            Parameter(
                "dim",
                None,
                "principal dimensions; none = by the number of features",
                optional(at_least(1)),
                grid=(None, 16, 32, 64, 128, 256),
            ),
        ),
    )
)
