"""The card of a score: what it means, what it needs, its parameters, where it is from, and how it is computed."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from openset._core.checks import as_array
from openset._core.registry import Registry
from openset.errors import OpenSetError, check_choice, check_share, did_you_mean, is_number
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import WHERE, Outputs

if TYPE_CHECKING:
    from openset.posthoc.fitted import FittedScore

Made = TypeVar("Made")
Need = Literal["logits", "features", "head", "fit"]
Check = Callable[[str, str, Any], Any]


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


@dataclass(frozen=True)
class Parameter:
    """A parameter of a score, with its published default, and the values that `tune` tries."""

    name: str
    default: Any
    meaning: str
    check: Check
    grid: tuple[Any, ...] = ()


def at_least(least: int) -> Check:
    """A whole number from `least` on."""

    def check(score: str, name: str, value: Any) -> int:
        whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or value < least:
            raise OpenSetError(f"{score}: '{name}' must be at least {least}, a whole number, got {value!r}.")
        return int(value)

    return check


def above(least: float, *, include: bool = False) -> Check:
    """A number above `least`."""

    def check(score: str, name: str, value: Any) -> float:
        good = is_number(value) and not isinstance(value, bool) and np.isfinite(value)
        if not good or not (value >= least if include else value > least):
            words = "at least" if include else "above"
            shown = f"{value:g}" if is_number(value) else repr(value)
            raise OpenSetError(f"{score}: '{name}' must be {words} {least:g}, got {shown}.")
        return float(value)

    return check


def fraction(score: str, name: str, value: Any) -> float:
    """A number in (0, 1]."""
    return check_share(score, name, value)


def inner_fraction(score: str, name: str, value: Any) -> float:
    """A number in (0, 1)."""
    return check_share(score, name, value, one=False)


def one_of(*choices: str) -> Check:
    """One of some words."""
    return lambda score, name, value: check_choice(score, name, value, choices)


def optional(check: Check) -> Check:
    """None, for a default that depends on the outputs, or what passes `check`."""
    return lambda score, name, value: None if value is None else check(score, name, value)


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
        missing: list[str] = [one for one in self.needs if one in WHERE and one not in self._given(outputs, fit)]
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
        missing = self.lacks(outputs, fit)
        if missing:
            raise OpenSetError(self.refusal(outputs, fit, missing))
        if fit is not None and not isinstance(fit, Outputs):
            return fit.matching(self, parameters).score(outputs)
        train = None if fit is None else fit.with_head_of(outputs)
        return self.fit(train if self.fitted else None, **parameters).score(outputs.with_head_of(fit))

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


def _adopt(name: str, thing: Any) -> Score:
    from openset.posthoc.own import adopt_score

    return adopt_score(name, thing)


SCORES: Registry[Score] = Registry("score", group="openset.scores", adopt=_adopt)


def register(card: Score) -> Score:
    """Add a score: from now on it is found by its name everywhere."""
    assert bool(card.learn) == card.fitted == bool(card.learned), card.name
    return SCORES.add(card.name, card)


def function_of(card: Score) -> Callable[..., Array]:
    """The score as a plain function: logits and features first, all else by name."""
    data: list[str] = [name for name in ("logits", "features") if name in card.needs]
    head = ["weight", "bias"] if "head" in card.needs else []
    train = [f"fit_{name}" for name in (*data, "labels")] if card.fitted else []
    softmax = ["background"] if "logits" in card.needs else []

    def function(*given: ArrayLike, **options: Any) -> Array:
        if len(given) != len(data):
            raise OpenSetError(f"{card.name} takes {' and '.join(data)} first, got {len(given)} arrays.")
        arrays: dict[str, Any] = {
            name: None if options.get(name) is None else as_array(name, options[name]) for name in (*head, *train)
        }
        known = set(head + train + softmax)
        parameters = {name: value for name, value in options.items() if name not in known}
        background = bool(options.get("background", False))
        shared: dict[str, Any] = {
            "background": background,
            "head": (arrays["weight"], arrays["bias"]) if head else None,
        }
        own: dict[str, Any] = {name: as_array(name, one) for name, one in zip(data, given, strict=True)}
        outputs = Outputs(**own, **shared)
        if not card.fitted:
            return card.compute(outputs, None, **parameters)
        fit = Outputs(**{name: arrays[f"fit_{name}"] for name in data}, name="the training outputs", **shared)
        labels = arrays["fit_labels"]
        if labels is None and not card.uses_labels:
            labels = np.zeros(len(fit), dtype=np.int64)
        return card.compute(outputs, replace(fit, labels=labels), **parameters)

    function.__name__ = function.__qualname__ = card.name
    function.__doc__ = card.document
    kind = inspect.Parameter
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in data]
        + [kind(name, kind.KEYWORD_ONLY, default=None) for name in (*head, *train)]
        + [kind(one.name, kind.KEYWORD_ONLY, default=one.default) for one in card.parameters]
        + [kind(name, kind.KEYWORD_ONLY, default=False) for name in softmax]
    )
    return function
