"""What a user adds on the command line: `my.py:mine` as the value of an option, `--plugin my.py` with any command.

Only files that are named like this run as code.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from openset.errors import OpenSetError

OWN = "or your own from a file that runs as code: my.py:mine"


def resolving(room: str, registry: str) -> Callable[[str | None], str | None]:
    """A callback that turns every `my.py:mine` into a name of that registry; where there is none it imports nothing."""

    def callback(text: str | None) -> str | None:
        if text is None or ".py:" not in text:
            return text
        from openset._core.plugins import resolve

        return resolve(text, getattr(import_module(room), registry))

    return callback


def resolve_metrics(texts: list[str] | None) -> list[str] | None:
    """The same for an option that may be repeated."""
    resolved = resolving("openset.metrics", "METRICS")
    return texts and [resolved(text) or "" for text in texts]


MetricOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help=f"A further metric, such as 'ccr_at_fpr(fpr=0.05)', {OWN}; may be repeated.",
        callback=resolve_metrics,
    ),
]


def parse_metrics(texts: Sequence[str] | None) -> list[tuple[str, dict[str, Any]]]:
    """Names and checked options of what `--metric` asks for."""
    from openset._core.calls import parse_call
    from openset.metrics import METRICS

    found = [parse_call(text) for text in texts or ()]
    return [(name, METRICS[name].complete(options)) for name, options in found]


def run_plugins(words: Sequence[str]) -> list[str]:
    """Run the files that `--plugin` names; returns the other words."""
    rest, files = [], []
    remaining: Iterator[str] = iter(words)
    for word in remaining:
        option, sign, value = word.partition("=")
        if option == "--plugin":
            files.append(value if sign else next(remaining, ""))
        else:
            rest.append(word)
    for file in files:
        from openset._core.plugins import run_file

        if not file:
            raise OpenSetError("--plugin needs a Python file, for example --plugin my.py.")
        run_file(file)
    return rest
