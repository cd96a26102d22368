"""Scores of a user's own: a card, or a plain function of logits and features."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Check, Learned, Need, Parameter, Score
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs

_DATA: tuple[Need, ...] = ("logits", "features")


def adopt_score(name: str, thing: Any) -> Score:
    """The card of a score: `thing` itself, or made from a function of logits (n, K), features (n, D) or both.

    What stands after a `*` in the function are its parameters, each with a default.

    >>> def spread(logits, *, top=2):
    ...     return -np.sort(logits, axis=1)[:, -top:].std(axis=1)
    >>> card = adopt_score("spread", spread)
    >>> card.compute(Outputs(logits=np.array([[3.0, 1.0, 0.0]]))), card.defaults
    (array([-1.]), {'top': 2})
    """
    if isinstance(thing, Score):
        return thing
    if not inspect.isfunction(thing):
        raise OpenSetError("this is no score: a score is a function of logits or features, or a Score.")
    parameters = inspect.signature(thing).parameters.values()
    data = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    needs = tuple(need for need in _DATA if need in data)
    if not needs or data != list(needs):
        raise OpenSetError(
            "a score takes logits, features or both in this order, and its parameters after a *; "
            f"'{thing.__name__}' takes {', '.join(data) or 'nothing'}."
        )
    options = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    bare = next((one.name for one in options if one.default is one.empty), "")
    if bare:
        raise OpenSetError(f"the parameter '{bare}' of the score '{thing.__name__}' needs a default.")
    title = name.replace("_", " ").capitalize()
    return Score(
        name=name,
        title=title,
        paper="",
        needs=needs,
        document=inspect.getdoc(thing) or title,
        apply=_applying(name, thing, needs),
        parameters=tuple(Parameter(one.name, one.default, "", _like(one.default)) for one in options),
    )


def _applying(name: str, function: Callable[..., Any], needs: tuple[Need, ...]) -> Callable[..., Array]:
    def apply(outputs: Outputs, _: Learned, **parameters: Any) -> Array:
        given = {"logits": outputs.known_logits, "features": outputs.embedding}
        values = np.asarray(function(*[given[need]() for need in needs], **parameters), dtype=np.float64)
        if values.shape != (len(outputs),) or not np.isfinite(values).all():
            raise OpenSetError(
                f"The score '{name}' must give one finite number per sample, {len(outputs)} here; it gave an array of "
                f"shape {values.shape}{'' if np.isfinite(values).all() else ' with NaN or infinite values'}."
            )
        return values

    return apply


def _like(default: Any) -> Check:
    """A value of the kind that the default is."""

    def check(score: str, name: str, value: Any) -> Any:
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if default is not None and type(value) is not type(default):
            raise OpenSetError(f"{score}: '{name}' must be of the kind of {default!r}, got {value!r}.")
        return value

    return check
