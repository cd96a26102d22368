"""The card of a score: what it means, what it needs, its parameters, where it is from, and how it is computed."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from openset._core.registry import Registry
from openset.errors import OpenSetError, did_you_mean
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import WHERE, Outputs
from openset.posthoc.parameters import Parameter

if TYPE_CHECKING:
    from openset.posthoc.fitted import FittedScore

Made = TypeVar("Made")
Need = Literal["logits", "features", "head", "fit"]


class Learned(dict[str, Array]):
    """What a score has learned from training outputs: arrays by name, as they are saved.

    With what is made of them at the first use, such as a copy in single precision to search in.
    """

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` returns, computed at the first call and kept for the next."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """Card of a score.

    `learn(train, **parameters)` returns what the score keeps of training outputs, known samples alone, and
    `apply(outputs, learned, **parameters)` gives one number per sample, higher = more unknown. `learned` names the
    arrays that are kept, with a sign per axis: k known classes, d features, a digit that length, any other letter a
    length of its own.
    """

    name: str
    title: str
    paper: str
    needs: tuple[Need, ...]
    document: str
    apply: Callable[..., Array]
    learn: Callable[..., dict[str, Array]] | None = None
    learned: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    uses_labels: bool = False
    """Whether it learns from the classes of the training samples, not only that they are known."""

    def __repr__(self) -> str:
        return f"Score({self.name})"

    @property
    def fitted(self) -> bool:
        """Whether it learns from training outputs."""
        return "fit" in self.needs

    @property
    def summary(self) -> str:
        """First line of the documentation, without its full stop."""
        return self.document.strip().splitlines()[0].removesuffix(".")

    @property
    def defaults(self) -> dict[str, Any]:
        """Published defaults of the parameters."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, checked: those given, and the defaults of the others."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) if known else "It has none."
                raise OpenSetError(f"The score '{self.name}' has no parameter '{name}'. {hint}")
        return {
            name: parameter.check(self.name, name, given[name]) if name in given else parameter.default
            for name, parameter in known.items()
        }

    def lacks(self, outputs: Outputs, fit: "Outputs | FittedScore | None" = None) -> tuple[str, ...]:
        """What it needs and is not there; a head may also come from the training outputs."""
        train = fit if isinstance(fit, Outputs) else None
        given = self._given(outputs, fit)
        missing: list[str] = [one for one in self.needs if one in WHERE and one not in given]
        if self.fitted and fit is None:
            missing.append("fit")
        elif train is not None and self.fitted:
            missing += [f"{need} for training" for need in ("logits", "features") if self._cannot_learn(train, need)]
        return tuple(missing)

    def _given(self, outputs: Outputs, fit: "Outputs | FittedScore | None") -> set[str]:
        if fit is None:
            return set(outputs.parts)
        from_fit = {"head"} if not isinstance(fit, Outputs) or fit.head is not None else set()
        return {*outputs.parts, *from_fit}

    def _cannot_learn(self, train: Outputs, need: str) -> bool:
        return need in self.needs and need not in train.parts

    def fit(self, train: Outputs | None, **parameters: Any) -> "FittedScore":
        """The score, ready to be applied; what it learned is kept with the training outputs."""
        from openset.posthoc.fitted import fit_score

        return fit_score(self, train, self.check(parameters))

    def compute(self, outputs: Outputs, fit: "Outputs | FittedScore | None" = None, **parameters: Any) -> Array:
        """Unknown scores of `outputs`; `fit` are training outputs, or the score already fitted on them."""
        fitted = self.fitted_for(outputs, fit, **parameters)
        return fitted.score(outputs.with_head_of(fit) if isinstance(fit, Outputs) else outputs)

    def fitted_for(
        self, outputs: Outputs, fit: "Outputs | FittedScore | None" = None, **parameters: Any
    ) -> "FittedScore":
        """The score, ready for these outputs; where the training outputs have no last layer it is taken from them."""
        missing = self.lacks(outputs, fit)
        if missing:
            raise OpenSetError(self.refusal(outputs, fit, missing))
        if not self.fitted:
            return self.fit(None, **parameters)
        if not isinstance(fit, Outputs):
            assert fit is not None
            return fit.matching(self, parameters)
        return self.fit(fit.with_head_of(outputs) if "head" in self.needs else fit, **parameters)

    def refusal(self, outputs: Outputs, fit: "Outputs | FittedScore | None", missing: tuple[str, ...]) -> str:
        """Why it cannot be computed, and which scores can."""
        if missing == ("fit",):
            return (
                f"The score '{self.name}' learns from training outputs: give them, on the command line with --fit FILE."
            )
        source = fit.name if missing[0].endswith("training") and isinstance(fit, Outputs) else outputs.name
        need = missing[0].removesuffix(" for training")
        usable = [card.name for card in SCORES.values() if not card.lacks(outputs, fit)]
        works = f"Scores that work with it: {', '.join(usable)}." if usable else "No score works with it."
        more = [] if fit is not None else [c.name for c in SCORES.values() if c.lacks(outputs) == ("fit",)]
        also = f" With training outputs (--fit) also: {', '.join(more)}." if more else ""
        thing = f"{need}, and {source} has none" if need != "head" else f"the last layer, and {source} lacks it"
        return f"The score '{self.name}' needs {thing} ({WHERE[need]}). {works}{also}"


def adopt_score(name: str, thing: Any) -> Score:
    """The card of what a user wrote: a `Score`, or a function of `logits` and `features` (one or both).

    Arguments that must be given by name, with their defaults, are its parameters.
    """
    if isinstance(thing, Score):
        return thing
    if not inspect.isfunction(thing):
        raise OpenSetError("this is not a score: a score is a function of logits and features, or a Score.")
    given = inspect.signature(thing).parameters.values()
    data = [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    options = [one for one in given if one.kind is one.KEYWORD_ONLY]
    if not data or not set(data) <= {"logits", "features"} or len(data) + len(options) != len(given):
        raise OpenSetError("a score is a function of 'logits', 'features' or both; its parameters come after a *.")
    lacking = next((one.name for one in options if one.default is one.empty), None)
    if lacking is not None:
        raise OpenSetError(f"its parameter '{lacking}' has no default.")

    def apply(outputs: Outputs, _: Learned, **parameters: Any) -> Array:
        arrays = {"logits": outputs.known_logits, "features": outputs.embedding}
        return np.asarray(thing(*(arrays[one]() for one in data), **parameters))

    return Score(
        name=name,
        title=name.replace("_", " ").capitalize(),
        paper="",
        needs=tuple(one for one in ("logits", "features") if one in data),
        document=inspect.getdoc(thing) or name,
        apply=apply,
        parameters=tuple(Parameter(one.name, one.default, "", lambda _, __, value: value) for one in options),
    )


SCORES: Registry[Score] = Registry("score", group="openset.scores", adopt=adopt_score)


def by_need() -> list[Score]:
    """All scores, those that need least first."""
    order = ("fit", "head", "features", "logits")
    return sorted(SCORES.values(), key=lambda card: [need in card.needs for need in order])


def register(card: Score) -> Score:
    """Add a score: from now on it is found by its name everywhere."""
    assert bool(card.learn) == card.fitted == bool(card.learned), card.name
    return SCORES.add(card.name, card)
