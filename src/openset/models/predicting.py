"""A model and a frozen threshold on samples without labels: a class or "unknown" for each, some rows at a time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset.models.card import Answers, Model
from openset.models.outputs import run_batches
from openset.models.samples import Samples
from openset.operating import Origin, Threshold
from openset.operating.decisions import decide, score_for
from openset.operating.origin import numbered
from openset.posthoc import SCORES, FittedScore, Outputs, ScoreSpec, fit
from openset.posthoc.numerics import Array

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Predictor:
    """A model with a threshold, checked to belong together."""

    model: Model
    threshold: Threshold
    score: Callable[[Outputs], Array]
    origin: Origin

    @classmethod
    def of(
        cls,
        model: Model,
        threshold: Threshold,
        *,
        score: str | None = None,
        fitted: Outputs | FittedScore | None = None,
        force: bool = False,
    ) -> "Predictor":
        """The score is that of `score_for`; one that only the model itself can make is taken from it."""
        stored = threshold.origin.score or (None if isinstance(fitted, FittedScore) else model.score)
        named = None if stored is None or score is not None else stored["name"]
        if named is not None and named not in SCORES and model.score == stored and model.own_score is not None:
            made = cls(model, threshold, model.own_score, _origin(model, stored, None))
        else:
            ready = _ready(score_for(threshold, score, fitted, model.score), fitted)
            made = cls(model, threshold, ready.score, _origin(model, ready.spec.as_json(), ready.fingerprint))
        if not force:
            threshold.check(made.origin)
        return made

    def decide(self, answers: Answers, ids: NDArray[np.str_]) -> "pl.DataFrame":
        """One row per sample: id, decision, prediction, unknown_score, margin."""
        import polars as pl

        outputs = Outputs(
            None, answers.logits, answers.features, self.model.background, self.model.name, self.model.head
        )
        names = self.model.class_names or self._names(outputs.known_logits().shape[1])
        made = decide(self.threshold, outputs.predictions(), self.score(outputs), class_names=names)
        return made.to_frame(pl.Series(ids)).select(pl.col(name).cast(kind) for name, kind in schema().items())

    def _names(self, width: int) -> tuple[str, ...]:
        """What a threshold calls the classes of a model that has no names."""
        own = self.threshold.origin.classes
        return own if own is not None and len(own) == width else numbered(width)


def _ready(spec: ScoreSpec, fitted: Outputs | FittedScore | None) -> FittedScore:
    if isinstance(fitted, FittedScore):
        return fitted.matching(spec.card, spec.params)
    return fit(spec, fitted if spec.card.fitted else None)


def _origin(model: Model, score: Mapping[str, Any] | None, fitted: str | None) -> Origin:
    return Origin.known_by({"score": score, "fit": fitted, "model": model.fingerprint}, model.class_names)


def decisions(
    predictor: Predictor, samples: Samples, *, batch: int, trouble: Callable[[str], object]
) -> "Iterator[tuple[pl.DataFrame, int]]":
    """Decisions batch by batch, with the number of samples behind them; `trouble` hears of what cannot be read."""
    import polars as pl

    empty = pl.DataFrame(schema=schema())
    for done in run_batches(predictor.model, samples, batch=batch):
        for one in done.bad:
            trouble(one)
        made = empty if done.answers is None else predictor.decide(done.answers, samples.ids[done.rows])
        yield made, len(done.rows) + len(done.bad)


def schema() -> "dict[str, type[pl.DataType]]":
    """Of the decisions."""
    import polars as pl

    texts = dict.fromkeys(("id", "decision", "prediction"), pl.String)
    return {**texts, **dict.fromkeys(("unknown_score", "margin"), pl.Float64)}
