"""From a plain function of arrays to a metric: checked input, `against`, and values of resamples."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import open_mask
from openset._core.counts import Counts, count, rank
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.metrics.probabilities import Confidences

_KIND = inspect.Parameter


def data_of(function: Callable[..., Any]) -> list[str]:
    """Names of the arrays that a function takes; everything else must be an option with a default."""
    parameters = inspect.signature(function).parameters.values()
    data = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    counted = set(data) <= {"labels", "predictions", "unknown_score"}
    if data[:1] != ["labels"] or not (counted or data == ["labels", "probabilities"]):
        raise OpenSetError(
            "A metric takes labels, then predictions, unknown_score or both, or probabilities alone, and its options "
            f"after a *; '{function.__name__}' takes {', '.join(data) or 'nothing'}."
        )
    bare = next((one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty), "")
    if bare:
        raise OpenSetError(f"The option '{bare}' of the metric '{function.__name__}' needs a default.")
    return data


def kernel_of(function: Callable[..., Any], span: tuple[float, float]) -> Callable[..., float]:
    """The plain function as a function of what all metrics of an evaluation share, resampled or not."""
    data = data_of(function)

    def from_counts(counts: Counts, **options: Any) -> float:
        ranking = counts.ranking
        arrays = {"labels": ranking.label, "predictions": ranking.prediction, "unknown_score": ranking.score}
        return _call(function, [arrays[name] for name in data], counts.weights, options, span)

    def from_probabilities(gathered: "Confidences", *, against: str = "all", **options: Any) -> float:
        keep = (gathered.labels >= 0) | open_mask(gathered.labels, against, gathered.groups)
        weights = keep.astype(np.float64) if gathered.weights is None else gathered.weights * keep
        return _call(function, [gathered.labels, gathered.probabilities], weights, options, span)

    kernel: Callable[..., float] = from_probabilities if "probabilities" in data else from_counts
    against = [_KIND("against", _KIND.KEYWORD_ONLY, default="all")] if "probabilities" in data else []
    options = [one for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    first = _KIND("shared", _KIND.POSITIONAL_ONLY)
    kernel.__signature__ = inspect.Signature([first, *options, *against])  # type: ignore[attr-defined]
    return kernel


def _call(
    function: Callable[..., Any],
    arrays: Sequence[NDArray[Any] | None],
    weights: NDArray[np.float64] | None,
    options: Mapping[str, Any],
    span: tuple[float, float],
) -> float:
    if weights is not None:  # a resample: each sample as often as it was drawn
        often = weights.astype(np.int64)
        arrays = [None if one is None else np.repeat(one, often, axis=0) for one in arrays]
    value = function(*arrays, **options)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not span[0] <= number <= span[1]:
        raise OpenSetError(
            f"The metric '{function.__name__}' gave {value!r}, which is not a number from {span[0]:g} to {span[1]:g}: "
            "say its range with @metric(..., span=(low, high))."
        )
    return number


def with_against(function: Callable[..., Any], kernel: Callable[..., float]) -> Callable[..., float]:
    """The metric as users call it: input is checked, and `against` chooses the open-set samples."""
    data, own = data_of(function), inspect.signature(function)
    sees_open_set = data != ["labels", "predictions"]
    extra = [
        _KIND("against", _KIND.KEYWORD_ONLY, default="all"),
        _KIND("groups", _KIND.KEYWORD_ONLY, default=None),
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *(extra if sees_open_set else [])])

    @wraps(function)
    def metric(*given: Any, **named: Any) -> float:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        options = dict(bound.arguments)
        arrays = {name: options.pop(name) for name in data}
        if not sees_open_set:
            constant = np.zeros(len(np.asarray(arrays["labels"])))
            return kernel(Counts(rank(arrays["labels"], arrays["predictions"], constant)), **options)
        against, groups = options.pop("against"), options.pop("groups")
        if "probabilities" in arrays:
            from openset.metrics.probabilities import gather

            gathered = gather(arrays["labels"], arrays["probabilities"], groups)
            return kernel(gathered, against=against, **options)
        return kernel(
            count(arrays["labels"], arrays.get("predictions"), arrays["unknown_score"], against, groups), **options
        )

    metric.__signature__ = signature  # type: ignore[attr-defined]
    return metric
