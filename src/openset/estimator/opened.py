"""Any fitted classifier of scikit-learn, opened: its last step, and the logits, features and head that scores need."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from openset.errors import OpenSetError
from openset.estimator.labels import numbered
from openset.posthoc import FittedScore, Outputs
from openset.posthoc.card import Score
from openset.scores import Scores

Array = NDArray[np.float64]
_LEAST = 1e-12
"""Stands for a probability of 0, whose logarithm is no number."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Opened:
    """The last step of a fitted model, and the samples as they enter it."""

    last: Any
    entering: Any

    @classmethod
    def of(cls, model: Any, samples: Any) -> "Opened":
        """The samples, transformed once by all steps before the last one; searches and frozen models are looked into.

        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> from sklearn.linear_model import LogisticRegression
        >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit([[0.0], [2.0]], [0, 1])
        >>> Opened.of(model, [[4.0]]).entering
        array([[3.]])
        """
        while True:
            if isinstance(model, Pipeline):
                samples, model = (model[:-1].transform(samples) if len(model) > 1 else samples), model[-1]
            elif isinstance(model, FrozenEstimator):
                model = model.estimator
            elif hasattr(model, "best_estimator_"):
                model = model.best_estimator_
            else:
                return cls(model, samples)

    @property
    def name(self) -> str:
        """What an error calls the classifier."""
        return type(self.last).__name__

    def logits(self) -> Array:
        """One column per class: decision values, else logarithms of probabilities.

        Two classes with one decision value d have the logits -d/2 and d/2, whose softmax is the same.
        """
        n_classes = len(self.last.classes_)
        if hasattr(self.last, "decision_function"):
            values = np.asarray(self.last.decision_function(self.entering), dtype=np.float64)
            if values.ndim == 1:
                return np.stack([-values / 2, values / 2], axis=1)
            if values.shape[1] == n_classes:
                return values
        if hasattr(self.last, "predict_proba"):
            found = np.asarray(self.last.predict_proba(self.entering), dtype=np.float64)
            return np.log(np.maximum(found, _LEAST))
        raise OpenSetError(
            f"{self.name} gives neither one decision value per class nor probabilities, which this score needs: use a "
            "score of features, such as knn, or a classifier with decision_function or predict_proba."
        )

    def features(self) -> Array:
        """What enters the last step."""
        try:
            return np.asarray(check_array(self.entering, dtype=np.float64, input_name="X"))
        except TypeError as error:  # a sparse matrix
            raise OpenSetError(
                "This score needs features as a dense array, and these are sparse: make them dense in a step before "
                "the classifier, such as TruncatedSVD, or use a score of logits, such as max_logit."
            ) from error

    def head(self) -> tuple[Array, Array] | None:
        """Weight and bias of a linear classifier."""
        weight, bias = getattr(self.last, "coef_", None), getattr(self.last, "intercept_", None)
        n_classes = len(self.last.classes_)
        if not isinstance(weight, np.ndarray) or weight.ndim != 2 or len(weight) not in (1, n_classes):
            return None
        bias = np.broadcast_to(np.asarray(0.0 if bias is None else bias, dtype=np.float64), len(weight))
        if len(weight) == 1 and n_classes == 2:
            return np.concatenate([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
        return weight, bias

    def outputs(self, card: Score, labels: NDArray[np.int64] | None = None) -> Outputs:
        """What a score needs of the model, and no more."""
        return Outputs(
            self.logits() if "logits" in card.needs else None,
            self.features() if "features" in card.needs else None,
            labels=labels,
            name=self.name,
            head=self.head() if "head" in card.needs else None,
        )

    def scores(self, fitted: FittedScore, labels: Any) -> Scores:
        """Scores for `openset.evaluate`: labels that are no class of the model count as unknown."""
        classes = np.asarray(self.last.classes_)
        meta: dict[str, Any] = {"score": fitted.spec.as_json()}
        if fitted.fingerprint is not None:
            meta["fit"] = fitted.fingerprint
        return Scores(
            numbered(classes, labels),
            numbered(classes, self.last.predict(self.entering)),
            self.unknown_score(fitted),
            self.last.predict_proba(self.entering) if hasattr(self.last, "predict_proba") else None,
            [str(one) for one in classes],
            meta=meta,
        )

    def unknown_score(self, fitted: FittedScore) -> Array:
        """How unknown each sample is; higher = more unknown."""
        outputs = self.outputs(fitted.spec.card)
        found = fitted.score(outputs)
        if len(found) > 1 and outputs.logits is not None and np.ptp(found) < _ROUNDING < np.ptp(outputs.logits):
            raise OpenSetError(
                f"The score '{fitted.spec}' is the same for every sample: {self.name} gives probabilities, whose sum "
                "says nothing. Use msp, entropy, or a score of features such as knn."
            )
        return found
