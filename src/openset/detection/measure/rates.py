"""Rates and fractions of detections with intervals that also hold for few events, or none.

Detections of one image come together, so images are what is counted: an image with three false detections is one
event of size three, and correct detections of one image say less than as many of different images.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
FEW_EVENTS = 15
"""Below this many false detections a rate is known to within half of itself at best."""


class Estimate(NamedTuple):
    """A value with its 95 % interval; None where nothing was counted."""

    value: float | None
    low: float | None
    high: float | None


def event_rate(events: NDArray[np.integer], n_images: int) -> Estimate:
    """Events per 1,000 images with the gamma interval of Fay and Feuer for sums of weighted Poisson counts.

    `events` are counts per image; images without any may be left out. For rare events, at most one per image, this is
    the exact interval of Garwood for a Poisson rate; several on one image widen it. Without any it ends at 3.69 events.

    >>> event_rate(np.array([1, 1, 1]), 1000)
    Estimate(value=3.0, low=0.62..., high=8.76...)
    >>> event_rate(np.array([3]), 1000).high > 16, event_rate(np.array([], dtype=int), 1000).high
    (True, 3.68...)
    """
    from scipy.special import chdtri

    sizes = np.asarray(events, dtype=np.float64)
    total, largest = float(sizes.sum()), float(sizes.max(initial=1.0))
    variance = max(float((sizes**2).sum()) - total**2 / n_images, largest**2) if total else 0.0
    tail = (1 - LEVEL) / 2
    low = variance / (2 * total) * chdtri(2 * total**2 / variance, 1 - tail) if total else 0.0
    above, spread = total + largest, variance + largest**2
    high = spread / (2 * above) * chdtri(2 * above**2 / spread, tail)
    scale = 1000 / n_images
    return Estimate(scale * total, scale * float(low), scale * float(high))


def few(rate: float) -> str:
    """A rate in a sentence: whole above ten, with a decimal below, as a tenth is not nothing.

    >>> few(1234.5), few(0.06)
    ('1,234', '0.1')
    """
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def images_for_rate(rate: float) -> int:
    """Wild images without a single false detection that it takes to show a rate of at most this per 1,000.

    >>> images_for_rate(20), images_for_rate(1)
    (185, 3689)
    """
    high = event_rate(np.zeros(0, dtype=np.int64), 1).high
    assert high is not None
    return int(np.ceil(high / rate))


def images_for_precision(n_events: int, n_images: int, *, within: float = 0.5) -> int:
    """About how many images tell a rate to within this fraction of it, if events keep coming as they did.

    >>> images_for_precision(3, 1000)  # 15.4 events are needed, 3 came
    5123
    """
    return int(np.ceil((1.96 / within) ** 2 / n_events * n_images))


def fraction(hits: NDArray[np.floating], units: NDArray[np.floating]) -> Estimate:
    """Hits per unit, both counted per image, with the interval of Korn and Graubard.

    It is that of Clopper and Pearson for the number of independent units that has the same variance over images; where
    all or none are hits and no variance can be seen, every image counts as one unit.

    >>> fraction(np.ones(10), np.ones(10))
    Estimate(value=1.0, low=0.69..., high=1.0)
    >>> fraction(np.array([5.0, 5.0]), np.array([5.0, 5.0])).low  # two images, not ten
    0.15...
    """
    from scipy.special import betaincinv

    n, hit = float(units.sum()), float(hits.sum())
    if not n:
        return Estimate(None, None, None)
    value = hit / n
    n_images = int(np.count_nonzero(units))
    if 0 < hit < n and n_images > 1:
        variance = n_images / (n_images - 1) * float(((hits - value * units) ** 2).sum()) / n**2
        worth = min(value * (1 - value) / variance, n) if variance else n
    else:
        worth = float(n_images)
    tail = (1 - LEVEL) / 2
    hit, missed = value * worth, (1 - value) * worth
    low = float(betaincinv(hit, missed + 1, tail)) if hit else 0.0
    high = float(betaincinv(hit + 1, missed, 1 - tail)) if missed else 1.0
    return Estimate(value, low, high)


def open_precision(precision: Estimate, false_per_true: Estimate) -> Estimate:
    """Precision with wild images added: 1 / (1 / precision + false detections on wild images per correct detection).

    The two intervals are joined by the method of variance estimates recovery (MOVER): distances to the ends add up in
    squares, since known and wild images are drawn independently.

    >>> open_precision(Estimate(0.5, 0.4, 0.6), Estimate(0.0, 0.0, 0.0))
    Estimate(value=0.5, low=0.4, high=0.6)
    """
    if None in (*precision, *false_per_true):
        return Estimate(None, None, None)
    assert precision.value
    assert precision.low
    assert precision.high
    assert false_per_true.value is not None
    assert false_per_true.low is not None
    assert false_per_true.high is not None
    least, most = 1 / precision.high, 1 / precision.low
    accepted_per_true = 1 / precision.value
    total = accepted_per_true + false_per_true.value
    up = np.hypot(most - accepted_per_true, false_per_true.high - false_per_true.value)
    down = np.hypot(accepted_per_true - least, false_per_true.value - false_per_true.low)
    return Estimate(1 / total, float(1 / (total + up)), min(float(1 / max(total - down, 1.0)), 1.0))
