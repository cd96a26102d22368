"""What a reproduction finds: results beside the published ones, and claims that hold or do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openset._core.numbers import scaled
from openset.evaluation import Result


@dataclass(frozen=True)
class Value:
    """A result, with a spread or an interval where there is one."""

    value: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, result: Result) -> "Value":
        """A metric value of a run with its interval."""
        return cls(result.value, low=result.low, high=result.high)

    def text(self, factor: float = 1.0, digits: int = 1, *, sign: bool = False) -> str:
        """`89.2 ± 1.9`, or `+1.1 [+0.2, +2.0]`.

        >>> Value(0.892, sd=0.019).text(100)
        '89.2 ± 1.9'
        >>> Value(0.011, low=0.002, high=0.02).text(100, sign=True)
        '+1.1 [+0.2, +2.0]'
        """
        return scaled(self.value, self.sd, self.low, self.high, factor=factor, digits=digits, sign=sign)


@dataclass(frozen=True)
class Line:
    """One result of ours beside the published one."""

    labels: Mapping[str, str]
    """What it is a result of, by column."""
    ours: Value | None
    """None where it is missing."""
    published: Value | None = None
    also: Mapping[str, Value | None] = field(default_factory=dict)
    """Further values of ours, by column."""
    remark: str = ""
    compare: bool = True
    """Whether a difference means anything: not between other data, nor from a part of the splits."""

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        if self.ours is None or self.published is None or not self.compare:
            return None
        return self.ours.value - self.published.value


@dataclass(frozen=True)
class Table:
    """Lines under one title."""

    title: str
    lines: Sequence[Line]
    percent: bool = True
    digits: int = 1
    signed: bool = False
    words: bool = False
    """Whether the labels say it all: marks instead of values."""
    heading: str = "ours"
    """Of the column with our values."""

    @property
    def factor(self) -> float:
        """What values are multiplied by to be shown."""
        return 100.0 if self.percent else 1.0


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, tested on our values."""

    text: str
    source: str
    """Where the paper says it."""
    holds: bool | None
    """None where the results that it needs are not there."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""

    @property
    def verdict(self) -> str:
        """In words."""
        return "cannot be told" if self.holds is None else "holds" if self.holds else "does not hold"


@dataclass(frozen=True)
class Report:
    """All that came out of one reproduction."""

    name: str
    title: str
    scale: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    figures: Sequence[Path] = ()
    failures: Sequence[str] = ()
    """Cells that could not be run, and why."""
    before: Sequence[str] = ()
    """What to know before reading: limits of what follows."""
