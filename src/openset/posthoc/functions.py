"""Scores as plain functions of arrays: `knn(features, fit_features=..., k=10)`."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from openset._core.checks import as_array
from openset.errors import OpenSetError
from openset.posthoc.card import Score
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs


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
