"""For the pages of the Python names: examples in docstrings are shown as code, wherever they stand."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>>.*(?:\n.+)*", re.MULTILINE)


class ExamplesAsCode(griffe.Extension):
    """Puts a fence around each example."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called once for each documented object."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found.group()}\n```", obj.docstring.value)
