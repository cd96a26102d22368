"""Scores and network outputs from files of any kind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._core import checks
from openset._core.labels import LabelWords
from openset._io.frames import as_polars
from openset._io.score_columns import BLOCKS, COLUMNS, ScoreColumns, from_table
from openset._io.score_files import naming, read_columns
from openset._io.tables import with_plain_names
from openset.errors import OpenSetError
from openset.posthoc import FittedScore, Head, Outputs, as_matrix, load, parse_score
from openset.scores import Scores

NO_WORDS = LabelWords()
OF_PROBABILITIES = "msp"
"""The score that probabilities alone give."""
_ROUNDING = 1e-3
"""Where rows of probabilities add up to 1 up to this, no probability of a background class is missing."""


def read_scores(
    path: str | Path,
    *,
    score: str | None = None,
    background: bool = False,
    fit: str | Path | None = None,
    words: LabelWords = NO_WORDS,
) -> Scores:
    """What `Scores.read` says."""
    trained = None if fit is None else read_fit(fit, background, words)
    if score is None and isinstance(trained, FittedScore):
        score = str(trained.spec)
    columns = read_columns(path, words)
    try:
        return _from_columns(columns, score, background, trained)
    except OpenSetError as error:
        raise naming(path, error) from error


def scores_of_frame(
    frame: Any,
    *,
    score: str | None = None,
    background: bool = False,
    fit: Outputs | FittedScore | None = None,
    words: LabelWords = NO_WORDS,
) -> Scores:
    """What `Scores.from_frame` says."""
    table = with_plain_names(as_polars(frame), "the frame", names=COLUMNS, prefixes=[f"{one}_" for one in BLOCKS])
    return _from_columns(from_table(table, checks.name_row, words=words), score, background, fit)


def read_fit(path: str | Path, background: bool, words: LabelWords) -> Outputs | FittedScore:
    """Training outputs, or a score that is fitted already."""
    if Path(path).suffix == ".safetensors":
        return load(path)
    return read_outputs(path, background=background, words=words)


def head_of(columns: ScoreColumns) -> Head | None:
    """The last layer, where the file has it: without a bias it has none."""
    return None if columns.weight is None else (columns.weight, columns.bias)


def read_outputs(path: str | Path, *, background: bool = False, words: LabelWords = NO_WORDS) -> Outputs:
    """Logits and features with their labels, for scores that learn from the training part."""
    columns = read_columns(path, words)
    try:
        return outputs_of(columns, background=background, name=str(path))
    except OpenSetError as error:
        raise naming(path, error) from error


def outputs_of(columns: ScoreColumns, *, background: bool = False, name: str = "the file") -> Outputs:
    """Logits and features of what a file holds; `name` is what errors call it."""
    labels = None if columns.labels is None else checks.as_ints("labels", columns.labels)
    checks.check_lengths(labels=labels, logits=columns.logits, features=columns.features)
    matrices = {
        kind: None if values is None else as_matrix(kind, values)
        for kind, values in (("logits", columns.logits), ("features", columns.features))
    }
    return Outputs(**matrices, labels=labels, background=background, name=name, head=head_of(columns))


def check_class_names(columns: ScoreColumns, n_classes: int) -> None:
    """Names of other classes than those that the logits are of would give wrong answers without a word."""
    if columns.class_names is not None and len(columns.class_names) != n_classes:
        given = len(columns.class_names)
        raise OpenSetError(f"there are logits of {n_classes} known classes and {given} class names: they must agree.")


def _check_agreement(scores: Scores) -> None:
    """Predictions and probabilities of one file that mostly contradict each other are of two orders of classes."""
    rows, matrix = scores.contradictions, scores.probabilities
    if matrix is not None and 2 * len(rows) > len(scores):
        row = int(rows[0])
        best = int(matrix[row].argmax())
        raise OpenSetError(
            f"in {len(rows):,} of {len(scores):,} rows the prediction is not the class of the largest probability, as "
            f"in row {row}, where class {scores.class_name(int(scores.predictions[row]))} is predicted and class "
            f"{scores.class_name(best)} has {matrix[row, best]:.3g}: are the probabilities in the order of the "
            "classes? Leave them out if they are of another model."
        )


_NEEDED = (
    "Needed are label, prediction and unknown_score (higher = more unknown), "
    "or label and logit_0, logit_1, ... or prob_0, prob_1, ..."
)
NO_LABELS = f"there is no column 'label', the class of each sample (in NPZ files: 'labels' or 'gt'). {_NEEDED}"
"""What is said of a file that has none."""


def _from_columns(
    columns: ScoreColumns, score: str | None, background: bool, fit: Outputs | FittedScore | None
) -> Scores:
    if score is None and columns.unknown_score is not None:
        return _as_given(columns, background)
    if columns.labels is None:
        raise OpenSetError(NO_LABELS)
    if columns.logits is None and columns.probabilities is not None and score in (None, OF_PROBABILITIES):
        return _as_given(by_probability(columns, background), background)
    if columns.logits is None:
        raise OpenSetError(_what_is_missing(columns, score))
    return Scores.from_logits(
        columns.labels,
        columns.logits,
        score=score or "max_logit",
        background=background,
        features=columns.features,
        head=head_of(columns),
        fit=fit,
        class_names=columns.class_names,
        ids=columns.ids,
        groups=columns.groups,
        open_classes=columns.open_classes,
        meta=columns.meta,
    )


def _what_is_missing(columns: ScoreColumns, score: str | None) -> str:
    if score is not None:
        parse_score(score)  # a misspelt name is the likelier mistake
        return f"score '{score}' is made from logits, and the file has none (columns logit_0, logit_1, ...)."
    lacking = "unknown_score" if columns.predictions is not None else "prediction and unknown_score"
    return f"there is no column {lacking}. {_NEEDED}"


def by_probability(columns: ScoreColumns, background: bool) -> ScoreColumns:
    """What `predict_proba` gives: the class with the largest probability, and the more unknown the smaller that is."""
    assert columns.probabilities is not None
    probabilities = checks.as_probabilities(columns.probabilities).astype(np.float64)
    best = probabilities.argmax(axis=1)
    unknown_score = 1 - probabilities.max(axis=1)
    if not background and np.abs(probabilities.sum(axis=1) - 1).max() <= _ROUNDING:
        # The same, from the other classes' shares: samples at probability 0.99999999999 still differ.
        others = probabilities.copy()
        others[np.arange(len(others)), best] = 0.0
        unknown_score = others.sum(axis=1)
    return replace(
        columns,
        predictions=best if columns.predictions is None else columns.predictions,
        unknown_score=unknown_score,
        meta={**(columns.meta or {}), "score": parse_score(OF_PROBABILITIES).as_json()},
    )


def _as_given(columns: ScoreColumns, background: bool) -> Scores:
    if columns.labels is None:
        raise OpenSetError(NO_LABELS)
    if columns.predictions is None:
        raise OpenSetError(f"there is no column 'prediction', the best known class of each sample. {_NEEDED}")
    assert columns.unknown_score is not None
    scores = Scores(
        columns.labels,
        columns.predictions,
        columns.unknown_score,
        columns.probabilities,
        columns.class_names,
        ids=columns.ids,
        groups=columns.groups,
        open_classes=columns.open_classes,
        # Not every file can say it, a CSV for one, and gamma depends on it.
        meta={**(columns.meta or {}), "background": True} if background else columns.meta,
    )
    _check_agreement(scores)
    return scores
