"""The card of a threshold rule: how it is written, what it needs, which options it takes."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from openset._core.calls import parse_call, split_list
from openset._core.registry import Registry
from openset.errors import OpenSetError, did_you_mean, is_number

if TYPE_CHECKING:
    from openset.operating.picks import Pick
    from openset.operating.threshold import Threshold

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Rule:
    """A rule is a function of scores, one value, which may have a default, and options by name."""

    name: str
    function: Callable[..., "Threshold"]
    example: str
    """As the command line writes it."""
    needs_open_set: bool
    """Whether it looks at open-set samples; the others are computed on knowns alone."""
    pick: Callable[..., "Pick"] | None = None
    """The same choice among counts, from the value and the options but `against`; None: only rows in memory tell."""

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What it takes beside the scores: the value first, then the options."""
        return dict(list(inspect.signature(self.function).parameters.items())[1:])

    @property
    def value(self) -> inspect.Parameter:
        """What stands behind the equals sign."""
        return next(iter(self.parameters.values()))

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its options."""
        return tuple(self.parameters)[1:]

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    def text(self, value: float | str, **options: float | str) -> str:
        """What was given, as in `min_cost=10, unknown_share=0.01`; options that have their default are left out."""
        unusual = {key: given for key, given in options.items() if given != self.parameters[key].default}
        return ", ".join(f"{key}={_text(given)}" for key, given in {self.name: value, **unusual}.items())


RULES: Registry[Rule] = Registry("threshold rule")


def rule(
    example: float | str, *, needs_open_set: bool, pick: Callable[..., "Pick"] | None = None
) -> Callable[[Function], Function]:
    """Register the decorated function under its own name; `example` is a value for it."""

    def register(function: Function) -> Function:
        name = function.__name__
        RULES.add(name, Rule(name, function, f"{name}={_text(example)}", needs_open_set, pick))
        return function

    return register


def parse_rule(text: str) -> tuple[Rule, dict[str, Any]]:
    """A rule and what it is given, from `at_fpr=0.1`, `min_cost=10, unknown_share=0.01` or `name(option=value, ...)`.

    >>> import openset.operating
    >>> card, given = parse_rule("min_cost(false_accept=10, unknown_share=0.01)")
    >>> card.name, given
    ('min_cost', {'false_accept': 10.0, 'unknown_share': 0.01})
    """
    head, *rest = split_list(text) or [""]
    name, _, value = (piece.strip() for piece in head.partition("="))
    if "(" in name:
        name, given = parse_call(text)
        card = RULES[name]
    else:
        card = RULES[name]
        _, given = parse_call(f"{name}({', '.join([*([f'{card.value.name}={value}'] if value else []), *rest])})")
    for key in given:
        if key not in card.parameters:
            raise OpenSetError(f"The rule '{name}' has no option '{key}'. {did_you_mean(key, card.parameters)}")
    if card.value.name not in given and card.value.default is inspect.Parameter.empty:
        raise OpenSetError(f"The rule '{name}' needs a value, for example {card.example}.")
    return card, {key: _as_kind(text, card, card.parameters[key], value) for key, value in given.items()}


def _as_kind(text: str, card: Rule, parameter: inspect.Parameter, value: Any) -> Any:
    """A number where the rule takes one, true or false where it asks whether, else text."""
    if parameter.annotation is bool:
        if not isinstance(value, bool):
            raise OpenSetError(f"The rule '{text}' needs true or false for '{parameter.name}'.")
        return value
    if parameter.annotation is not float:
        return str(value)
    if isinstance(value, bool) or not is_number(value):
        raise OpenSetError(f"The rule '{text}' needs a number for '{parameter.name}', for example {card.example}.")
    return float(value)


def _text(value: float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"
