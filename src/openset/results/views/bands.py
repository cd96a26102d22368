"""Confidence bands around an OSCR curve."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from openset._core.counts import Counts
from openset._core.decisions import allowed_by, last_with
from openset._core.resampling import check_resamples, draw_blocks, restore_spread, spread_correction
from openset.errors import check_share
from openset.scores import Scores

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """At each `fpr` the range in which the CCR of a new sample of the same size lies with probability `level`."""

    fpr: Array
    low: Array
    high: Array
    level: float


def oscr_band(
    scores: Scores,
    *,
    against: str = "all",
    n_resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    n_points: int = 200,
) -> Band:
    """Pointwise percentile band of CCR at FPR, from resamples stratified by known, negative and unknown.

    >>> band = oscr_band(Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9]), n_points=4)
    >>> bool((band.low <= band.high).all())
    True
    """
    check_share("oscr_band", "level", level, one=False)
    check_resamples("oscr_band", n_resamples)
    counts = scores.counts(against)
    # Half the points even on a linear axis, half on a logarithmic one: the band serves both.
    fpr = np.unique(
        np.concatenate(
            (
                np.linspace(0.0, 1.0, n_points // 2),
                np.geomspace(1 / counts.n_open, 1.0, n_points // 2),
            )
        )
    )
    # A resample has as many open-set samples as the data; 1e-12 because the grid is rounded.
    allowed = [allowed_by(limit, counts.n_open) for limit in (fpr + 1e-12).tolist()]
    rng = np.random.default_rng(seed)
    order = counts.ranking.order
    found = np.array(
        [
            _ccr_with(replace(counts, weights=weights[order]), allowed)
            for block in draw_blocks(scores, n_resamples, rng)
            for weights in block
        ]
    )
    lost = spread_correction(scores, against)
    if not np.isfinite(lost):
        return Band(fpr, np.zeros_like(fpr), np.ones_like(fpr), level)
    low, high = np.quantile(restore_spread(found, lost), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(fpr, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), level)


def _ccr_with(counts: Counts, allowed: Sequence[int]) -> Array:
    """Largest CCR where no more than each of `allowed` open-set samples is accepted."""
    return counts.right[last_with(counts.open, allowed)] / counts.n_known
