"""One minus the probability of the largest logit, divided by the length of the features.

    r(x) = 1 - F(max_k z_k / |x|)

with F the generalised Pareto distribution of the same quotient over the correctly classified training samples, fitted
by maximum likelihood (shape, location and scale). PostMax, Cruz et al., ECCV 2024, as in the authors' program with the
Euclidean length, its default. Its order is that of the quotient; below the location and beyond the end of the
distribution, where F is 0 or 1 and all would tie, the score goes on as a straight line, with values above 1 or below 0.

>>> from openset.posthoc import postmax
>>> train = {"fit_logits": [[1.0], [2.0], [3.0], [4.0]], "fit_features": [[1.0]] * 4, "fit_labels": [0] * 4}
>>> surely, maybe, hardly = postmax([[8.0], [2.0], [-5.0]], [[2.0], [1.0], [1.0]], **train)
>>> bool(surely < maybe < 1 < hardly)
True
"""

import warnings

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs


def _quotient(outputs: Outputs) -> Array:
    length = np.linalg.norm(outputs.embedding(), axis=1)
    return np.asarray(outputs.known_logits().max(axis=1) / np.maximum(length, np.finfo(np.float64).tiny))


def _learn(train: Outputs) -> dict[str, Array]:
    from scipy.stats import genpareto

    quotients = _quotient(train.correct()) if len(train.correct()) else np.empty(0)
    if len(quotients) < 2 or np.ptp(quotients) == 0:
        raise OpenSetError(f"postmax: {len(quotients)} training samples are classified correctly, needs 2 that differ.")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # on its way the search tries shapes without a density
        return {"pareto": np.array(genpareto.fit(quotients))}


def _apply(outputs: Outputs, learned: Learned) -> Array:
    shape, location, scale = learned["pareto"]
    above = (_quotient(outputs) - location) / scale
    end = -1.0 / shape if shape < 0 else np.inf
    inside = np.clip(above, 0.0, end)
    with np.errstate(divide="ignore"):
        survival = np.exp(-inside) if shape == 0 else np.exp(-np.log1p(shape * inside) / shape)
    return np.asarray(survival - (above - inside))


register(
    Score(
        name="postmax",
        title="PostMax",
        paper="Cruz et al., ECCV 2024",
        needs=("logits", "features", "fit"),
        document=__doc__,
        apply=_apply,
        learn=_learn,
        learned={"pareto": "3"},
        uses_labels=True,
    )
)
