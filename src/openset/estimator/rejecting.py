"""RejectingClassifier: any classifier of scikit-learn, with an unknown score and a threshold above which it rejects."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from openset import operating
from openset._core.annotations import ArrayLike
from openset.errors import OpenSetError, check_share
from openset.estimator.labels import numbered, unknown_label_for, with_unknown
from openset.estimator.opened import Opened
from openset.operating.rule_card import parse_rule
from openset.posthoc import FittedScore, parse_score
from openset.posthoc import fit as fit_score
from openset.scores import Scores


def _has(method: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class _ScoreAndParameter:
    """`score` is a parameter, the unknown score, and a method of every classifier: reading it gives the method."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return ClassifierMixin.score if instance is None else ClassifierMixin.score.__get__(instance)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)["score"] = value


class RejectingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier of scikit-learn that can also say "unknown".

    `fit` trains a copy of the classifier and fits the score. `calibrate` chooses the threshold on other samples; until
    then `predict` returns known classes only. With `validation` a part of the training samples is kept for that, so
    that `fit` does both, also inside a Pipeline or a search.

    Args:
        estimator: a classifier, or a pipeline that ends in one. One that is trained already stays as it is inside
            `sklearn.frozen.FrozenEstimator`; `fit` then fits the score alone.
        score: the unknown score, such as `msp`, `energy` or `knn(k=1)` (see `openset scores`). Logits are decision
            values, else logarithms of probabilities; features are what enters the classifier, which in a pipeline is
            what the steps before it make; the head is that of a linear classifier.
        rule: how the threshold is chosen: `at_acceptance=0.95`, `at_fpr=0.1`, `conformal=0.05`, ...
        validation: fraction of the training samples that `fit` keeps to choose the threshold on, of every class alike.
        unknown_label: what `predict` returns for unknowns; by default -2, or "unknown" where classes are text. Samples
            that `fit` finds under this label, if it is given, are not learned, and serve to choose the threshold.

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> known = y < 6  # the other four digits are unknown
    >>> model = RejectingClassifier(KNeighborsClassifier(), score="knn(k=1)", validation=0.3)
    >>> model = model.fit(X[known][::2], y[known][::2])
    >>> float((model.predict(X[known][1::2]) == y[known][1::2]).mean()) > 0.9
    True
    >>> float((model.predict(X[~known]) == -2).mean()) > 0.9
    True
    """

    score = _ScoreAndParameter()

    def __init__(
        self,
        estimator: Any,
        *,
        score: str = "max_logit",
        rule: str = "at_acceptance=0.95",
        validation: float | None = None,
        unknown_label: int | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.rule = rule
        self.validation = validation
        self.unknown_label = unknown_label

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; of the classifier too, as `estimator__C`, if `deep`."""
        return {**super().get_params(deep=deep), "score": vars(self)["score"]}

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        tags.classifier_tags.multi_label = False
        if inner.input_tags.sparse and not isinstance(self.estimator, Pipeline):  # a pipeline may make them dense
            tags.input_tags.sparse = not self._needs_features()
        return tags

    def _needs_features(self) -> bool:
        try:
            return "features" in parse_score(vars(self)["score"]).card.needs
        except OpenSetError:  # which `fit` reports
            return False

    # ---- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, **fit_params: Any) -> "RejectingClassifier":  # noqa: N803  scikit-learn's name
        """Train the classifier and fit the score; `fit_params` go to the classifier's own `fit`."""
        spec = parse_score(vars(self)["score"])
        parse_rule(self.rule)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.threshold_: operating.Threshold | None = None
        train, kept = self._divided(y)
        if kept is None:
            samples, labels = X, y
        else:
            samples, labels = _safe_indexing(X, train), _safe_indexing(y, train)
            fit_params = {name: _rows(value, train, len(train) + len(kept)) for name, value in fit_params.items()}
        self.estimator_ = clone(self.estimator).fit(samples, labels, **fit_params)
        self.classes_: NDArray[Any] = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        opened = Opened.of(self.estimator_, samples) if spec.card.fitted else None
        numbers = None if opened is None else numbered(self.classes_, labels)
        self.fitted_score_: FittedScore = fit_score(
            spec, None if opened is None else opened.outputs(spec.card, numbers)
        )
        if kept is not None:
            self.calibrate(_safe_indexing(X, kept), _safe_indexing(y, kept))
        return self

    def _divided(self, y: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """Rows to train on, and rows to choose the threshold on: None where nothing is kept for it."""
        if self.validation is None and self.unknown_label is None:
            return np.zeros(0, dtype=np.intp), None
        labels = np.asarray(y)
        unknown = np.zeros(len(labels), dtype=bool) if self.unknown_label is None else labels == self.unknown_label
        rows, strange = np.flatnonzero(~unknown), np.flatnonzero(unknown)
        if self.validation is None:
            if not len(strange):
                return rows, None
            raise OpenSetError(
                f"There are {len(strange)} samples labelled {self.unknown_label!r}, which the classifier must not "
                "learn: leave them out and give them to calibrate, or set 'validation' to do both in fit."
            )
        check_share("RejectingClassifier", "validation", self.validation, one=False)
        try:
            train, kept = train_test_split(rows, test_size=self.validation, stratify=labels[rows], random_state=0)
        except ValueError as error:
            raise OpenSetError(
                f"RejectingClassifier cannot keep {self.validation:g} of {len(rows)} samples to choose the threshold "
                f"on: {error}"
            ) from error
        return np.sort(train), np.sort(np.concatenate([kept, strange]))

    def calibrate(self, X: Any, y: ArrayLike, rule: str | None = None) -> operating.Threshold:  # noqa: N803
        """Choose the threshold on samples that were not trained on, and use it from now on; `rule` as in the class.

        Labels that are no class of the model count as unknown.
        """
        check_is_fitted(self)
        unknown_label_for(self.classes_, self.unknown_label)
        self.threshold_ = operating.choose(self.scores(X, y), self.rule if rule is None else rule)
        return self.threshold_

    # ---- using -------------------------------------------------------------------------------------------------------

    def _opened(self, X: Any) -> Opened:  # noqa: N803
        check_is_fitted(self)
        return Opened.of(self.estimator_, X)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class of each sample; once calibrated, `unknown_label` where its unknown score is above the threshold."""
        opened = self._opened(X)
        best = np.asarray(opened.last.predict(opened.entering))
        if self.threshold_ is None:
            return best
        numbers = np.searchsorted(self.classes_, best)
        rejected = self.threshold_.reject(opened.unknown_score(self.fitted_score_), predictions=numbers)
        return with_unknown(best, rejected, unknown_label_for(self.classes_, self.unknown_label))

    def unknown_score(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """How unknown each sample is; higher = more unknown."""
        return self._opened(X).unknown_score(self.fitted_score_)

    def scores(self, X: Any, y: ArrayLike) -> Scores:  # noqa: N803
        """Scores for `openset.evaluate`: labels in `y` that are no class of the model count as unknown."""
        return self._opened(X).scores(self.fitted_score_, y)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities of the known classes, as the classifier gives them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Decision values of the known classes, as the classifier gives them."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)


def _rows(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """Of something given per sample, such as weights, the part of these samples."""
    return _safe_indexing(value, rows) if hasattr(value, "__len__") and len(value) == n else value
