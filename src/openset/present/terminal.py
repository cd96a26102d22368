"""A table that stays readable in a narrow terminal."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from openset.results.table import Cell, Content, Table, text_of

_NAME, _SHORTEST_NAME = 30, 8
"""Names are folded to the first where that is enough, and to the second only where the numbers leave no other way."""
_WORD = 16
"""No number is longer than this; longer words of other columns may be folded."""
_JUSTIFY = {"l": "left", "c": "center", "r": "right"}
_TONES = {"good": "green", "bad": "red", "": ""}


def terminal_table(table: Table) -> RichTable:
    """A table as a terminal shows it: rows below are bold, as is the best of a column."""
    made = NumberTable(list(map(escape, table.head)), escape(table.title) or None)
    for column, letter in zip(made.columns, table.align, strict=True):
        column.justify = _JUSTIFY[letter]  # type: ignore[assignment]
    for row in table.rows:
        made.add_row(*map(_shown, row))
    if table.below:
        made.add_section()
        for row in table.below:
            made.add_row(*map(_shown, row), style="bold")
    return made


def _shown(content: Content) -> Text:
    style = ""
    if isinstance(content, Cell):
        style = " ".join(filter(None, ["bold" if content.best else "", _TONES[content.tone]]))
    return Text(text_of(content), style)


class NumberTable(RichTable):
    """Names to the left, numbers to the right; where there is little room, titles and names are folded before numbers.

    Rich by itself folds all columns alike, in the middle of numbers, down to nothing.
    """

    def __init__(self, columns: Sequence[str], title: str | None) -> None:
        super().__init__(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
        for place, name in enumerate(columns):
            self.add_column(name, justify="right" if place else "left", overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        longest = [_NAME, *(_WORD for _ in self.columns[1:])]
        sizes = [_sizes(*each, console, options) for each in zip(self.columns, longest, strict=True)]
        _, right, _, left = self.padding
        between = (len(sizes) - 1) * (left + right + 1) + 2
        for column, width in zip(self.columns, fitted(sizes, options.max_width - between), strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)


def _sizes(column: Column, longest: int, console: Console, options: ConsoleOptions) -> tuple[int, int, int]:
    """How wide a column is, how wide with its title folded, and with all folded; words up to `longest` stay whole."""

    def size(texts: Iterable[RenderableType]) -> Measurement:
        found = [Measurement.get(console, options, text) for text in texts] or [Measurement(0, 0)]
        return Measurement(max(one.minimum for one in found), max(one.maximum for one in found))

    title, cells = size([column.header]), size(column.cells)
    widest = max(title.maximum, cells.maximum)
    if column.no_wrap:
        return widest, widest, widest
    return widest, max(title.minimum, cells.maximum), min(max(title.minimum, cells.minimum), longest)


def fitted(sizes: Sequence[tuple[int, int, int]], room: int) -> list[int]:
    """Widths of columns, names first, that fit into `room`: of those that may still be folded the widest gives way.

    >>> names, numbers = (40, 40, 30), (20, 12, 6)
    >>> [fitted([names, numbers], room) for room in (70, 50, 42, 30, 10)]
    [[40, 20], [30, 20], [30, 12], [24, 6], [5, 5]]
    >>> fitted([names, (20, 12, 12)], 22)
    [10, 12]
    """
    widths, titles_folded, folded = (list(size) for size in zip(*sizes, strict=True))
    stages = [
        [min(widths[0], _NAME), *titles_folded[1:]],
        [folded[0], *titles_folded[1:]],
        folded,
        [_SHORTEST_NAME, *folded[1:]],
        [1] * len(widths),  # numbers are folded then, but none vanishes
    ]
    for least in stages:
        while sum(widths) > room and (able := [i for i, width in enumerate(widths) if width > least[i]]):
            widths[max(able, key=widths.__getitem__)] -= 1
    return widths
