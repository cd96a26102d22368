"""Divergence of the softmax from the nearest typical one, the mean softmax of what is predicted as a class.

    r(x) = min_k KL(p(x) || d_k),  d_k = mean of p(x') over the training samples x' that are predicted as k

KL matching, Hendrycks et al., ICML 2022 (arXiv:1911.11132). Classes that are never predicted have no d_k.

>>> from openset.posthoc import kl_matching
>>> kl_matching([[0.0, 0.0]], fit_logits=[[0.0, 0.0], [0.0, 0.0]]).round(12)
array([0.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks, lags, rows_by_class
from openset.posthoc.outputs import Outputs


def _log_softmax(values: Array) -> Array:
    behind = lags(values)
    return behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))


def _learn(train: Outputs) -> dict[str, Array]:
    logits, predicted = train.known_logits(), train.predictions()
    typical = np.stack([np.exp(_log_softmax(logits[rows])).mean(axis=0) for _, rows in rows_by_class(predicted)])
    return {"log_typical": np.log(np.maximum(typical, np.finfo(np.float64).tiny))}


def _apply(outputs: Outputs, learned: Learned) -> Array:
    log_typical = learned["log_typical"]

    def divergence(values: Array) -> Array:
        logs = _log_softmax(values)
        shares = np.exp(logs)
        return np.asarray((shares * logs).sum(axis=1) - (shares @ log_typical.T).max(axis=1))

    return by_blocks(divergence, outputs.known_logits())


register(
    Score(
        name="kl_matching",
        title="KL matching",
        paper="Hendrycks et al., ICML 2022, arXiv:1911.11132",
        needs=("logits", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"log_typical": "ck"},
    )
)
