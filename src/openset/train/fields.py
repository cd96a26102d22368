"""Plain values from recipes into typed fields: a wrong one is named, never guessed."""

import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from openset.errors import OpenSetError, did_you_mean

T = TypeVar("T")

_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def convert(value: Any, hint: Any, where: str) -> Any:
    """`value` as the type that `hint` asks for.

    >>> convert("1e-4", float, "optimizer.lr")  # YAML takes this for text
    0.0001
    >>> convert("fast", float, "optimizer.lr")
    Traceback (most recent call last):
    openset.errors.OpenSetError: 'optimizer.lr' must be a number, got 'fast'.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _convert_union(value, inner, where)
    if origin is Literal:
        if value in inner and not isinstance(value, bool):
            return value
        raise OpenSetError(f"'{where}' cannot be {value!r}. {did_you_mean(str(value), map(str, inner))}")
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise OpenSetError(f"'{where}' must be a list such as [1, 2], got {value!r}.")
        return tuple(convert(one, inner[0], f"{where}[{place}]") for place, one in enumerate(value))
    if is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    return _convert_plain(value, hint, where)


def _convert_plain(value: Any, hint: Any, where: str) -> Any:
    if hint is Any:
        return value
    if hint is float and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError):
            pass
        else:
            if math.isfinite(number):
                return number
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise OpenSetError(f"'{where}' must be {_NAMES.get(hint, hint)}, got {value!r}.")


def _convert_union(value: Any, choices: tuple[Any, ...], where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    error: OpenSetError | None = None
    for choice in choices:
        if choice is not type(None):
            try:
                return convert(value, choice, where)
            except OpenSetError as found:
                error = error or found
    assert error is not None
    raise error


def build(kind: type[T], content: Any, where: str = "") -> T:
    """A dataclass from a mapping; fields that are not there keep their defaults."""
    if isinstance(content, kind):
        return content
    own: Any = getattr(kind, "from_plain", None)
    if own is not None:
        return own(content, where)
    if not isinstance(content, Mapping):
        raise OpenSetError(f"'{where or 'recipe'}' must have fields, got {content!r}.")
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    prefix = f"{where}." if where else ""
    for name in content:
        if name not in known:
            raise OpenSetError(f"There is no field '{prefix}{name}'. {did_you_mean(str(name), known)}")
    hints = get_type_hints(kind)
    return kind(**{name: convert(value, hints[name], f"{prefix}{name}") for name, value in content.items()})
