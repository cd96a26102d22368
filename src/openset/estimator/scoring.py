"""Judging estimators under open-set conditions: scorers for searches and cross-validation, thresholds for pipelines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import check_is_fitted

from openset._core.annotations import ArrayLike
from openset._core.resampling import Request, evaluator
from openset.errors import OpenSetError
from openset.estimator.opened import Opened
from openset.metrics import METRICS
from openset.operating import Threshold
from openset.posthoc import fit as fit_score
from openset.scores import Scores


def scores_of(estimator: Any, X: Any, y: ArrayLike, *, score: str = "max_logit") -> Scores:  # noqa: N803
    """Scores of any fitted classifier or pipeline: labels in `y` that it was not trained on count as unknown.

    A `RejectingClassifier` or `OpenSetClassifier` has an unknown score of its own; `score` is for all others, and must
    be one that learns nothing from training samples.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["cat", "dog"])
    >>> scores_of(model, [[0.1], [0.9], [0.5]], ["cat", "dog", "horse"])
    Scores(2 known, 1 unknown, 2 classes)
    """
    check_is_fitted(estimator)
    opened = Opened.of(estimator, X)
    if _rejects(opened.last):
        found: Scores = opened.last.scores(opened.entering, y)
        return found
    fitted = fit_score(score)
    return opened.scores(fitted, y)


def calibrate(estimator: Any, X: Any, y: ArrayLike, rule: str | None = None) -> Threshold:  # noqa: N803
    """Choose the threshold of a fitted pipeline or search that ends in a classifier that rejects, and use it.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from openset import RejectingClassifier
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["cat", "cat", "dog", "dog"]
    >>> pipeline = make_pipeline(StandardScaler(), RejectingClassifier(LogisticRegression())).fit(X, y)
    >>> calibrate(pipeline, X, y, "at_acceptance=1").rule
    'at_acceptance=1'
    >>> pipeline.predict([[0.0], [4.5]])
    array(['cat', 'unknown'], dtype='<U7')
    """
    check_is_fitted(estimator)
    opened = Opened.of(estimator, X)
    if not _rejects(opened.last):
        raise OpenSetError(
            f"{opened.name} cannot reject, so there is no threshold to choose: wrap it as RejectingClassifier"
            f"({opened.name}())."
        )
    found: Threshold = opened.last.calibrate(opened.entering, y, **({} if rule is None else {"rule": rule}))
    return found


def _rejects(model: Any) -> bool:
    return all(hasattr(model, method) for method in ("scores", "calibrate", "unknown_score"))


@dataclass(frozen=True)
class OpenSetScorer:
    """A metric of openset as `scoring` of cross_val_score and GridSearchCV; its sign is turned where lower is better.

    Labels that the estimator was not trained on count as unknown, so splits must hold classes out: `OpenSetKFold`.

    Args:
        metric: a metric's name (see `openset metrics`).
        params: options of the metric, such as `{"fpr": 0.1}`.
        against: which open-set samples it looks at.
        score: unknown score for classifiers that have none of their own.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> open_auc_scorer(model, [[0.0], [9.0], [4.6]], [0, 1, 2])
    1.0
    """

    metric: str = "open_auc"
    params: Mapping[str, Any] = field(default_factory=dict)
    against: str = "all"
    score: str = "max_logit"

    @property
    def __name__(self) -> str:
        """As functions have one: reports name what they scored by."""
        return f"{self.metric}_scorer"

    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> float:  # noqa: N803
        """The metric of the estimator on these samples, higher = better."""
        card = METRICS[self.metric]
        scores = scores_of(estimator, X, y, score=self.score)
        if card.sees_open_set and not (scores.labels < 0).any():
            raise OpenSetError(
                f"The estimator was trained on every class among the {len(scores)} samples, so none is unknown to it: "
                "split by class, with cv=OpenSetKFold()."
            )
        value = evaluator(scores, [Request(card, card.complete(self.params), self.against)])(None)[0]
        return float(value if card.better == "higher" else -value)


open_auc_scorer = OpenSetScorer()
"""OpenAUC as `scoring` of cross_val_score and GridSearchCV, with `cv=OpenSetKFold()`."""
