"""Wilderness Impact: by how much unknown objects lower a detector's precision, at a recall a user would run it at.

Three ways to pool the classes are in use and differ by half or more, so every result names its `variant`:

- `paper`: FPo / (TPc + FPc) of the counts summed over classes (section 4.2 of the paper);
- `macro`: the mean over classes of the same ratio per class;
- `official`: class-mean of the interpolated precision on known images, divided by the same with wild images, minus 1.

`paper` and `macro` do not depend on the order of the wild images: FPo at a wilderness level of n images is what n of
them, drawn at random, have on average, n / N of all. `official` takes the first n in file order, by definition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openset.detection.measure.operating import Operating
from openset.detection.measure.ranking import PrecisionTable, Ranked, precision_table
from openset.detection.measure.resampling import Counts
from openset.detection.measure.sets import Levels, OpenSetData
from openset.detection.read.coco import Bools, Detections, Floats, Ints

VARIANTS = ("paper", "macro", "official")
IN_FILE_ORDER = "official"
"""The variant that takes wild images in file order."""


@dataclass(frozen=True)
class Wilderness:
    """Wilderness Impact at one operating point, by one variant. Classes that are not reached are not counted."""

    point: Operating
    variant: str
    ratios: tuple[float, ...]
    impact: tuple[float, ...]
    awi: float
    """Mean of `impact`; it grows with the largest ratio, so compare it at equal ratios only."""
    awi_low: float | None
    awi_high: float | None
    slope: float
    """Impact per unit of wilderness ratio: least squares through the origin."""
    n_open: tuple[float, ...]
    """FPo at each ratio, on average over the orders of the wild images; in file order for `official`."""
    per_class: dict[str, tuple[float, ...]]
    """Each class's own FPo / (TPc + FPc) at each ratio."""

    @property
    def largest_impact(self) -> float:
        """The most that one false detection on wild images adds to the impact: in the class where it counts most."""
        rows = [self.point.classes[name] for name in self.per_class]
        accepted = np.array([row.n_true + row.n_false for row in rows])
        if self.variant == "paper":
            return float(1 / accepted.sum())
        weights = [row.n_true / (row.n_true + row.n_false) if self.variant == IN_FILE_ORDER else 1.0 for row in rows]
        return float((weights / accepted).max() / sum(weights)) if sum(weights) else float("inf")

    @property
    def recall(self) -> float | None:
        """Of the operating point; None at frozen thresholds."""
        return self.point.recall

    @property
    def unreached(self) -> tuple[str, ...]:
        """Classes that are left out."""
        return self.point.unreached

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, without those of the operating point."""
        return {"recall": self.recall, **{key: value for key, value in vars(self).items() if key != "point"}}


def row_name(row: Wilderness, rows: Sequence[Wilderness]) -> str:
    """What a row is called beside the others: its operating point, and its variant where there are several."""
    several = len({other.variant for other in rows}) > 1
    return row.point.name + (f", {row.variant}" if several else "")


def wilderness_rows(
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    points: Sequence[Operating],
    thresholds: Sequence[Floats],
    variants: Sequence[str],
) -> Iterator[Wilderness]:
    """A row for each operating point and variant; none where nothing is accepted on known images."""
    table = None
    if IN_FILE_ORDER in variants:
        table = precision_table(ranked, data.wild_found, np.concatenate([[0], levels.n_wild]))
    for point, one in zip(points, thresholds, strict=True):
        if not point.total.n_true + point.total.n_false:
            continue
        n_open = np.array([row.n_open for row in point.classes.values()])
        for name in variants:
            if name == IN_FILE_ORDER:
                counts = _open_in_file_order(data.wild_found, one, levels)
            else:
                counts = _open_at_levels(n_open, levels, data.wild.n_images)
            yield _summarise(point, name, levels, counts, np.isfinite(one), table)


def _summarise(
    point: Operating,
    variant: str,
    levels: Levels,
    open_counts: Floats,
    counted: Bools,
    table: PrecisionTable | None,
) -> Wilderness:
    """One row of the result from counts per class (rows) and level; `counted` are the classes to pool."""
    names = list(point.classes)
    rows = list(point.classes.values())
    accepted = np.array([row.n_true + row.n_false for row in rows], dtype=np.float64)
    counted = counted & (accepted > 0)
    if variant == "official":
        assert table is not None
        assert point.recall is not None
        precision = table.at(point.recall)[counted].mean(axis=0)
        impact = precision[0] / precision[1 : 1 + len(levels.ratios)] - 1
    elif variant == "macro":
        impact = (open_counts[counted] / accepted[counted, None]).mean(axis=0)
    else:
        impact = open_counts[counted].sum(axis=0) / accepted[counted].sum()
    ratios = np.array(levels.ratios)
    return Wilderness(
        point=point,
        variant=variant,
        ratios=levels.ratios,
        impact=tuple(impact.tolist()),
        awi=float(impact.mean()),
        awi_low=None,
        awi_high=None,
        slope=float(ratios @ impact / (ratios @ ratios)),
        n_open=tuple(open_counts[counted].sum(axis=0).tolist()),
        per_class={names[c]: tuple((open_counts[c] / accepted[c]).tolist()) for c in np.flatnonzero(counted).tolist()},
    )


def pooled(counts: Counts, variant: str, classes: Bools, share: float) -> Floats:
    """AWI of each operating point in one draw, over the same classes as in the data; NaN where none has an object.

    `classes` has a row for each operating point; `share` is the mean number of wild images of a level, as a fraction of
    all.
    """
    use = classes & counts.defined & (counts.accepted > 0)
    if variant == "macro":
        total = np.divide(counts.open, counts.accepted, out=np.zeros(use.shape), where=use).sum(axis=1)
        n = use.sum(axis=1)
    else:
        total, n = (counts.open * use).sum(axis=1), (counts.accepted * use).sum(axis=1)
    return share * np.divide(total, n, out=np.full(len(use), np.nan), where=n > 0)


def pooled_precision(precision: Floats, classes: Bools) -> Floats:
    """AWI of each recall in one draw by the `official` variant, from `Interpolated.at_recalls`."""
    out = np.full(len(precision), np.nan)
    for j, chosen in enumerate(classes):
        use = chosen & ~np.isnan(precision[j][:, 0])
        if use.any():
            mean = precision[j][use].mean(axis=0)
            if mean[1:].all():
                out[j] = (mean[0] / mean[1:] - 1).mean()
    return out


def _open_at_levels(n_open: Ints, levels: Levels, n_wild: int) -> Floats:
    """FPo of each class (rows) at each level, on average over the orders of the wild images."""
    return np.asarray(n_open[:, None] * (levels.n_wild / n_wild))


def _open_in_file_order(found: Detections, thresholds: Floats, levels: Levels) -> Floats:
    """FPo of each class (rows) on the first n wild images, for the n of each level."""
    n_levels = len(levels.n_wild)
    accepted = np.flatnonzero(found.score >= thresholds[found.category])
    level = np.searchsorted(levels.n_wild, found.image[accepted], side="right")
    inside = level < n_levels
    cells = found.category[accepted][inside] * n_levels + level[inside]
    counts = np.bincount(cells, minlength=len(thresholds) * n_levels)
    return np.cumsum(counts.reshape(len(thresholds), n_levels), axis=1).astype(np.float64)
