"""The card of a metric: what tests, command line, docs and report need to know about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, TypeVar

from openset._core.registry import Registry

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
    """Whether a data set in which every sample stands twice has the same value."""

    @property
    def sees_open_set(self) -> bool:
        """Whether it looks at open-set samples, not at knowns alone."""
        return self.uses_scores and (self.source == "counts" or self.name == "confidence")

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


METRICS: Registry[Metric] = Registry("metric")


def metric(
    title: str,
    *,
    of: Callable[..., float],
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
) -> Callable[[Function], Function]:
    """Register the decorated function under its own name."""

    def register(function: Function) -> Function:
        card = Metric(
            function.__name__,
            title,
            function,
            of,
            source,
            better,
            span,
            paper,
            variants,
            uses_predictions,
            uses_scores,
            best_over_thresholds,
            interval,
            headline,
            invariant_to_repeats,
        )
        METRICS.add(function.__name__, card)
        return function

    return register


def titled(card: Metric, params: Mapping[str, Any]) -> str:
    """What a person calls a figure: `CCR at FPR 0.1`."""
    defaults = {name: option.default for name, option in signature(card.function).parameters.items()}
    options = {**defaults, **params}
    balanced = ", class-balanced" if params.get("balanced") else ""
    best = " (best threshold)" if card.best_over_thresholds and options.get("threshold") == "best" else ""
    return card.title.format(**options) + balanced + best


def describe(params: Mapping[str, Any]) -> str:
    """Options as a person writes them: `tpr=0.95, positive=known`."""
    return ", ".join(f"{name}={value}" for name, value in params.items())
