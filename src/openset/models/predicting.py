"""A model and a frozen threshold on samples without labels: a class or "unknown" for each, some rows at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset.models.batches import Done
from openset.models.card import Answers, Model
from openset.models.engines import Content, Engine
from openset.models.parts import Parts
from openset.models.samples import Samples
from openset.operating import Origin, Threshold
from openset.operating.decisions import decide, score_for
from openset.operating.origin import numbered
from openset.posthoc import SCORES, FittedScore, Outputs, ScoreSpec, fit

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Predictor:
    """A threshold and a score, checked to belong to a model; it travels to other processes, the model does not."""

    threshold: Threshold
    score: FittedScore | None
    """None for the model's own."""
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
            made = cls(threshold, None, _origin(model, stored, None))
        else:
            ready = _ready(score_for(threshold, score, fitted, model.score), fitted)
            made = cls(threshold, ready, _origin(model, ready.spec.as_json(), ready.fingerprint))
        if not force:
            threshold.check(made.origin)
        return made

    def decide(self, model: Model, answers: Answers, ids: NDArray[np.str_]) -> "pl.DataFrame":
        """One row per sample: id, decision, prediction, unknown_score, margin."""
        import polars as pl

        outputs = Outputs(
            answers.logits, answers.features, background=model.background, name=model.name, head=model.head
        )
        score = model.own_score if self.score is None else self.score.score
        assert score is not None
        names = model.class_names or self._names(outputs.known_logits().shape[1])
        made = decide(self.threshold, outputs.predictions(), score(outputs), class_names=names)
        return made.to_frame(pl.Series(ids)).select(pl.col(name).cast(kind) for name, kind in schema().items())

    def content(self, model: Model, samples: Samples, batches: Sequence[Done]) -> Content:
        """Decisions of one part."""
        import polars as pl

        made = [self.decide(model, one.answers, samples.ids[one.rows]) for one in batches if one.answers is not None]
        metadata = {**self.metadata, "left_out": [text for one in batches for text in one.bad]}
        return Content(pl.concat([pl.DataFrame(schema=schema()), *made]), metadata)

    @property
    def metadata(self) -> dict[str, Any]:
        """What files of decisions say of them."""
        return {"schema": 2, "threshold": self.threshold.as_json()}

    @property
    def plan(self) -> dict[str, Any]:
        """What decisions depend on, besides the samples."""
        return {**self.origin.as_json(), "threshold": self.threshold.as_json()}

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


def make_decisions(
    predictor: Predictor,
    model: Model,
    samples: Samples,
    out: Path,
    *,
    engine: Engine,
    batch: int,
    progress: Callable[[int], object] = lambda _: None,
    tell: Callable[[str], object] = lambda _: None,
) -> Parts:
    """Decide about all samples; the parts lie beside `out`, and what a stopped run did is used."""
    parts = Parts.beside(out, {**predictor.plan, "samples": samples.fingerprint}, len(samples), batch)
    parts.begin(progress, tell)
    engine.run(model, predictor, samples, parts, batch=batch, progress=progress)
    return parts


def schema() -> "dict[str, type[pl.DataType]]":
    """Of the decisions."""
    import polars as pl

    texts = dict.fromkeys(("id", "decision", "prediction"), pl.String)
    return {**texts, **dict.fromkeys(("unknown_score", "margin"), pl.Float64)}
