"""What a frozen threshold decides on samples without labels: a class, or "unknown"."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Bools, Floats, Ints, as_ints, as_scores, check_finite
from openset._core.decisions import as_precise, is_rejected
from openset._io.score_columns import ScoreColumns
from openset._io.score_stream import Batch
from openset.errors import OpenSetError
from openset.operating.origin import Origin, numbered
from openset.operating.threshold import Threshold
from openset.posthoc import SCORES, FittedScore, Outputs, ScoreSpec, parse_score, score_text
from openset.reading import OF_PROBABILITIES, by_probability, check_class_names, head_of

if TYPE_CHECKING:
    import polars as pl

UNKNOWN = "unknown"
"""What is decided about a rejected sample."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What becomes of some samples."""

    predictions: Ints
    """Best known class, also of those that are rejected."""
    unknown_score: Floats
    margin: Floats
    """Threshold minus unknown score: below 0 where a sample is rejected."""
    rejected: Bools
    class_names: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """Class or "unknown", for each sample.

        >>> decide(Threshold(0.5, "by hand", {}, 0), [1, 0], [0.2, 0.9], class_names=["cat", "dog"]).labels
        ['dog', 'unknown']
        """
        names, n = self.class_names, len(self.class_names)
        return [names[number] if number < n else UNKNOWN for number in self.numbers.tolist()]

    @cached_property
    def numbers(self) -> NDArray[np.uint32]:
        """The class that each sample is decided to be of; their number, K, for "unknown"."""
        found = self.predictions.astype(np.uint32)
        found[self.rejected] = len(self.class_names)
        return found

    def counts(self) -> NDArray[np.intp]:
        """How many samples are decided to be of each class, the unknown last."""
        return np.bincount(self.numbers, minlength=len(self.class_names) + 1)

    def __len__(self) -> int:
        return len(self.predictions)

    def to_frame(self, ids: "pl.Series") -> "pl.DataFrame":
        """One row per sample: id, decision, prediction, unknown_score, margin."""
        import polars as pl

        names = pl.Series([*self.class_names, UNKNOWN], dtype=pl.Categorical)  # written once each, not row by row
        return pl.DataFrame(
            {
                "id": ids,
                "decision": names.gather(self.numbers),
                "prediction": names.gather(self.predictions.astype(np.uint32)),
                "unknown_score": self.unknown_score,
                "margin": self.margin,
            }
        )


def decide(
    threshold: Threshold, predictions: Any, unknown_score: Any, *, class_names: Sequence[str] | None = None
) -> Decisions:
    """Decide about samples by predictions and unknown scores (n,); classes without names are called by their number."""
    given, score = as_ints("predictions", predictions), as_scores("unknown_score", unknown_score)
    check_finite(score)
    names = tuple(class_names or threshold.origin.classes or numbered(int(given.max()) + 1))
    if given.min() < 0 or given.max() >= len(names):
        raise OpenSetError(f"A prediction is the number of a known class, 0 to {len(names) - 1}.")
    return _decided(threshold, given, score, names, class_names)


def _decided(
    threshold: Threshold, predictions: Ints, score: Floats, names: tuple[str, ...], classes: Sequence[str] | None
) -> Decisions:
    limits = threshold.limits(predictions, classes)
    largest = np.finfo(score.dtype).max
    with np.errstate(over="ignore"):  # where nothing is rejected, the threshold is the largest number there is
        margin = np.clip(as_precise(score, limits) - score, -largest, largest)
    return Decisions(predictions, score, margin, is_rejected(score, limits), names)


def score_for(
    threshold: Threshold,
    score: str | None = None,
    fit: Outputs | FittedScore | None = None,
    own: Mapping[str, Any] | None = None,
) -> ScoreSpec:
    """The score that a threshold is to be compared with.

    It is the one that the user names, else the one that the threshold was chosen for, else that of the fit which the
    user gives, else the model's `own`.

    >>> str(score_for(Threshold(0.5, "by hand", {}, 0, Origin({"name": "energy", "params": {}}))))
    'energy'
    """
    if score is not None:
        return parse_score(score)
    stored = threshold.origin.score
    if stored is None and isinstance(fit, FittedScore):
        return fit.spec
    stored = stored or own
    if stored is None:
        raise OpenSetError(
            "The threshold does not tell which score it was chosen for: name it with --score (in Python: score=)."
        )
    if stored["name"] not in SCORES:
        raise OpenSetError(
            f"The threshold was chosen for the score {score_text(stored)}, which cannot be made from logits here: "
            "apply it to files of its scores (prediction and unknown_score)."
        )
    return ScoreSpec.of(stored["name"], stored["params"])


@dataclass(frozen=True)
class Decider:
    """A threshold with all that is needed to apply it to files of scores or of outputs, some rows at a time.

    `score` makes unknown scores of logits, by default that of the threshold; `fit` is what it learns from, training
    outputs or a fitted score. `force` applies the threshold also to what it does not belong to.
    """

    threshold: Threshold
    score: str | None = None
    fit: Outputs | FittedScore | None = None
    background: bool = False
    force: bool = False

    @property
    def spec(self) -> ScoreSpec:
        """The score that is made of logits."""
        return score_for(self.threshold, self.score, self.fit)

    def needed(self, parts: Collection[str], file: str | Path) -> frozenset[str]:
        """What must be read of a file that has these parts: its scores if it has them, else what they are made of."""
        has = set(parts)
        if self.score is None and "unknown_score" in has:
            if "predictions" not in has:
                raise OpenSetError(f"{file}: there is no column 'prediction', the best known class of each sample.")
            return frozenset({"predictions", "unknown_score", "ids"} & has)
        if "logits" in has:
            wanted = {"logits", "ids"} | ({"features"} if "features" in self.spec.card.needs else set())
            return frozenset(wanted & has)
        if "probabilities" in has and self.spec.name == OF_PROBABILITIES:
            return frozenset({"probabilities", "predictions", "ids"} & has)
        lacking = (
            f"the score {self.spec} is made from logits, and there are none (logit_0, logit_1, ... or NPZ logits)"
            if has & {"probabilities", "features"} or self.score is not None
            else "there are neither scores (prediction and unknown_score) nor logits (logit_0, logit_1, ... or logits)"
        )
        raise OpenSetError(f"{file}: {lacking}.")

    def decide(self, batch: Batch, name: str) -> tuple[Decisions, Origin]:
        """Decisions on some rows, and where their scores come from; `name` is what an error calls the file."""
        columns = batch.columns
        given, origin = self._scored(columns, batch.classes, name)
        if not self.force:
            self.threshold.check(origin)
        assert given.predictions is not None and given.unknown_score is not None  # noqa: PT018
        predictions = as_ints("predictions", given.predictions)
        score = as_scores("unknown_score", given.unknown_score)
        if len(predictions) != len(score):
            raise OpenSetError(f"there are {len(predictions)} predictions and {len(score)} unknown scores.")
        check_finite(score, columns.where)
        names = self._names(predictions, given, origin)
        return _decided(self.threshold, predictions, score, names, given.class_names), origin

    def _names(self, predictions: Ints, given: ScoreColumns, origin: Origin) -> tuple[str, ...]:
        """What the classes are called; a prediction that none of them has is an error."""
        own = self.threshold.origin.classes
        names = origin.classes or given.class_names or own or numbered(int(predictions.max(initial=0)) + 1)
        if own is not None and names == numbered(len(own)):
            names = own  # the file has numbers where the threshold has names
        if predictions.min(initial=0) < 0 or predictions.max(initial=0) >= len(names):
            row = int(np.argmax((predictions < 0) | (predictions >= len(names))))
            raise OpenSetError(
                f"prediction is {predictions[row]} in {given.where(row)}, and there are {len(names)} known classes, "
                f"0 to {len(names) - 1}: are these of the model that the threshold was chosen for?"
            )
        if given.class_names is not None and own is not None and origin.classes is None and not self.force:
            self._check_names(predictions, given, own)
        return names

    def _check_names(self, predictions: Ints, given: ScoreColumns, own: tuple[str, ...]) -> None:
        """Where a file only tells the classes that it predicts, each of them must be one of the threshold's."""
        assert given.class_names is not None
        new = [number for number, name in enumerate(given.class_names) if name not in own]
        if new and own != numbered(len(own)):
            row = int(np.argmax(np.isin(predictions, new)))
            raise OpenSetError(
                f"prediction is '{given.class_names[int(predictions[row])]}' in {given.where(row)}, which is none of "
                f"the {len(own)} classes that the threshold was chosen for ('{own[0]}' for one); --force applies it "
                "all the same."
            )

    def _scored(self, columns: ScoreColumns, classes: tuple[str, ...] | None, name: str) -> tuple[ScoreColumns, Origin]:
        """Predictions and unknown scores, as given or made."""
        meta = dict(columns.meta or {})
        if columns.unknown_score is not None and columns.predictions is not None:
            return columns, Origin.known_by(meta, classes)
        if columns.logits is None:
            made = by_probability(columns, self.background)
            assert columns.probabilities is not None
            return made, Origin.known_by(made.meta or {}, made.class_names or numbered(columns.probabilities.shape[1]))
        check_rows("logits", columns.logits, columns)
        check_rows("features", columns.features, columns)
        spec = self.spec
        outputs = Outputs(
            columns.logits, columns.features, background=self.background, name=name, head=head_of(columns)
        )
        fitted = spec.card.fitted_for(outputs, self.fit, **spec.params)
        if isinstance(self.fit, Outputs):
            outputs = outputs.with_head_of(self.fit)
        known = outputs.known_logits()
        check_class_names(columns, known.shape[1])
        made = replace(columns, predictions=known.argmax(axis=1), unknown_score=fitted.score(outputs))
        metadata = {**meta, "score": spec.as_json(), "fit": fitted.fingerprint}
        return made, Origin.known_by(metadata, columns.class_names or numbered(known.shape[1]))


def check_rows(name: str, matrix: NDArray[Any] | None, columns: ScoreColumns) -> None:
    """Finite numbers in each row; an error names the row as the file counts it."""
    if matrix is None or matrix.dtype.kind != "f":
        return
    bad = ~np.isfinite(matrix).all(axis=tuple(range(1, matrix.ndim)))
    if bad.any():
        raise OpenSetError(f"'{name}' has a NaN or infinite value in {columns.where(int(np.argmax(bad)))}.")
