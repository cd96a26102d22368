"""Choosing a score, or its parameters, on validation data: never on what is reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openset._core.calls import split_list
from openset.errors import OpenSetError, check_choice
from openset.posthoc.fitted import score as compute
from openset.posthoc.outputs import Head, Outputs
from openset.posthoc.specs import ScoreSpec, parse_score, parse_scores

Source = Literal["open_set", "held_out"]


@dataclass(frozen=True)
class Trial:
    """One choice that was tried; `value` is the mean over folds, None where it could not be computed, for `reason`."""

    spec: ScoreSpec
    value: float | None
    per_fold: tuple[float, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Tuning:
    """What was chosen, from what, by which metric, on which samples."""

    best: ScoreSpec
    metric: str
    on: str
    trials: tuple[Trial, ...]

    def as_json(self) -> dict[str, Any]:
        """As results hold it."""
        tried = [
            {"score": trial.spec.as_json(), "value": trial.value, "per_fold": list(trial.per_fold)}
            | ({"reason": trial.reason} if trial.reason else {})
            for trial in self.trials
        ]
        return {"best": self.best.as_json(), "metric": self.metric, "on": self.on, "tried": tried}

    def __str__(self) -> str:
        best = max(trial.value for trial in self.trials if trial.value is not None)
        return f"{self.best}: {self.metric} {best:.4f}, best of {len(self.trials)} on {self.on}."


def grid(score: str | ScoreSpec) -> list[ScoreSpec]:
    """A score with every combination of the values that are usually tried; parameters that are given stay.

    >>> [str(spec) for spec in grid("knn")][:3]
    ['knn(k=1)', 'knn(k=5)', 'knn(k=10)']
    >>> [str(spec) for spec in grid("knn(k=3)")]
    ['knn(k=3)']
    """
    spec = parse_score(score)
    card = spec.card
    values = [
        parameter.grid if parameter.grid and spec.params[parameter.name] == parameter.default else ()
        for parameter in card.parameters
    ]
    choices = [
        tried or (spec.params[parameter.name],) for tried, parameter in zip(values, card.parameters, strict=True)
    ]
    names = [parameter.name for parameter in card.parameters]
    return [ScoreSpec.of(spec.name, dict(zip(names, one, strict=True))) for one in product(*choices)]


def tune(
    validation: Outputs,
    scores: str | Iterable[str | ScoreSpec] = "all",
    fit: Outputs | None = None,
    *,
    metric: Literal["open_auc", "auroc"] = "open_auc",
    source: Source | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Tuning:
    """Choose among scores and their parameters on validation outputs.

    `scores` are names, each tried over its usual values, or `all`. `source` says what stands for the unknowns:
    `open_set` the open-set samples of the validation outputs (the default where there are any), `held_out` known
    classes. In the second case the classes are divided into `folds` parts; in turn the classes of one are taken for
    unknown: their logits and weights are removed, their training samples are not fitted on. The network has seen
    those classes, so the values are too good, but for all scores alike. Of equal values the first tried wins.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.r_[np.arange(60) % 3, np.full(30, -1)]
    >>> logits = 4.0 * np.eye(3)[labels] * (labels >= 0)[:, None] + rng.normal(size=(90, 3))
    >>> found = tune(Outputs(logits, labels=labels), ["msp", "energy(temperature=1)"], metric="auroc")
    >>> found.on, len(found.trials)
    ('30 open-set samples (30 negative) of the file', 12)
    """
    check_choice("tune", "metric", metric, ["open_auc", "auroc"])
    if validation.labels is None:
        raise OpenSetError(f"To tune on, {validation.name} needs labels.")
    labels = np.asarray(validation.labels)
    has_open = bool((labels < 0).any())
    chosen: Source = source or ("open_set" if has_open else "held_out")
    check_choice("tune", "source", chosen, ["open_set", "held_out"])
    if chosen == "open_set" and not has_open:
        raise OpenSetError(
            f"{validation.name} has no open-set samples (labels below 0) to tune on: use source='held_out'."
        )
    specs = _specs(scores, validation, fit)
    if chosen == "open_set":
        parts, on = [(validation, fit)], _describe(labels, validation.name)
    else:
        parts, on = _held_out(validation, fit, folds, seed)
    trials = tuple(_try(spec, parts, metric) for spec in specs)
    usable = [trial for trial in trials if trial.value is not None]
    if not usable:
        raise OpenSetError(f"None of the scores could be computed; the first failed so: {trials[0].reason}")
    best = max(usable, key=lambda trial: trial.value or 0.0)
    return Tuning(best.spec, metric, on, trials)


def _specs(scores: str | Iterable[str | ScoreSpec], validation: Outputs, fit: Outputs | None) -> list[ScoreSpec]:
    entries = split_list(scores) if isinstance(scores, str) else list(scores)
    named: list[str | ScoreSpec] = []
    for entry in entries:
        named += parse_scores("all", validation, fit).specs if entry == "all" else [entry]
    found = dict.fromkeys(spec for entry in named for spec in grid(entry))
    if not found:
        raise OpenSetError("There are no scores to choose from.")
    return list(found)


def _describe(labels: NDArray[Any], name: str) -> str:
    kinds = [f"{n} {kind}" for kind, n in (("negative", (labels == -1).sum()), ("unknown", (labels == -2).sum())) if n]
    return f"{(labels < 0).sum()} open-set samples ({', '.join(kinds)}) of {name}"


def _try(spec: ScoreSpec, parts: Sequence[tuple[Outputs, Outputs | None]], metric: str) -> Trial:
    from openset import metrics

    values = []
    for outputs, fit in parts:
        try:
            found = compute(outputs, spec, fit)
        except OpenSetError as error:
            return Trial(spec, None, reason=str(error))
        assert outputs.labels is not None
        if metric == "auroc":
            values.append(metrics.auroc(outputs.labels, found))
        else:
            values.append(metrics.open_auc(outputs.labels, outputs.predictions(), found))
    return Trial(spec, float(np.mean(values)), tuple(values))


# ---- held-out classes ------------------------------------------------------------------------------------------------


def _held_out(
    validation: Outputs, fit: Outputs | None, folds: int, seed: int
) -> tuple[list[tuple[Outputs, Outputs | None]], str]:
    n_classes = validation.known_logits().shape[1]
    if not 2 <= folds <= n_classes or n_classes - -(-n_classes // folds) < 2:
        raise OpenSetError(
            f"tune: {n_classes} known classes cannot be divided into {folds} parts such that two or more stay known."
        )
    parts: list[tuple[Outputs, Outputs | None]] = []
    for held in np.array_split(np.random.default_rng(seed).permutation(n_classes), folds):
        tried = without_classes(validation.known(), held)
        if tried.labels is not None and (tried.labels < 0).any() and (tried.labels >= 0).any():
            parts.append((tried, None if fit is None else without_classes(fit, held).known()))
    if not parts:
        raise OpenSetError(f"tune: {validation.name} has samples of too few known classes to hold some out.")
    return parts, f"known classes of {validation.name}, held out in {len(parts)} parts (the network has seen them)"


def without_classes(outputs: Outputs, held: NDArray[np.integer[Any]]) -> Outputs:
    """As if some known classes were unknown: their logits and weights are gone, their samples have the label -2."""
    n_classes = outputs.known_logits().shape[1]
    kept = np.setdiff1d(np.arange(n_classes), held)
    number = np.full(n_classes, -2)
    number[kept] = np.arange(len(kept))
    columns = np.append(kept, n_classes) if outputs.background else kept
    head: Head | None = outputs.head
    if head is not None:
        weight, bias = head
        head = (
            None if weight is None else np.asarray(weight)[columns],
            None if bias is None else np.asarray(bias)[columns],
        )
    labels = None
    if outputs.labels is not None:
        given = np.asarray(outputs.labels)
        labels = np.where(given >= 0, number[np.maximum(given, 0)], given)
    assert outputs.logits is not None
    return replace(outputs, labels=labels, logits=np.asarray(outputs.logits)[:, columns], head=head)
