# ruff: noqa: D102  (each field is described where the results are defined)
"""The fields that figures and pages read from detection results.

The results of `openset.detection.evaluate_open_set` have them, and so may anybody's own.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

ERROR_KINDS = (
    "correct",
    "localisation",
    "similar class",
    "other class",
    "unknown unknown",
    "mixed unknown",
    "not annotated",
)
"""Kinds of detections. The last one is a false detection on a wild image without annotations, where an unknown object
and plain background cannot be told apart."""


class WildernessResult(Protocol):
    """Wilderness Impact at one recall, pooled by one variant."""

    @property
    def recall(self) -> float: ...
    @property
    def variant(self) -> str: ...
    @property
    def ratios(self) -> Sequence[float]: ...
    @property
    def impact(self) -> Sequence[float]: ...
    @property
    def awi(self) -> float: ...
    @property
    def awi_low(self) -> float | None: ...
    @property
    def awi_high(self) -> float | None: ...
    @property
    def slope(self) -> float: ...
    @property
    def fp_per_1000(self) -> float: ...
    @property
    def n_true(self) -> int: ...
    @property
    def n_false(self) -> int: ...
    @property
    def n_open(self) -> Sequence[int]: ...
    @property
    def unreached(self) -> Sequence[str]: ...


class ErrorResult(Protocol):
    """Counts of detections by kind of error, in the order of `ERROR_KINDS`."""

    @property
    def recall(self) -> float: ...
    @property
    def ratio(self) -> float: ...
    @property
    def closed_set(self) -> Sequence[int]: ...
    @property
    def open_set(self) -> Sequence[int]: ...
    @property
    def n_annotated(self) -> int: ...


class ConfusionResult(Protocol):
    """Detections by class (rows) and object (columns: known classes, then unknown ones)."""

    @property
    def recall(self) -> float: ...
    @property
    def ratio(self) -> float: ...
    @property
    def rows(self) -> Sequence[str]: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def n_known(self) -> int: ...
    @property
    def counts(self) -> Sequence[Sequence[int]]: ...


class BackgroundResult(Protocol):
    """Histogram of p(class) - p(background) in equal bins from -1 to 1."""

    @property
    def n(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def sd(self) -> float: ...
    @property
    def share_background_higher(self) -> float: ...
    @property
    def histogram(self) -> Sequence[int]: ...


class AveragePrecision(Protocol):
    """Mean average precision by kind of interpolation, without and with wild images."""

    @property
    def known(self) -> Mapping[str, float]: ...
    @property
    def wild(self) -> Mapping[str, float]: ...
    @property
    def ratio(self) -> float: ...


class DetectionResult(Protocol):
    """Everything about one detector."""

    @property
    def mean_average_precision(self) -> AveragePrecision: ...
    @property
    def wilderness(self) -> Sequence[WildernessResult]: ...
    @property
    def errors(self) -> Sequence[ErrorResult]: ...
    @property
    def confusion(self) -> ConfusionResult: ...
    @property
    def background(self) -> Mapping[str, BackgroundResult] | None: ...
    @property
    def n_known(self) -> int: ...
    @property
    def n_wild(self) -> int: ...
    @property
    def notes(self) -> Sequence[str]: ...


def row_name(row: WildernessResult, rows: Sequence[WildernessResult]) -> str:
    """What a row is called beside the others: its recall, and its variant where there are several."""
    several = len({other.variant for other in rows}) > 1
    return f"recall {row.recall:g}" + (f", {row.variant}" if several else "")
