"""Several unknown scores of the same outputs, with parameters that may be chosen on validation data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.calls import split_list
from openset._core.fingerprint import fingerprint
from openset._core.labels import LabelWords
from openset._core.numbers import number
from openset._io.paths import real_path
from openset._io.score_columns import ScoreColumns
from openset._io.score_files import naming, read_columns
from openset.errors import OpenSetError
from openset.posthoc import SCORES, FittedScore, Outputs, ScoreSpec, Selection, Tuning, parse_scores, tune
from openset.reading import NO_LABELS, NO_WORDS, check_class_names, outputs_of
from openset.scores import Scores

_FOLDS = 5
SEVERAL_RESAMPLES = 200
"""Bootstrap resamples of each of several scores: a table of all must not take much longer than the slowest of them."""


def asks_for_several(score: str | None) -> bool:
    """Whether `--score` names more than one score: a list, or `all`.

    >>> asks_for_several("msp,energy"), asks_for_several("all"), asks_for_several("gen(gamma=0.1, top=5)")
    (True, True, False)
    """
    entries = [] if score is None else split_list(score)
    return len(entries) > 1 or entries == ["all"]


@dataclass(frozen=True)
class ScoredFile:
    """The scores of one file of outputs."""

    file: Path
    models: Mapping[str, Scores]
    """By the name of the score with its parameters."""
    left_out: Mapping[str, str]
    """Scores that the file does not allow, with what they need."""

    @property
    def remarks(self) -> list[str]:
        """Which scores are left out, and why."""
        return [f"{reason}." for reason in _reasons(self.left_out)]


def score_file(
    path: str | Path,
    scores: str | Sequence[ScoreSpec],
    fit: Outputs | FittedScore | None = None,
    *,
    background: bool = False,
    words: LabelWords = NO_WORDS,
    metadata: Mapping[str, Any] | None = None,
) -> ScoredFile:
    """Several scores of a file of outputs; `scores` as `--score` takes them, or chosen before.

    What one score computes on the way is kept for the others. The `Scores` have no probabilities, which do not depend
    on the score. Of `all`, those that fail are left out; one that is named must not. `about` goes into their `meta`.
    """
    if isinstance(fit, FittedScore) and scores == "all":
        raise OpenSetError(
            f"--score all needs training outputs (--fit train.npz); the fit given is of {fit.spec} alone."
        )
    columns = read_columns(path, words)
    try:
        if columns.labels is None:
            raise OpenSetError(NO_LABELS)
        outputs = outputs_of(columns, background=background, name=str(path))
        if outputs.logits is not None:
            check_class_names(columns, outputs.known_logits().shape[1])
        chosen = parse_scores(scores, outputs, fit) if isinstance(scores, str) else _checked(scores, outputs, fit)
        named = {entry.partition("(")[0] for entry in split_list(scores)} if isinstance(scores, str) else SCORES
        models, left_out = {}, dict(chosen.left_out)
        for spec in chosen.specs:
            try:
                models[str(spec)] = _scored(columns, outputs, spec, fit, metadata or {})
            except OpenSetError as error:
                if spec.name in named:
                    raise
                left_out[spec.name] = str(error).rstrip(".")
        if not models:
            raise OpenSetError(f"none of the scores can be computed: {'; '.join(_reasons(left_out))}.")
    except OpenSetError as error:
        raise naming(path, error) from error
    return ScoredFile(Path(path), models, left_out)


def _checked(specs: Sequence[ScoreSpec], outputs: Outputs, fit: Outputs | FittedScore | None) -> Selection:
    for spec in specs:
        missing = spec.card.lacks(outputs, fit)
        if missing:
            raise OpenSetError(spec.card.refusal(outputs, fit, missing))
    return Selection(tuple(specs), {})


def _reasons(left_out: Mapping[str, str]) -> list[str]:
    """One sentence for each reason why scores are left out, without its full stop."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return [
        f"{', '.join(names)} {'are' if len(names) > 1 else 'is'} left out ({why})" for why, names in by_reason.items()
    ]


def _scored(
    columns: ScoreColumns,
    outputs: Outputs,
    spec: ScoreSpec,
    fit: Outputs | FittedScore | None,
    metadata: Mapping[str, Any],
) -> Scores:
    fitted = spec.card.fitted_for(outputs, fit, **spec.params)
    meta = {"score": spec.as_json(), "background": outputs.background}
    if spec.card.fitted:
        meta["fit"] = fitted.fingerprint
    assert columns.labels is not None
    made = Scores(
        columns.labels,
        outputs.predictions(),
        fitted.score(outputs.with_head_of(fit) if isinstance(fit, Outputs) else outputs),
        None,
        columns.class_names,
        ids=columns.ids,
        groups=columns.groups,
        open_classes=columns.open_classes,
        meta={**(columns.meta or {}), **meta, **metadata},
    )
    return made.among(outputs.known_logits().shape[1])


# ---- parameters chosen on validation data ----------------------------------------------------------------------------


@dataclass(frozen=True)
class TunedScores:
    """The scores with the parameters that are best on validation data, and which of the scores is the best there."""

    tuning: Tuning
    file: Path
    content: str
    """Fingerprint of the validation outputs."""

    @property
    def specs(self) -> tuple[ScoreSpec, ...]:
        """Of each score the best parameters."""
        found: dict[str, tuple[float, ScoreSpec]] = {}
        for trial in self.tuning.trials:
            if trial.value is not None and trial.value > found.get(trial.spec.name, (-np.inf, None))[0]:
                found[trial.spec.name] = (trial.value, trial.spec)
        return tuple(spec for _, spec in found.values())

    @property
    def metadata(self) -> dict[str, Any]:
        """For the `meta` of scores: how their parameters were chosen."""
        return {"tuned": {"by": self.tuning.metric, "on": self.tuning.on, "tried": len(self.tuning.trials)}}

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        best = max(trial.value for trial in self.tuning.trials if trial.value is not None)
        several = len(self.specs) > 1
        return (
            f"Parameters were chosen by {self.tuning.metric} on {self.tuning.on}, among {len(self.tuning.trials)} "
            f"choices, without the test samples. {'Best of all scores' if several else 'Best'} there: "
            f"{self.tuning.best}, {number(best, 4)}."
        )

    @property
    def failed(self) -> dict[str, str]:
        """Scores that could not be computed with any parameters, with why."""
        usable = {spec.name for spec in self.specs}
        return {trial.spec.name: trial.reason for trial in self.tuning.trials if trial.spec.name not in usable}

    def check_other(self, path: str | Path, words: LabelWords = NO_WORDS) -> None:
        """Refuse to report on the samples that the parameters were chosen on."""
        same = real_path(Path(path)) == real_path(self.file)
        if same or _content(outputs_of(read_columns(path, words), name=str(path))) == self.content:
            raise OpenSetError(
                f"{path} holds the samples that --tune chooses the parameters on: report on other samples."
            )


def tune_scores(
    path: str | Path,
    scores: str,
    fit: Outputs | FittedScore | None = None,
    *,
    background: bool = False,
    words: LabelWords = NO_WORDS,
    seed: int = 0,
) -> TunedScores:
    """Choose parameters on validation outputs: against their open-set samples, or held-out known classes."""
    if isinstance(fit, FittedScore):
        raise OpenSetError(
            f"--tune tries other parameters, and the fit given is of {fit.spec} alone: give --fit train.npz."
        )
    try:
        outputs = outputs_of(read_columns(path, words), background=background, name=str(path))
        n_classes = outputs.known_logits().shape[1]
        tuning = tune(outputs, scores, fit, folds=min(_FOLDS, n_classes), seed=seed)
    except OpenSetError as error:
        raise naming(path, error) from error
    return TunedScores(tuning, Path(path), _content(outputs))


def _content(outputs: Outputs) -> str:
    arrays = (outputs.logits, outputs.features)
    return fingerprint([np.asarray(array, dtype=np.float64) for array in arrays if array is not None])
