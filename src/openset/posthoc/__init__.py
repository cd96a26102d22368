"""Unknown scores from stored outputs (logits, features, the last layer), in plain NumPy; higher means more unknown.

`score(outputs, "knn(k=10)", fitted)` computes one, `fit("knn(k=10)", train)` makes the object that is saved and applied
to one sample or to many, `tune` chooses parameters on validation data; `SCORES` holds the cards. Each score is also a
function of arrays under its own name: `knn(features, fit_features=..., k=10)`.

Every score is computed in float64 and never squashed: two samples tie only if their logits say so. Where a network has
a background class, only the logits of the K known classes enter a score; the softmax alone runs over all K+1.

>>> from openset.posthoc import max_logit
>>> max_logit([[3.0, 1.0], [0.5, 0.0]])
array([-3. , -0.5])
"""

from collections.abc import Callable

from openset.posthoc import scores as scores
from openset.posthoc.card import SCORES as SCORES
from openset.posthoc.card import Score as Score
from openset.posthoc.card import adopt_score as adopt_score
from openset.posthoc.card import by_need as by_need
from openset.posthoc.card import register as register
from openset.posthoc.fitted import FittedScore as FittedScore
from openset.posthoc.fitted import fit as fit
from openset.posthoc.fitted import load as load
from openset.posthoc.fitted import score as score
from openset.posthoc.functions import function_of
from openset.posthoc.numerics import Array
from openset.posthoc.numerics import as_matrix as as_matrix
from openset.posthoc.numerics import softmax as softmax
from openset.posthoc.outputs import Head as Head
from openset.posthoc.outputs import Outputs as Outputs
from openset.posthoc.parameters import Parameter as Parameter
from openset.posthoc.specs import ScoreSpec as ScoreSpec
from openset.posthoc.specs import Selection as Selection
from openset.posthoc.specs import parse_score as parse_score
from openset.posthoc.specs import parse_scores as parse_scores
from openset.posthoc.specs import score_text as score_text
from openset.posthoc.tuning import Tuning as Tuning
from openset.posthoc.tuning import tune as tune


def __getattr__(name: str) -> Callable[..., Array]:
    """The function of arrays of a score: `openset.posthoc.knn`."""
    if name in SCORES:
        globals()[name] = function_of(SCORES[name])
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *SCORES})
