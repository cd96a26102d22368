"""The card of a comparison: a question, who answers it, what each says about the smallest case, and who is correct."""

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[2]
Verdict = Literal["agree", "theirs is wrong", "another convention"]


class PeerAbsentError(Exception):
    """A peer cannot be imported here; the text says why."""


@dataclass(frozen=True)
class Peer:
    """Somebody else's answer: a package from PyPI, or a published program rewritten in `programs.py`."""

    name: str
    package: str = ""
    """Its name on PyPI; empty for a program that is no package."""
    prepare: Callable[[], None] | None = None
    """What must happen before it can be imported."""

    def load(self, call: "Call") -> "Call":
        """Its call, once the package is imported; what the call names must then be there."""
        try:
            if self.prepare is not None:
                self.prepare()
            importlib.import_module(call.name.partition(".")[0])
        except (ImportError, RuntimeError) as error:  # torchvision raises RuntimeError beside another torch
            raise PeerAbsentError(f"{self.name} cannot be imported: {error}") from error
        return call

    @property
    def version(self) -> str:
        """The version that constraints.txt pins, with which the tests run."""
        pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
        found = re.search(rf"^{re.escape(self.package)}==(.+)$", pins, re.MULTILINE)
        assert found is not None, f"constraints.txt does not pin {self.package}"
        return found[1]

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}" if self.package else self.name


@dataclass(frozen=True)
class Call:
    """A function by its dotted name, and how it is used: `use(function, data)` gives one number.

    The name is resolved when the call is made, so what a reader is told is what was run.
    """

    name: str
    use: Callable[[Any, Any], float | None]

    def __call__(self, data: Any) -> float | None:
        return self.use(resolve(self.name), data)


def resolve(name: str) -> Any:
    """What a dotted name stands for."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for place, part in enumerate(parts[1:], start=2):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(".".join(parts[:place]))
    return found


@dataclass(frozen=True)
class Case:
    """One question put to us and to a peer."""

    question: str
    ours: Call
    peer: Peer
    theirs: Call
    example: Any
    """The smallest data that show it; `str(example)` is what the page prints."""
    expected: tuple[float, float | None]
    """Our value and theirs on the example."""
    why: str
    """Which conventions are equal; for a difference, who is correct and why."""
    verdict: Verdict = "agree"
    draw: Callable[[int], Any] | None = None
    """Random data from a seed on which both give the same number."""
    like_theirs: Call | None = None
    """For a difference: our number by their rule, which equals theirs on random data. This proves the explanation."""
    draws: int = 100
    """How many random data sets."""
    same_if: str = ""
    """In words: what `draw` or `like_theirs` changes so that both agree."""
    too_low_by: Callable[[Any], float] | None = None
    """By how much theirs may lie below ours on random data."""
    rounding: float = 1e-12
    """Largest difference that the peer's arithmetic explains."""

    def __repr__(self) -> str:
        return self.id

    @property
    def id(self) -> str:
        """Name of its tests."""
        return re.sub(r"[^\w@]+", "-", f"{self.question}-{self.peer.name}").strip("-").lower()
