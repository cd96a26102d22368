"""Scores: the outputs of one model on one test set, checked once, read from and written to files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core import checks, counts
from openset._core.annotations import ArrayLike
from openset._core.fingerprint import fingerprint
from openset._core.labels import LabelWords, as_column, read_labels
from openset._io.json_files import as_json
from openset._io.score_columns import ScoreColumns
from openset.errors import OpenSetError
from openset.posthoc import FittedScore, Head, Outputs, parse_score, softmax
from openset.posthoc import score as compute_score

if TYPE_CHECKING:
    from openset.metrics.probabilities import Confidences

_PER_SAMPLE = ("labels", "predictions", "unknown_score", "probabilities", "ids", "groups", "open_classes")

_NAMELESS = "columns have no names; give class_names in the order of the columns, or use numbers as labels."
Words = str | int | Sequence[str | int] | None


@dataclass(frozen=True, eq=False, init=False)
class Scores:
    """Labels, predictions and unknown scores of one model on one test set.

    Args:
        labels: (n,) true classes: 0 .. K-1 known, -1 negative, -2 unknown; or names, `negative` and `unknown`.
        predictions: (n,) best known class of every sample, also of the open-set ones; numbers, or names as labels are.
        unknown_score: (n,) higher = more unknown; kept as given, never squashed.
        probabilities: (n, K) probabilities of the known classes; for confidence and calibration.
        class_names: names of the K known classes.
        ids: (n,) names of the samples, by which two models are compared.
        groups: (n,) names of parts of the open-set samples, such as easy and hard.
        open_classes: (n,) names of the classes of open-set samples.
        meta: anything worth keeping that JSON can hold.
        unknown_label: a label, or several, that means unknown, such as "oos" or 10.
        negative_label: likewise for negative.
        known_classes: names of known classes that look like such a word, or like another class's name.

    >>> scores = Scores(labels=[0, 1, -2], predictions=[0, 0, 1], unknown_score=[0.1, 0.4, 0.9])
    >>> scores
    Scores(2 known, 1 unknown, 2 classes)
    >>> Scores(["cat", "dog", "oos"], ["cat", "cat", "dog"], [0.1, 0.4, 0.9], unknown_label="oos").class_names
    ('cat', 'dog')
    """

    labels: NDArray[np.integer[Any]]
    predictions: NDArray[np.integer[Any]]
    unknown_score: NDArray[np.floating[Any]]
    probabilities: NDArray[np.floating[Any]] | None
    class_names: tuple[str, ...] | None
    ids: NDArray[np.str_] | None
    groups: NDArray[np.str_] | None
    open_classes: NDArray[np.str_] | None
    meta: dict[str, Any]
    n_classes: int
    """K: the number of probability columns or class names, else 1 + the largest label or prediction."""

    def __init__(
        self,
        labels: ArrayLike,
        predictions: ArrayLike,
        unknown_score: ArrayLike,
        probabilities: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        open_classes: ArrayLike | None = None,
        meta: Mapping[str, Any] | None = None,
        unknown_label: Words = None,
        negative_label: Words = None,
        known_classes: Words = None,
    ) -> None:
        found = read_labels(
            as_column("labels", labels),
            as_column("predictions", predictions),
            None if class_names is None else _as_names(class_names),
            words=LabelWords.of(unknown_label, negative_label, known_classes),
            nameless="" if probabilities is None else _NAMELESS,
        )
        fields: dict[str, Any] = {
            "labels": found.labels,
            "predictions": found.predictions,
            "unknown_score": checks.as_scores("unknown_score", unknown_score),
            "probabilities": None if probabilities is None else checks.as_probabilities(probabilities),
            "class_names": found.class_names,
            "ids": None if ids is None else checks.as_text("ids", ids),
            "groups": None if groups is None else checks.as_text("groups", groups),
            "open_classes": None if open_classes is None else checks.as_text("open_classes", open_classes),
            "meta": _as_meta(meta),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        checks.check_lengths(**{name: value for name, value in fields.items() if name not in ("class_names", "meta")})
        checks.check_labels(self.labels)
        checks.check_finite(self.unknown_score)
        self._check_classes()
        reserved = set() if self.groups is None else set(checks.RESERVED_GROUPS) & set(self.groups[self.labels < 0])
        if reserved:
            raise OpenSetError(
                f"A group cannot be called '{reserved.pop()}', which has a meaning of its own; rename it."
            )
        if self.ids is not None:
            names, times = np.unique(self.ids, return_counts=True)
            if times.max(initial=0) > 1:
                raise OpenSetError(f"The id '{names[times.argmax()]}' occurs {times.max()} times; ids must be unique.")

    def _check_classes(self) -> None:
        columns = None if self.probabilities is None else self.probabilities.shape[1]
        named = None if self.class_names is None else len(self.class_names)
        if columns is not None and named is not None and columns != named:
            raise OpenSetError(f"There are {columns} probability columns and {named} class names; they must agree.")
        if self.class_names is not None and len(set(self.class_names)) < len(self.class_names):
            raise OpenSetError("Two known classes have the same name.")
        found = checks.resolve_classes(self.labels, self.predictions, named if columns is None else columns)
        object.__setattr__(self, "n_classes", found)

    @cached_property
    def contradictions(self) -> NDArray[np.intp]:
        """Rows whose prediction is not the class of the largest probability."""
        if self.probabilities is None:
            return np.zeros(0, dtype=np.intp)
        own = np.take_along_axis(self.probabilities, self.predictions[:, None].astype(np.intp), axis=1)[:, 0]
        return np.flatnonzero(self.probabilities.max(axis=1) - own > checks.SAME_PROBABILITY)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of metric values should know about the scores: what in them does not fit together.

        >>> Scores([0, 0, -2], [0, 1, 1], [0.1, 0.2, 0.9], [[0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]).notes
        ('In 1 of 3 rows (row 1 first) the prediction is not the class of the largest probability: ...',)
        """
        found = []
        rows = self.contradictions
        if len(rows):
            found.append(
                f"In {len(rows)} of {len(self)} rows (row {rows[0]} first) the prediction is not the class of the "
                "largest probability: predictions are used as given, probabilities for confidence and calibration only."
            )
        if self.probabilities is not None and not self.meta.get("background"):
            total = self.probabilities.sum(axis=1, dtype=np.float64)
            if total.min() < 1 - checks.ROUNDING:
                found.append(
                    f"The probabilities of a row add up to {total.mean():.2g} on average and to {total.min():.2g} at "
                    "least (row "
                    f"{total.argmin()}), not to 1: they are used as given. If a background class has the rest, say so "
                    "with --background; otherwise they are no probabilities of all known classes."
                )
        return tuple(found)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        kinds = {"known": self.labels >= 0, "negative": self.labels == -1, "unknown": self.labels == -2}
        found = [f"{int(mask.sum())} {kind}" for kind, mask in kinds.items() if mask.any()]
        return f"Scores({', '.join(found)}, {self.n_classes} classes)"

    @cached_property
    def ranking(self) -> counts.Ranking:
        """The one sort, shared by all that is computed from these scores."""
        return counts.rank_checked(self.labels, self.predictions, self.unknown_score, self.n_classes)

    def counts(self, against: str = "all", *, zero_division: float = 0.0) -> counts.Counts:
        """Counts over all thresholds, for the open-set samples that `against` names."""
        return counts.count_ranking(self.ranking, against=against, groups=self.groups, zero_division=zero_division)

    def class_name(self, label: int) -> str:
        """Name of a known class, or its number."""
        return str(label) if self.class_names is None else self.class_names[label]

    def against_choices(self) -> list[str]:
        """What `against` can be here: "all", then the kinds and groups by which the open-set samples really divide."""
        kinds = [name for name, label in (("negative", -1), ("unknown", -2)) if (self.labels == label).any()]
        names: list[str] = []
        if self.groups is not None:
            names = sorted({str(name) for name in np.unique(self.groups[self.labels < 0])} - {""})
        parts = [*(kinds if len(kinds) > 1 else []), *(names if len(names) > 1 else [])]
        return ["all", *parts]

    @cached_property
    def strata(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Rows by stratum (known class; kind and group of the open set); where each one's stratum begins; its size."""
        kind = self.labels.astype(np.int64)
        if self.groups is not None:
            group = np.unique(self.groups, return_inverse=True)[1]
            kind = np.where(kind < 0, kind - 2 * group, kind)
        order = np.argsort(kind, kind="stable")
        _, first, stratum, size = np.unique(kind[order], return_index=True, return_inverse=True, return_counts=True)
        return order, first[stratum], size[stratum]

    @cached_property
    def confidences(self) -> "Confidences":
        """What the metrics of probabilities need."""
        from openset.metrics.probabilities import Confidences

        if self.probabilities is None:
            raise OpenSetError("These scores carry no probabilities, which this metric needs.")
        return Confidences(self.labels, self.probabilities, self.groups, bool(self.meta.get("background", False)))

    def take(self, rows: ArrayLike) -> "Scores":
        """The samples in these rows, in their order.

        >>> Scores([0, 1, -2], [0, 0, 1], [0.1, 0.4, 0.9]).take([2, 0]).unknown_score
        array([0.9, 0.1])
        """
        picked = {
            name: None if (values := getattr(self, name)) is None else values[np.asarray(rows)] for name in _PER_SAMPLE
        }
        return self._with(**picked)

    def renumbered(self, class_names: Sequence[str]) -> "Scores":
        """The same scores with classes numbered as in `class_names`, which may name more; these get probability 0.

        >>> Scores([0, 1, -2], [0, 0, 1], [0.1, 0.4, 0.9], class_names=["cat", "dog"]).renumbered(["dog", "cat"]).labels
        array([ 1,  0, -2])
        """
        if self.class_names is None or not set(self.class_names) <= set(class_names):
            raise OpenSetError("Only classes that have names, all of them among the new ones, can be numbered by name.")
        number = {name: place for place, name in enumerate(class_names)}
        places = np.array([number[name] for name in self.class_names])
        probabilities = None
        if self.probabilities is not None:
            probabilities = np.zeros((len(self), len(class_names)), dtype=self.probabilities.dtype)
            probabilities[:, places] = self.probabilities
        return self._with(
            labels=np.where(self.labels >= 0, places[np.maximum(self.labels, 0)], self.labels),
            predictions=places[self.predictions],
            probabilities=probabilities,
            class_names=class_names,
        )

    def among(self, n_classes: int) -> "Scores":
        """The same scores among more classes, where only the largest number told how many there are."""
        if n_classes == self.n_classes:
            return self
        checks.resolve_classes(self.labels, self.predictions, n_classes)
        wider = self._with()
        object.__setattr__(wider, "n_classes", n_classes)
        return wider

    def _with(self, **changed: Any) -> "Scores":
        fields = (*_PER_SAMPLE, "class_names", "meta")
        return Scores(**{name: changed.get(name, getattr(self, name)) for name in fields})

    @cached_property
    def fingerprint(self) -> str:
        """Changes when any label, prediction or score does."""
        return fingerprint([self.labels, self.predictions, self.unknown_score])

    @classmethod
    def from_logits(
        cls,
        labels: ArrayLike,
        logits: ArrayLike,
        *,
        score: str = "max_logit",
        background: bool = False,
        features: ArrayLike | None = None,
        head: Head | None = None,
        fit: Outputs | FittedScore | None = None,
        class_names: Sequence[str] | None = None,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        open_classes: ArrayLike | None = None,
        meta: Mapping[str, Any] | None = None,
        unknown_label: Words = None,
        negative_label: Words = None,
        known_classes: Words = None,
    ) -> "Scores":
        """Scores from a network's logits (n, K), or (n, K+1) with `background=True`, the last column then being cut.

        `score` is a score of `openset.posthoc`, such as `energy` or `knn(k=10)` (see `openset scores`); some need
        `features`, the `head` (weight and bias of the last layer), or `fit`: training outputs, or a `FittedScore`.

        >>> Scores.from_logits([0, -2], [[2.0, 0.0], [0.1, 0.2]], score="energy").predictions
        array([0, 1])
        """
        given = checks.as_array("logits", logits)
        read = read_labels(
            as_column("labels", labels),
            None,
            None if class_names is None else _as_names(class_names),
            words=LabelWords.of(unknown_label, negative_label, known_classes),
            nameless=_NAMELESS,
        )
        outputs = Outputs(
            labels=read.labels,
            logits=given,
            features=None if features is None else checks.as_array("features", features),
            background=background,
            head=head,
        )
        known = outputs.known_logits()
        if known.shape[1] == 0:
            raise OpenSetError("With a background class there must be at least two logit columns.")
        spec = parse_score(score)
        metadata = {"score": spec.as_json(), "background": background}
        if spec.card.fitted:
            metadata["fit"] = spec.card.fitted_for(outputs, fit, **spec.params).fingerprint
        precision = np.float32 if given.dtype in (np.float16, np.float32) else np.float64
        return cls(
            outputs.labels,  # type: ignore[arg-type]
            known.argmax(axis=1),
            compute_score(outputs, spec, fit),
            softmax(outputs.logits, background=background).astype(precision),  # type: ignore[arg-type]
            class_names,
            ids=ids,
            groups=groups,
            open_classes=open_classes,
            meta={**(meta or {}), **metadata},
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        score: str | None = None,
        background: bool = False,
        fit: Outputs | FittedScore | None = None,
        unknown_label: Words = None,
        negative_label: Words = None,
        known_classes: Words = None,
    ) -> "Scores":
        """Scores from a data frame of pandas, polars or pyarrow, with the columns that files have.

        `label`, `prediction` and `unknown_score`, or `label` and `logit_0`, ... or `prob_0`, ...; optionally `id`,
        `group`, `open_class`. Labels may be text. What else it takes is said in `Scores.read`; `fit` are outputs here.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"label": ["cat", "oos"], "prediction": ["cat", "cat"], "unknown_score": [0.1, 0.9]})
        >>> Scores.from_frame(frame, unknown_label="oos")
        Scores(1 known, 1 unknown, 1 classes)
        """
        from openset.reading import scores_of_frame

        words = LabelWords.of(unknown_label, negative_label, known_classes)
        return scores_of_frame(frame, score=score, background=background, fit=fit, words=words)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        score: str | None = None,
        background: bool = False,
        fit: str | Path | None = None,
        unknown_label: Words = None,
        negative_label: Words = None,
        known_classes: Words = None,
    ) -> "Scores":
        """Scores from a file of scores, or of logits, which `score` (default max_logit) turns into scores.

        Files: .parquet, .csv, .tsv, .npz, .npy. A file of probabilities alone is scored by the largest one.

        `background`: the model has a background class. It is the last column of logits; probabilities are those of the
        known classes alone. `fit`: a file of training outputs, for scores that learn.
        """
        from openset.reading import read_scores

        words = LabelWords.of(unknown_label, negative_label, known_classes)
        return read_scores(path, score=score, background=background, fit=fit, words=words)

    def write(self, path: str | Path) -> None:
        """Write .parquet or .npz (everything), or .csv or .tsv (all but class names and meta)."""
        from openset._io.score_files import write_columns

        names = ("labels", "predictions", "unknown_score", "probabilities", "class_names", "ids", "groups")
        kept = {name: getattr(self, name) for name in (*names, "open_classes", "meta")}
        write_columns(ScoreColumns(**kept), path)


def _as_names(names: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(as_json([str(name) for name in names]))
    except TypeError as error:
        raise OpenSetError(f"A class cannot have such a name: {error}.") from error


def _as_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise OpenSetError(f"'meta' must be a dictionary, got {type(meta).__name__}.")
    try:
        return dict(as_json(meta))
    except (TypeError, RecursionError) as error:
        raise OpenSetError(
            f"'meta' holds what JSON cannot: {error}. Use text, numbers, lists and dictionaries."
        ) from error
