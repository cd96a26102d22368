"""Results that show themselves: `print` gives a table that fits a screen, a notebook a small HTML table."""

from importlib import import_module
from typing import Any


class Shown:
    """For results that `openset.present.notebook` knows how to show; it stands above them, and is loaded when asked."""

    def __str__(self) -> str:
        return str(_notebook().as_text(self))

    def _repr_html_(self) -> str:
        return str(_notebook().as_html(self))


def _notebook() -> Any:
    return import_module("openset.present.notebook")
