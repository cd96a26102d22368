"""The release gate: bars that metric values, or ends of their intervals, must reach."""

import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from openset._core.calls import parse_call
from openset._core.numbers import counted, interval
from openset.errors import OpenSetError, did_you_mean

_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_FORM = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\((?P<options>[^()]*)\))?\s*(?:\.(?P<end>low|high))?\s*(?:@(?P<against>[^<>=]+?))?"
    r"\s*(?P<sign>>=|<=|>|<)\s*(?P<level>[-+.\w]+)\s*"
)


@dataclass(frozen=True)
class Bar:
    """What must be reached: a metric, by name and options, or an end of its interval, and the level."""

    text: str
    """As it was written."""
    name: str
    sign: str
    level: float
    params: Mapping[str, Any] = field(default_factory=dict)
    against: str | None = None
    """Where alone it is checked; None: everywhere."""
    end: str | None = None
    """`low` or `high`: which end of the interval must reach the level; None: the value."""

    def holds(self, value: float) -> bool:
        """Whether a value reaches the bar; what is not a number reaches none."""
        return bool(_SIGNS[self.sign](value, self.level))


class Candidate(NamedTuple):
    """A metric value to be held against a bar."""

    where: str
    """The file, the open-set samples, the recall: what tells it from other values of the same metric."""
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GateResult:
    """A bar and one value held against it."""

    bar: str
    where: str
    value: float
    low: float | None
    high: float | None
    reached: bool

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    @property
    def sentence(self) -> str:
        """In words: `scores: open_auc>=0.9, found .8712 [.8501, .8899]` and a full stop."""
        return f"{self.where}: {self.bar}, found {self.found}."

    @property
    def found(self) -> str:
        """The value with its interval, as the gate shows it: counts are whole, all else has four decimals."""
        return interval(self.value, self.low, self.high, digits=0 if isinstance(self.value, int) else 4)


def gate_summary(results: Sequence[GateResult]) -> str:
    """What became of all of them: `All 3 bars reached.`; of one bar that several values miss, each value counts."""
    missed = sum(not one.reached for one in results)
    if missed:
        return f"{missed} of {counted(len(results), 'value')} missed {'its bar' if missed == 1 else 'their bars'}."
    n_bars = len({one.bar for one in results})
    return "Bar reached." if n_bars == 1 else f"All {n_bars} bars reached."


def parse_bar(
    text: str,
    names: Iterable[str] | None = None,
    *,
    examples: str = "'name>=0.9', 'name.low>=0.9' or 'name(option=0.05)@where<=0.5'",
) -> Bar:
    """Read `name(option=value, ...).end@where >= level`; all but name, sign and level may be left out.

    `names` are those a bar can be set for. `end` is `low` or `high`, for the ends of the interval.

    >>> parse_bar("ccr_at_fpr(fpr=0.05).low@letters >= 0.5").params
    {'fpr': 0.05}
    >>> parse_bar("auroc.low>=x")
    Traceback (most recent call last):
    openset.errors.OpenSetError: --require 'auroc.low>=x': 'x' is not a number.
    """
    found = _FORM.fullmatch(text)
    if not found:
        raise OpenSetError(f"--require '{text}' is not understood; write for example {examples}.")
    name, options, end, against, sign, level = found.group("name", "options", "end", "against", "sign", "level")
    if names is not None and name not in (known := list(names)):
        raise OpenSetError(f"--require '{text}': there is no metric '{name}'. {did_you_mean(name, known)}")
    try:
        number = float(level)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OpenSetError(f"--require '{text}': '{level}' is not a number.")
    return Bar(text.strip(), name, sign, number, _options(text, name, options or ""), against, end)


def _options(text: str, name: str, options: str) -> dict[str, Any]:
    try:
        return parse_call(f"{name}({options})")[1]
    except OpenSetError as error:
        raise OpenSetError(f"--require '{text}': write each option once, as in (fpr=0.05, balanced=true).") from error


def check_bar(
    bar: Bar, candidates: Iterable[Candidate], *, without_interval: str = "compute intervals as well"
) -> list[GateResult]:
    """Hold every candidate against the bar. A bar that nothing is held against would say nothing: that is an error.

    >>> [one.reached for one in check_bar(parse_bar("awi.high<=0.05"), [Candidate("recall 0.3", 0.04, 0.03, 0.06)])]
    [False]
    """
    results = []
    for where, value, low, high in candidates:
        measured = value if bar.end is None else low if bar.end == "low" else high
        if measured is None:
            raise OpenSetError(f"--require '{bar.text}': {where} has no interval; {without_interval}.")
        results.append(GateResult(bar.text, where, value, low, high, bar.holds(measured)))
    if not results:
        raise OpenSetError(f"--require '{bar.text}': there is no such value among the results.")
    return results
