"""OpenSetClassifier: open-set recognition of feature vectors in the manner of scikit-learn."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from openset import operating
from openset._core.annotations import ArrayLike
from openset._core.calls import parse_call
from openset.errors import OpenSetError, did_you_mean, need
from openset.estimator.labels import numbered, unknown_label_for, with_unknown
from openset.posthoc import SCORES, FittedScore, Outputs, ScoreSpec, parse_score, softmax
from openset.posthoc import fit as fit_score
from openset.posthoc.card import Learned
from openset.scores import Scores

if TYPE_CHECKING:
    from openset.train.config import Config
    from openset.train.network import Network

_PLAIN = "softmax"
"""What a post-hoc score is trained with."""
_RANKING = {"pairing": "all", "surrogate": "squared_hinge"}
"""How methods that rank pairs do it here: one-sided, so that a lead above 1 costs nothing, and with every pair."""
_FIT = ("n_classes", "n_features", "fingerprint")
_PACKAGES = ("torch", "lightning_fabric", "safetensors")


class OpenSetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A small network on feature vectors (embeddings of texts or images, spectra, tables) that can say "unknown".

    After `fit` it predicts known classes only; `calibrate` sets the threshold above which samples become unknown.

    Args:
        method: how to train: `openauc`, `maxlogit`, `arpl`, ... (see `openset methods`); or a post-hoc score, such as
            `knn`, `knn(k=1)` or `energy`, on a network trained with cross-entropy.
        reject_by: a post-hoc score, such as `knn(k=1)`, in place of the method's own.
        hidden: sizes of the layers; none, `()`, for a linear classifier.
        epochs: passes over the data.
        learning_rate: of Adam.
        batch_size: samples per step; None for a thirtieth of the training samples, but 16 at least and 128 at most.
        weight_decay: pull of the weights towards 0.
        options: options of the method, such as `{"weight": 0.2}`, or of the score that it names: `{"k": 1}`. Methods
            that rank pairs rank `all` of a batch by `squared_hinge` unless you say otherwise.
        unknown_label: what `predict` returns for unknowns; by default -2, or "unknown" where classes are text.
        negative_label: label in `y` of negatives, samples of no known class, for methods that learn from them.
        random_state: seed; the same seed gives the same network.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known = y < 6  # the other four digits are unknown
    >>> model = OpenSetClassifier().fit(X[known][::2], y[known][::2])
    >>> model.calibrate(X[known][1::2], y[known][1::2], rule="at_acceptance=0.95").rule
    'at_acceptance=0.95'
    >>> float((model.predict(X[~known]) == -2).mean()) > 0.5
    True
    """

    def __init__(
        self,
        method: str = "openauc",
        *,
        reject_by: str | None = None,
        hidden: tuple[int, ...] = (512,),
        epochs: int = 30,
        learning_rate: float = 1e-3,
        batch_size: int | None = None,
        weight_decay: float = 1e-3,
        options: dict[str, Any] | None = None,
        unknown_label: int | str | None = None,
        negative_label: int | str | None = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.reject_by = reject_by
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.options = options
        self.unknown_label = unknown_label
        self.negative_label = negative_label
        self.random_state = random_state

    # ---- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike) -> "OpenSetClassifier":  # noqa: N803  scikit-learn's name
        """Learn the classes in `y` from vectors `X` (n, D)."""
        need("OpenSetClassifier", *_PACKAGES)
        vectors, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        negative = np.zeros(len(labels), dtype=bool) if self.negative_label is None else labels == self.negative_label
        self.classes_, known = np.unique(labels[~negative], return_inverse=True)
        if len(self.classes_) < 2:
            raise OpenSetError(f"OpenSetClassifier needs two or more classes, got {len(self.classes_)} class.")
        numbers = np.full(len(labels), -1, dtype=np.int64)
        numbers[~negative] = known
        self.threshold_: operating.Threshold | None = None
        self._train(vectors.astype(np.float32), numbers)
        spec = self._settled()[2]
        self._fitted = None if spec is None else fit_score(spec, self._outputs(vectors, numbers))
        return self

    def _settled(self) -> tuple[str, dict[str, Any], ScoreSpec | None]:
        """The training method, its options, and the post-hoc score that takes the place of the method's own."""
        from openset.methods import METHODS, options_of

        name, options = str(self.method), dict(self.options or {})
        spec = None if self.reject_by is None else parse_score(self.reject_by)
        if name not in METHODS:  # a training method comes before a score of the same name
            score, params = parse_call(name)
            if score not in SCORES:
                hint = did_you_mean(score, {*METHODS, *SCORES})
                raise OpenSetError(f"There is no method or score named {name!r}. {hint}")
            if spec is not None:
                raise OpenSetError(f"'{name}' and reject_by '{self.reject_by}' are both scores: name one of them.")
            params |= {key: options.pop(key) for key in list(options) if key in SCORES[score].defaults}
            name, spec = _PLAIN, ScoreSpec.of(score, params)
        usual = {key: value for key, value in _RANKING.items() if key in options_of(METHODS[name])}
        return name, usual | options, spec

    def _config(self, n_samples: int = 0) -> "Config":
        from openset.train.config import Config, Data, Engine, Named, Optimizer, Schedule, Training, _check_options

        name, options, _ = self._settled()
        return _check_options(
            Config(
                method=Named(name, options),
                backbone=Named("mlp", {"hidden": list(self.hidden)}),
                data=Data(batch_size=self.batch_size or min(128, max(16, n_samples // 30)), workers=1),
                optimizer=Optimizer("adam", lr=self.learning_rate, weight_decay=self.weight_decay),
                schedule=Schedule("cosine"),
                train=Training(epochs=self.epochs),
                engine=Engine(accelerator="cpu"),
                seed=int(self.random_state),
            )
        )

    def _train(self, vectors: NDArray[np.float32], labels: NDArray[np.int64]) -> None:
        import torch
        from lightning_fabric import Fabric

        from openset.methods import METHODS
        from openset.train.build import make_network
        from openset.train.feed import Feed, Vectors
        from openset.train.loop import fit
        from openset.train.threads import threads_for

        config = self._config(len(labels))
        uses_negatives = METHODS[config.method.name].uses_negatives
        if uses_negatives and not (labels < 0).any():
            raise OpenSetError(f"The method '{self.method}' learns from negatives: mark them in y with negative_label.")
        feed = Feed(Vectors(vectors, labels), config.data, np.flatnonzero(labels >= (-1 if uses_negatives else 0)))
        self.network_: Network = make_network(config, feed, len(self.classes_))
        none = Feed(Vectors(vectors, labels), config.data, np.flatnonzero(labels >= 0)[:1])
        alone = threads_for(self.network_, config, vectors.shape[1:])
        with alone, torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they are
            fit(Fabric(accelerator="cpu", devices=1), self.network_, feed, none, config)
        self.network_.eval()

    # ---- using -------------------------------------------------------------------------------------------------------

    def _outputs(self, vectors: NDArray[Any], labels: NDArray[np.int64] | None = None) -> Outputs:
        import torch

        with torch.no_grad():
            embedding, logits = self.network_(torch.from_numpy(vectors.astype(np.float32)))
        method = self.network_.method
        return Outputs(
            logits.numpy(), embedding.numpy(), labels=labels, background=method.background, head=method.linear_head()
        )

    def _checked(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Logits of the known classes; for two classes the lead of the second, as scikit-learn has it."""
        logits = self._outputs(self._checked(X)).known_logits()
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities of the known classes, (n, K); with a background class they may sum to less than 1."""
        outputs = self._outputs(self._checked(X))
        assert outputs.logits is not None
        return softmax(outputs.logits, background=outputs.background)

    def unknown_score(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """How unknown each sample is; higher = more unknown."""
        outputs = self._outputs(self._checked(X))
        return self.network_.method.unknown_score(outputs) if self._fitted is None else self._fitted.score(outputs)

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The class of each sample; once calibrated, `unknown_label` where its unknown score is above the threshold."""
        vectors = self._checked(X)
        numbers = self._outputs(vectors).known_logits().argmax(axis=1)
        best = self.classes_[numbers]
        if self.threshold_ is None:
            return np.asarray(best)
        rejected = self.threshold_.reject(self.unknown_score(vectors), predictions=numbers)
        return with_unknown(best, rejected, unknown_label_for(self.classes_, self.unknown_label))

    def scores(self, X: ArrayLike, y: ArrayLike) -> Scores:  # noqa: N803
        """Scores for `openset.evaluate`: labels in `y` that are no known class count as unknown."""
        vectors, labels = self._checked(X), np.asarray(y)
        outputs = self._outputs(vectors)
        numbers = numbered(self.classes_, labels)
        if self.negative_label is not None:
            numbers[labels == self.negative_label] = -1
        names = [str(one) for one in self.classes_]
        used = self.network_.method.score_used() if self._fitted is None else self._fitted.spec.as_json()
        predictions = outputs.known_logits().argmax(axis=1)
        return Scores(numbers, predictions, self.unknown_score(vectors), class_names=names, meta={"score": used})

    def calibrate(self, X: ArrayLike, y: ArrayLike, rule: str = "at_acceptance=0.95") -> operating.Threshold:  # noqa: N803
        """Choose the threshold on validation data by a rule of `openset.operating`, and use it from now on."""
        check_is_fitted(self)
        unknown_label_for(self.classes_, self.unknown_label)
        self.threshold_ = operating.choose(self.scores(X, y), rule)
        return self.threshold_

    # ---- keeping -----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier: tensors and JSON, nothing that could run code."""
        import torch

        from openset.train.checkpoint import with_prefix, write_tensors

        check_is_fitted(self)
        kind = self.classes_.dtype.kind
        if kind not in "iubUO" or any(not isinstance(one, int | str | bool) for one in self.classes_.tolist()):
            raise OpenSetError(f"Classes of type {self.classes_.dtype} cannot be saved; use whole numbers or text.")
        tensors = with_prefix("network", self.network_.state_dict())
        fitted = self._fitted
        if fitted is not None:
            tensors |= with_prefix("fit", {name: torch.from_numpy(array) for name, array in fitted.learned.items()})
        metadata = {
            "estimator": {**self.get_params(), "hidden": list(self.hidden)},
            "classes": self.classes_.tolist(),
            "classes_dtype": self.classes_.dtype.str,
            "n_features": int(self.n_features_in_),
            "threshold": None if self.threshold_ is None else self.threshold_.as_json(),
            "fit": None if fitted is None else {name: getattr(fitted, name) for name in _FIT},
        }
        try:
            json.dumps(metadata)
        except TypeError as error:
            raise OpenSetError(f"This classifier cannot be saved: {error}.") from error
        write_tensors(Path(path), tensors, metadata)

    @classmethod
    def load(cls, path: str | Path) -> "OpenSetClassifier":
        """Read a classifier written by `save`."""
        need("OpenSetClassifier", *_PACKAGES)
        import torch

        from openset.train.build import make_bare_network
        from openset.train.checkpoint import load_weights, read_tensors, under_prefix

        tensors, metadata = read_tensors(Path(path))
        try:
            model = cls(**{**metadata["estimator"], "hidden": tuple(metadata["estimator"]["hidden"])})
            model.classes_ = np.array(metadata["classes"], dtype=np.dtype(metadata["classes_dtype"]))
            model.n_features_in_ = int(metadata["n_features"])
            threshold = metadata["threshold"]
            model.threshold_ = None if threshold is None else operating.Threshold.from_json(threshold, str(path))
            spec = model._settled()[2]
            fit = {} if spec is None else {name: metadata["fit"][name] for name in _FIT}
        except (KeyError, TypeError) as error:
            raise OpenSetError(f"{path} does not hold an OpenSetClassifier: {error}.") from error
        empty = torch.empty(model.n_features_in_)
        shape = (model.n_features_in_,)
        model.network_ = make_bare_network(model._config(), shape, len(model.classes_), empty, empty.clone())
        load_weights(model.network_, under_prefix("network", tensors), Path(path))
        model.network_.eval()
        model._fitted = None
        if spec is not None:
            arrays = {name: value.numpy() for name, value in under_prefix("fit", tensors).items()}
            if set(arrays) != set(spec.card.learned):
                raise OpenSetError(f"{path} does not hold what the score '{spec}' keeps: fit and save it again.")
            model._fitted = FittedScore(spec, Learned(arrays), **fit)
        return model
