"""Intervals by drawing images anew: known images and wild images each with replacement, thresholds chosen each time.

A replicate is a set of weights, how often each image was drawn, so nothing is matched or sorted again. Draws depend
on the seed and the numbers of images only: two detectors on the same images get the same draws and can be compared
pair by pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.detection.measure.ranking import OperatingPoint, Ranked, at_recall, needed
from openset.detection.measure.sets import Levels, OpenSetData
from openset.detection.read.coco import Floats, Ints
from openset.errors import OpenSetError


@dataclass(frozen=True, eq=False)
class Replicates:
    """One row per replicate, one column per recall; NaN where no class reached the recall."""

    awi: Floats
    fp_per_1000: Floats


def replicates(
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    recalls: Sequence[float],
    variant: str,
    *,
    n: int,
    seed: int = 0,
) -> Replicates:
    """AWI and false positives per 1,000 wild images in `n` replicates."""
    check_draws(n, seed)
    awi, rate = np.full((n, len(recalls)), np.nan), np.full((n, len(recalls)), np.nan)
    image = data.known_found.image[ranked.rows]
    counted = np.flatnonzero(data.known.counted)
    object_image, object_class = data.known.image[counted], data.known.category[counted]
    official = _Official(ranked, data, levels) if variant == "official" else None
    for i, (known, drawn) in enumerate(_draws(data.known.n_images, data.wild.n_images, n, seed)):
        weights = known[image]
        n_objects = np.bincount(object_class, weights=known[object_image], minlength=ranked.n_classes)
        by_level = np.searchsorted(levels.n_wild, np.arange(len(drawn)), side="right")
        # an image drawn early is in many levels: its share of the mean over levels
        share = np.bincount(drawn, weights=1 - by_level / len(levels.n_wild), minlength=data.wild.n_images)
        times = np.bincount(drawn, minlength=data.wild.n_images)
        if official is not None:
            official.draw(weights, drawn, by_level)
        for j, recall in enumerate(recalls):
            point = at_recall(ranked, recall, weights=weights, n_objects=n_objects)
            if not point.reached.any():
                continue
            accepted = np.flatnonzero(data.wild_found.score >= point.thresholds[data.wild_found.category])
            wild_image, wild_class = data.wild_found.image[accepted], data.wild_found.category[accepted]
            rate[i, j] = 1000 * times[wild_image].sum() / data.wild.n_images
            if official is not None:
                awi[i, j] = official.awi(point, n_objects)
            else:
                open_counts = np.bincount(wild_class, weights=share[wild_image], minlength=ranked.n_classes)
                awi[i, j] = _pool(point, open_counts, variant)
    return Replicates(awi, rate)


def check_draws(n: int, seed: int) -> None:
    """Numbers that draws can be made with."""
    for name, value in (("bootstrap", n), ("seed", seed)):
        if value < 0:
            raise OpenSetError(f"bootstrap over images: '{name}' must be 0 or more, got {value}.")


def interval(values: Floats, level: float = 0.95) -> tuple[float, float] | tuple[None, None]:
    """Percentile interval of the replicates that are defined; nothing if none is."""
    if np.isnan(values).all():
        return None, None
    low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _draws(n_known: int, n_wild: int, n: int, seed: int) -> Iterator[tuple[Floats, Ints]]:
    """How often each known image was drawn, and which wild image came at each place."""
    random = np.random.default_rng(seed)
    for _ in range(n):
        known = np.bincount(random.integers(n_known, size=n_known), minlength=n_known).astype(np.float64)
        yield known, random.integers(n_wild, size=n_wild)


def _pool(point: OperatingPoint, open_counts: NDArray[Any], variant: str) -> float:
    reached = point.reached
    if variant == "macro":
        return float((open_counts[reached] / point.accepted[reached]).mean())
    return float(open_counts[reached].sum() / point.accepted[reached].sum())


class _Official:
    """Interpolated precision with weighted images; which wild detection precedes which correct one never changes."""

    def __init__(self, ranked: Ranked, data: OpenSetData, levels: Levels) -> None:
        self.ranked, self.n_levels, self.n_images = ranked, len(levels.n_wild), data.wild.n_images
        self.true = np.flatnonzero(ranked.correct)
        self.starts = np.searchsorted(self.true, ranked.starts)
        score = ranked.score[self.true]
        wild = data.wild_found
        place = np.empty(len(wild), dtype=np.int64)
        for c in range(ranked.n_classes):
            own = np.flatnonzero(wild.category == c)
            begin, end = self.starts[c], self.starts[c + 1]
            place[own] = begin + np.searchsorted(-score[begin:end], -wild.score[own], side="right")
            place[own[place[own] == end]] = len(self.true)  # behind the last correct one: never counted
        order = np.argsort(place, kind="stable")
        self.wild_image = wild.image[order]
        self.n_before = np.searchsorted(place[order], np.arange(len(self.true)), side="right")

    def draw(self, weights: Floats, drawn: Ints, by_level: Ints) -> None:
        """Interpolated precision for one replicate: rows are correct detections, columns no wild images and levels."""
        inside = by_level < self.n_levels
        cells = drawn[inside] * self.n_levels + by_level[inside]
        times = np.bincount(cells, minlength=self.n_images * self.n_levels).reshape(self.n_images, self.n_levels)
        times = np.cumsum(times, axis=1)
        running = np.zeros((len(self.wild_image) + 1, self.n_levels + 1))
        running[1:, 1:] = np.cumsum(times[self.wild_image], axis=0)
        above = running[self.n_before]
        sizes = np.diff(self.starts)
        base = running[np.concatenate([[0], self.n_before])[self.starts[:-1]]]
        above -= np.repeat(base, sizes, axis=0)
        taken = np.concatenate([[0.0], np.cumsum(weights)])
        n_known = taken[self.true + 1] - np.repeat(taken[self.ranked.starts[:-1]], sizes)
        self.total = np.cumsum(weights[self.true])
        self.before = np.concatenate([[0.0], self.total])[self.starts[:-1]]
        n_found = self.total - np.repeat(self.before, sizes)
        count = n_known[:, None] + above
        self.precision = np.divide(n_found[:, None], count, out=np.zeros_like(count), where=count > 0)
        for begin, end in pairwise(self.starts):
            self.precision[begin:end] = np.maximum.accumulate(self.precision[begin:end][::-1])[::-1]

    def awi(self, point: OperatingPoint, n_objects: NDArray[Any]) -> float:
        """Mean over levels of the ratio of class-mean precisions, minus 1."""
        place = np.searchsorted(self.total, self.before + needed(n_objects, point.recall), side="left")
        precision = self.precision[place[point.reached]].mean(axis=0)
        return float((precision[0] / precision[1:] - 1).mean())
