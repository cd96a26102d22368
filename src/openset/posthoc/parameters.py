"""Parameters of scores, and what they may be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from openset.errors import OpenSetError, check_choice, check_share, is_number

Check = Callable[[str, str, Any], Any]
"""Takes the name of the score, that of the parameter and a value, and gives the value back, or an error."""


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
