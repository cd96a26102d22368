"""The card of a metric: what tests, command line, docs and report need to know about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, Signature, isfunction, signature
from string import Formatter
from typing import Any, Literal, TypeVar, cast

from openset._core.counts import Counts
from openset._core.folds import Fold
from openset._core.registry import Registry
from openset.errors import OpenSetError, did_you_mean
from openset.metrics._arrays import data_of, kernel_of, with_against

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """One metric; `title` may name options in braces.

    `of` computes it from what is shared by all metrics of one evaluation: `Counts` for metrics of unknown scores,
    `Confidences` for metrics of probabilities. `variants` are the options under which `evaluate` reports it.
    """

    name: str
    title: str
    function: Callable[..., Any]
    of: Callable[..., float]
    fold: Callable[..., Fold] | None
    """Makes the metric, with options, a fold over counts, for rows that do not fit into memory; None: it cannot be."""
    source: Literal["counts", "probabilities"]
    better: Literal["higher", "lower"]
    span: tuple[float, float]
    paper: str
    variants: tuple[Mapping[str, Any], ...]
    uses_predictions: bool
    uses_scores: bool
    best_over_thresholds: bool
    interval: Literal["delong", "bootstrap"]
    headline: bool
    """Whether its first variant is among the few metric values that sum up a model."""
    invariant_to_repeats: bool
    """Whether a data set in which every sample occurs twice has the same value."""

    @cached_property
    def sees_open_set(self) -> bool:
        """Whether it looks at open-set samples, not at knowns alone."""
        return "against" in signature(self.function).parameters

    @cached_property
    def taken(self) -> dict[str, Any]:
        """Its options with their defaults; `Parameter.empty` for those that must be given."""
        found = signature(self.of).parameters.values()
        return {one.name: one.default for one in found if one.kind is one.KEYWORD_ONLY and one.name != "against"}

    def options(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Every option with its value: `params`, and defaults for the rest."""
        return {name: value for name, value in {**self.taken, **params}.items() if value is not Parameter.empty}

    def complete(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Checked options: of those that must be given, the ones that lack are as in the first variant.

        >>> METRICS["ccr_at_fpr"].complete({"balanced": True})
        {'fpr': 0.1, 'balanced': True}
        """
        needed = {name for name, default in self.taken.items() if default is Parameter.empty}
        made = {name: value for one in self.variants[:1] for name, value in one.items() if name in needed} | {**params}
        for name, value in made.items():
            if name not in self.taken:
                known = did_you_mean(name, self.taken) if self.taken else "It has none."
                where = f"Write {self.name}@{value}." if name == "against" else known
                raise OpenSetError(f"{self.name} has no option '{name}'. {where}")
            usual = self.taken[name]
            if isinstance(usual, int) and type(value) is not type(usual):
                kind = "true or false" if isinstance(usual, bool) else "a whole number"
                raise OpenSetError(f"{self.name}: '{name}' must be {kind}, got {value}.")
        if needed - made.keys():
            raise OpenSetError(f"{self.name} needs the option '{min(needed - made.keys())}'.")
        return made

    def has_delong(self, params: Mapping[str, Any]) -> bool:
        """Whether DeLong's interval is that of the metric with these options: it is for none but the usual ones.

        >>> METRICS["open_auc"].has_delong({"ties": "half"}), METRICS["open_auc"].has_delong({"ties": "strict"})
        (True, False)
        """
        return self.interval == "delong" and self.options(params) == self.options({})

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return (self.function.__doc__ or self.title).strip().splitlines()[0]


def adopt_metric(name: str, thing: Any) -> Metric:
    """The card of a function that `metric` decorated, or of a plain one: higher is better, from 0 to 1."""
    for card in METRICS.values():
        if card.function is thing:
            return card
    if not isfunction(thing):
        raise OpenSetError("this is not a metric: a metric is a function of labels, predictions and unknown_score.")
    return make_card(thing, name.replace("_", " ").capitalize(), name=name)


METRICS: Registry[Metric] = Registry("metric", group="openset.metrics", adopt=adopt_metric)


def make_card(
    function: Callable[..., Any],
    title: str,
    *,
    name: str = "",
    of: Callable[..., float] | None = None,
    fold: Callable[..., Fold] | None = None,
    source: Literal["counts", "probabilities"] = "counts",
    better: Literal["higher", "lower"] = "higher",
    span: tuple[float, float] = (0.0, 1.0),
    paper: str = "",
    variants: tuple[Mapping[str, Any], ...] = ({},),
    uses_predictions: bool = True,
    uses_scores: bool = True,
    best_over_thresholds: bool = False,
    interval: Literal["delong", "bootstrap"] = "bootstrap",
    headline: bool = False,
    invariant_to_repeats: bool = True,
) -> Metric:
    """The card of a metric; without `of` or `fold`, `function` takes plain arrays, and what it takes says the rest.

    >>> def caught_above_mean(labels, unknown_score):
    ...     return (unknown_score[labels < 0] > unknown_score.mean()).mean()
    >>> card = make_card(caught_above_mean, "Open-set samples above the mean score")
    >>> card.function([0, 1, -2, -2], [0.1, 0.2, 0.3, 0.9]), card.uses_predictions
    (0.5, False)
    """
    name = name or function.__name__
    if fold is not None:
        of = _kernel_of_fold(fold)
    if of is None:
        data = data_of(function)
        source = "probabilities" if "probabilities" in data else "counts"
        uses_predictions, uses_scores = "predictions" in data, data != ["labels", "predictions"]
        of = kernel_of(function, span)
        function = with_against(function, of)
    return Metric(
        name=name,
        title=title,
        function=function,
        of=of,
        fold=fold,
        source=source,
        better=better,
        span=span,
        paper=paper,
        variants=variants,
        uses_predictions=uses_predictions,
        uses_scores=uses_scores,
        best_over_thresholds=best_over_thresholds,
        interval=interval,
        headline=headline,
        invariant_to_repeats=invariant_to_repeats,
    )


def _kernel_of_fold(fold: Callable[..., Fold]) -> Callable[..., float]:
    """The metric as a function of counts in memory."""

    def kernel(counts: Counts, **options: Any) -> float:
        return fold(**options)(counts)

    shared = Parameter("counts", Parameter.POSITIONAL_ONLY)
    kernel.__signature__ = Signature([shared, *signature(fold).parameters.values()])  # type: ignore[attr-defined]
    return kernel


def metric(title: str, **card: Any) -> Callable[[Function], Function]:
    """Register the decorated function as a metric under its own name.

    The function takes labels first, then predictions, unknown_score or both, or probabilities alone, and its options
    after a `*`. It is called with arrays that are checked, of the knowns and of the open-set samples that `against`
    chooses, and with resamples of them for intervals. What else a card can say, see `make_card`: `better` ("higher"
    or "lower"), `span` (least and largest value), `paper`, `variants` (options under which `evaluate` reports it),
    `headline` (whether it is among the few that sum up a model).
    """

    def register(function: Function) -> Function:
        made = make_card(function, title, **card)
        METRICS.add(made.name, made)
        return cast("Function", made.function)

    return register


def titled(card: Metric, params: Mapping[str, Any]) -> str:
    """What a person calls a metric with its options: `CCR at FPR 0.1`, `OpenAUC, ties=strict`."""
    options, usual = card.options(params), card.options({})
    balanced = ", class-balanced" if params.get("balanced") else ""
    best = " (best threshold)" if card.best_over_thresholds and options.get("threshold") == "best" else ""
    in_title = {"balanced", *(field for _, field, _, _ in Formatter().parse(card.title))}
    rest = {name: value for name, value in params.items() if name not in in_title and value != usual.get(name)}
    return _Titles().format(card.title, **options) + balanced + (f", {describe(rest)}" if rest else "") + best


class _Titles(Formatter):
    """`{tpr:percent}` gives all digits of a percentage: 95%, 99.5%."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "percent":
            return f"{100 * value:.10g}%"
        return super().format_field(value, format_spec)


def describe(params: Mapping[str, Any]) -> str:
    """Options as a person writes them: `tpr=0.95, positive=known`."""
    return ", ".join(f"{name}={value}" for name, value in params.items())
