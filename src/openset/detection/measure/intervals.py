"""Intervals of AWI, from draws of images in which the thresholds are chosen anew."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from openset.detection.measure.ranking import Ranked
from openset.detection.measure.rates import LEVEL, Estimate
from openset.detection.measure.resampling import AtRecalls, AtThresholds, Interpolated, draws
from openset.detection.measure.sets import Levels, OpenSetData
from openset.detection.measure.wilderness import IN_FILE_ORDER, Wilderness, pooled, pooled_precision
from openset.detection.read.coco import Bools, Floats

Ends = tuple[float, float] | tuple[None, None]
"""Of an interval; None if there is none."""


def with_intervals(
    rows: Sequence[Wilderness],
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    chosen: Sequence[tuple[float | None, Floats]],
    *,
    n: int,
    seed: int,
) -> list[Wilderness]:
    """AWI with intervals over `n` draws of images, over the same classes in every draw."""
    drawn = awi_draws(data, ranked, levels, chosen, sorted({row.variant for row in rows}), n=n, seed=seed)
    recalls = [recall for recall, _ in chosen]
    share = mean_share(levels, data.wild.n_images)
    out = []
    for row in rows:
        values = drawn[row.variant][:, recalls.index(row.recall)]
        low, high = square_root_interval(values, row.awi)
        if low is not None and high is not None:
            least, most = awi_at_these_thresholds(row, share * data.wild.n_images)
            low, high = min(low, least), max(high, most)
        out.append(replace(row, awi_low=low, awi_high=high))
    return out


def awi_draws(
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    chosen: Sequence[tuple[float | None, Floats]],
    variants: Sequence[str],
    *,
    n: int,
    seed: int,
) -> dict[str, Floats]:
    """AWI of each variant in `n` draws (rows) at each operating point (columns)."""
    classes: Bools = np.isfinite([one for _, one in chosen])
    recalls = [recall for recall, _ in chosen if recall is not None]
    count: AtRecalls | AtThresholds
    if recalls:
        count = AtRecalls(data, ranked, recalls, count_true=False)
    else:
        count = AtThresholds(data, ranked, [one for _, one in chosen])
    interpolated = Interpolated(data, ranked, recalls, levels) if IN_FILE_ORDER in variants else None
    share = mean_share(levels, data.wild.n_images)
    out: dict[str, Floats] = {name: np.full((n, len(chosen)), np.nan) for name in variants}
    among = count.wild_images if interpolated is None and isinstance(count, AtRecalls) else None
    for i, draw in enumerate(draws(data.known.n_images, data.wild.n_images, n, seed, among=among)):
        counts = count(draw) if set(variants) != {IN_FILE_ORDER} else None
        for name in variants:
            if name == IN_FILE_ORDER:
                assert interpolated is not None
                out[name][i] = pooled_precision(interpolated.at_recalls(draw), classes)
            else:
                assert counts is not None
                out[name][i] = pooled(counts, name, classes, share)
    return out


def mean_share(levels: Levels, n_wild: int) -> float:
    """The mean number of wild images of a level, as a fraction of all."""
    return float(levels.n_wild.mean()) / n_wild


# ---- from draws to an interval -------------------------------------------------------------------------------------


def percentile_interval(values: Floats) -> Ends:
    """Percentiles of the draws that are defined; nothing if none is.

    >>> percentile_interval(np.append(np.arange(1001.0), np.nan))
    (25.0..., 975.0...)
    """
    found = values[~np.isnan(values)]
    if not len(found):
        return None, None
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def square_root_interval(values: Floats, value: float) -> Ends:
    """A normal interval around a value on the scale of square roots, on which counts vary alike whatever their size.

    How much draws vary is what the data themselves would, but not where they lie: thresholds are chosen anew in each
    draw and interpolated precision is a maximum, so draws are biased. Correcting that bias, which is hardly larger than
    chance, was found to make intervals too short (benchmarks/detection_coverage.py).

    >>> [round(end, 2) for end in square_root_interval(np.array([0.81, 1.21]), 1.0)]
    [0.65, 1.43]
    """
    found = np.sqrt(values[~np.isnan(values)])
    if not len(found):
        return None, None
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) * float(found.std())
    root = float(np.sqrt(value))
    return max(root - half, 0.0) ** 2, (root + half) ** 2


def awi_at_these_thresholds(row: Wilderness, mean_images: float) -> tuple[float, float]:
    """What the exact interval of the rate of false detections on wild images says of AWI, which is in proportion to it.

    Draws of images cannot show what did not happen: without any false detection all of them are 0. Then the worst that
    the rate allows is that all are of the class in which one counts most. `mean_images` is the mean number of wild
    images of a level.
    """
    rate = row.point.total.fp_per_1000
    assert rate.low is not None
    assert rate.high is not None
    weight = awi_per_rate(row, mean_images)
    return rate.low * weight if row.awi else 0.0, rate.high * weight


def awi_per_rate(row: Wilderness, mean_images: float) -> float:
    """AWI that a false detection per 1,000 wild images is worth; the most it can be where there are none."""
    rate = row.point.total.fp_per_1000.value
    return row.awi / rate if row.awi and rate else mean_images / 1000 * row.largest_impact


# ---- differences ---------------------------------------------------------------------------------------------------


def reach(*terms: tuple[float, Estimate]) -> tuple[float, float]:
    """How far the interval of a weighted sum of independent estimates goes below and above it.

    By MOVER: distances to the ends add up in squares.

    >>> below, above = reach((1, Estimate(6.0, 2.2, 13.1)), (-1, Estimate(0.0, 0.0, 3.7)))
    >>> round(6 - below, 1), round(6 + above, 1)  # six events against none are a difference
    (0.7, 13.1)
    """
    below, above = 0.0, 0.0
    for weight, (value, low, high) in terms:
        assert value is not None
        assert low is not None
        assert high is not None
        least, most = sorted((weight * (low - value), weight * (high - value)))
        below, above = float(np.hypot(below, least)), float(np.hypot(above, most))
    return below, above


def stand_out(values: Floats, drawn: Floats) -> Bools:
    """Which of several values (columns of `drawn`) would differ from 0 even as the most striking of them all.

    Of ten intervals at 95 %, one leaves out 0 by chance more often than once in twenty times. The bar here is what the
    largest of all deviations, each in units of its own spread, stays below in 95 % of the draws.
    """
    out = np.zeros(len(values), dtype=bool)
    columns = np.flatnonzero(~np.isnan(drawn).all(axis=0))
    whole = drawn[:, columns][~np.isnan(drawn[:, columns]).any(axis=1)]
    spread = whole.std(axis=0) if len(whole) else np.zeros(len(columns))
    columns, whole, spread = columns[spread > 0], whole[:, spread > 0], spread[spread > 0]
    if len(columns):
        bar = np.quantile((np.abs(whole - whole.mean(axis=0)) / spread).max(axis=1), LEVEL)
        out[columns] = np.abs(values[columns]) > bar * spread
    return out
