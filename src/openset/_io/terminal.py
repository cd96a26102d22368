"""The terminal: what comes from files is shown there, never obeyed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from openset._core.text import shown

if TYPE_CHECKING:
    from rich.console import Console

_LONG = 5000
"""Characters from which on numbers and paths are not coloured: rich takes minutes to find them in 100,000."""


def make_console(**options: Any) -> "Console":
    """A rich console that spells control characters out, wherever in a table, title or bar they stand.

    Names such as `:cat:` stay as they are, too: rich would draw them.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Showing(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            if len(text) > _LONG:
                how["highlight"] = False
            return super().render_str(shown(text), **how)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else shown(text), style, control)

    return Showing(emoji=False, **options)
