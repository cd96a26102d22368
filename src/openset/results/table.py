"""One table of results; terminal, Markdown, LaTeX, CSV and page are written from it by `openset.present`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from openset._core.numbers import number
from openset._core.shown import Shown


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text."""

    text: str
    value: float | None = None
    """In full precision: what a CSV file holds and a page sorts by."""
    best: bool = False
    """Whether it stands out as the best of its column."""
    tone: Literal["", "good", "bad"] = ""
    """How a terminal colours it."""


Content = Cell | str | float | int | None
"""What a cell may be given as; nothing is an empty cell, a number is written in full in CSV files, else shortened."""


def text_of(content: Content) -> str:
    """How a cell is shown.

    >>> text_of(Cell(".9", 0.9123)), text_of(0.9123), text_of(12), text_of(None)
    ('.9', '.912', '12', '')
    """
    if isinstance(content, Cell):
        return content.text
    if isinstance(content, float):
        return number(content)
    return "" if content is None else str(content)


@dataclass(frozen=True)
class Table(Shown):
    """Rows under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[Content]]
    below: Sequence[Sequence[Content]] = ()
    """Rows under a line of their own, such as means."""
    title: str = ""
    note: str = ""
    """What a reader must know, below the table."""
    align: str = ""
    """One letter for each column: l, c or r."""

    def __post_init__(self) -> None:
        align = self.align or "l" + "r" * (len(self.head) - 1)
        assert {len(align), *map(len, self.rows), *map(len, self.below)} == {len(self.head)}, "a row of another length"
        object.__setattr__(self, "align", align)


def best_places(values: Sequence[float], *, better: str = "higher", digits: int = 3) -> list[bool]:
    """Which of the values are the best of them as printed: values that look alike are alike.

    >>> best_places([0.9121, 0.9119, 0.5], digits=3), best_places([0.2, 0.1], better="lower")
    ([True, True, False], [False, True])
    """
    shown = [round(value, digits) for value in values]
    best = max(shown) if better == "higher" else min(shown)
    return [value == best for value in shown]
