"""Wilderness Impact: by how much unknown objects lower a detector's precision, at a recall a user would run it at.

Three ways to pool the classes are in use and differ by half or more, so every result names its `variant`:

- `paper`: FPo / (TPc + FPc) of the counts summed over classes (section 4.2 of the paper);
- `macro`: the mean over classes of the same ratio per class;
- `official`: class-mean of the interpolated precision on known images, divided by the same with wild images, minus 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openset.detection.measure.ranking import OperatingPoint, PrecisionTable
from openset.detection.measure.sets import Levels
from openset.detection.read.coco import Detections, Floats, Ints
from openset.errors import OpenSetError

VARIANTS = ("paper", "macro", "official")


@dataclass(frozen=True)
class Wilderness:
    """Wilderness Impact at one recall, by one variant. Classes that do not reach the recall are listed, not counted."""

    recall: float
    variant: str
    ratios: tuple[float, ...]
    impact: tuple[float, ...]
    awi: float
    """Mean of `impact`; it grows with the largest ratio, so compare it at equal ratios only."""
    awi_low: float | None
    awi_high: float | None
    slope: float
    """Impact per unit of wilderness ratio: least squares through the origin."""
    fp_per_1000: float
    """Accepted detections per 1,000 wild images, over all of them."""
    thresholds: dict[str, float]
    unreached: tuple[str, ...]
    n_true: int
    """TPc."""
    n_false: int
    """FPc."""
    n_open: tuple[int, ...]
    """FPo at each ratio."""
    per_class: dict[str, tuple[float, ...]]
    """Each class's own FPo / (TPc + FPc) at each ratio."""


def summarise(
    point: OperatingPoint,
    variant: str,
    levels: Levels,
    open_counts: Ints,
    n_open_all: int,
    n_wild: int,
    table: PrecisionTable | None,
    names: Sequence[str],
) -> Wilderness:
    """One row of the result from counts per class and level."""
    reached = np.flatnonzero(point.reached).tolist()
    if not reached:
        raise OpenSetError(
            f"None of the {len(names)} classes reaches recall {point.recall:g}, so no threshold exists there: "
            "give a lower recall."
        )
    per_class = open_counts[reached] / point.accepted[reached, None]
    impact = wilderness_impact(point, variant, open_counts, table)
    ratios = np.array(levels.ratios)
    return Wilderness(
        recall=point.recall,
        variant=variant,
        ratios=levels.ratios,
        impact=tuple(impact.tolist()),
        awi=float(impact.mean()),
        awi_low=None,
        awi_high=None,
        slope=float(ratios @ impact / (ratios @ ratios)),
        fp_per_1000=1000 * n_open_all / n_wild,
        thresholds={names[i]: float(point.thresholds[i]) for i in reached},
        unreached=tuple(names[i] for i in np.flatnonzero(~point.reached).tolist()),
        n_true=int(point.true.sum()),
        n_false=int(point.accepted.sum() - point.true.sum()),
        n_open=tuple(open_counts[reached].sum(axis=0).tolist()),
        per_class={names[i]: tuple(row.tolist()) for i, row in zip(reached, per_class, strict=True)},
    )


def wilderness_impact(
    point: OperatingPoint, variant: str, open_counts: Ints, table: PrecisionTable | None = None
) -> Floats:
    """WI at each level.

    `official` needs the interpolated precision: known images alone in the first column, then one column per level.
    """
    reached = point.reached
    if variant == "official":
        assert table is not None
        precision = table.at(point.recall)[reached].mean(axis=0)
        return precision[0] / precision[1 : 1 + open_counts.shape[1]] - 1
    if variant == "macro":
        return np.asarray((open_counts[reached] / point.accepted[reached, None]).mean(axis=0))
    return np.asarray(open_counts[reached].sum(axis=0) / point.accepted[reached].sum())


def count_open(found: Detections, thresholds: Floats, n_wild: Ints) -> Ints:
    """FPo: accepted detections per class (rows) on the first n wild images, for each n (columns)."""
    accepted = np.flatnonzero(found.score >= thresholds[found.category])
    level = np.searchsorted(n_wild, found.image[accepted], side="right")
    inside = level < len(n_wild)
    cells = found.category[accepted][inside] * len(n_wild) + level[inside]
    counts = np.bincount(cells, minlength=len(thresholds) * len(n_wild))
    return np.cumsum(counts.reshape(len(thresholds), len(n_wild)), axis=1)
