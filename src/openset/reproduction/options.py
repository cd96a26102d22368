"""What a user can say about a reproduction."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openset.studies.grid import Execution
    from openset.train.config import Config
    from openset.train.loop import Watch


def _nobody(config: "Config", title: str) -> "AbstractContextManager[Watch | None]":
    return nullcontext()


@dataclass(frozen=True)
class Detector:
    """Files of a detector's results, as `openset detect evaluate` takes them."""

    known_gt: Path
    wild_gt: Path
    known_dt: Path
    wild_dt: Path | None = None
    """None if `known_dt` holds results on both kinds of image."""


@dataclass(frozen=True)
class Options:
    """Scale, places, and which part to run."""

    scale: str = "smoke"
    out: Path = Path("runs/reproduce/smoke")
    """Run folders and reports."""
    results: Path = Path("runs/reproduce/smoke/results")
    """One small file per finished cell."""
    protocols: Sequence[str] = ()
    """Only these; empty: all of the scale."""
    methods: Sequence[str] = ()
    splits: Sequence[int] = ()
    seeds: Sequence[int] = (0,)
    overrides: Sequence[str] = ()
    """Changes of the recipes, such as `train.epochs=2`."""
    data_root: str | None = None
    on_corrupt: str = "stop"
    """At an image that cannot be decoded, or "skip" it."""
    show: bool = False
    """Read results only; run nothing."""
    keep_changed: bool = False
    """Use results of recipes that have changed since."""
    execution: "Execution | None" = None
    """Where the cells are run, and which of them; None: all of them here."""
    detectors: Mapping[str, Detector] = field(default_factory=dict)
    tell: Callable[[str], object] = str
    watch: "Callable[[Config, str], AbstractContextManager[Any]]" = _nobody
    """Makes a progress bar for one training."""
