"""Leaving out points of a curve that nobody could see."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_GRID = 16.0  # cells per pixel of the first pass, whose error is at most the diagonal of a cell


def thin(x: ArrayLike, y: ArrayLike, *, tolerance: float = 0.5) -> NDArray[np.intp]:
    """Indices of the points to keep, so that every point lies within `tolerance` of the line through those kept.

    `x` and `y` are in pixels. The first and last point are always kept. A first pass drops points that share a cell
    of a fine grid with the one before them, which leaves few points of a long curve; the second is that of Douglas
    and Peucker, which divides the curve at the point farthest from the chord until no point is too far.

    >>> thin([0, 1, 2, 3, 4], [0, 0, 0, 5, 5]).tolist()
    [0, 2, 3, 4]
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(across) <= 2:
        return np.arange(len(across))
    column, row = np.floor(across * _GRID), np.floor(up * _GRID)
    moved = np.ones(len(across), dtype=np.bool_)
    moved[1:-1] = (column[1:-1] != column[:-2]) | (row[1:-1] != row[:-2])
    kept = np.flatnonzero(moved)
    return kept[_douglas_peucker(across[kept], up[kept], tolerance - 2**0.5 / _GRID)]


def _douglas_peucker(x: Array, y: Array, tolerance: float) -> NDArray[np.intp]:
    kept = np.array([0, len(x) - 1])
    while True:  # all stretches between kept points are divided at once
        stretch = np.repeat(np.arange(len(kept) - 1), np.diff(kept))
        stretch = np.append(stretch, len(kept) - 2)
        distance = _to_segments(x, y, kept[stretch], kept[stretch + 1])
        farthest = np.maximum.reduceat(distance, kept[:-1])
        candidates = np.flatnonzero((distance > tolerance) & (distance == farthest[stretch]))
        if not len(candidates):
            return kept
        first = np.flatnonzero(np.diff(stretch[candidates], prepend=-1))
        kept = np.sort(np.append(kept, candidates[first]))


def _to_segments(x: Array, y: Array, start: NDArray[np.intp], end: NDArray[np.intp]) -> Array:
    """Distance of each point to its segment, which runs from the point `start` to the point `end`."""
    dx, dy = x[end] - x[start], y[end] - y[start]
    px, py = x - x[start], y - y[start]
    length = dx * dx + dy * dy
    share = np.divide(px * dx + py * dy, length, out=np.zeros(len(x)), where=length > 0).clip(0.0, 1.0)
    return np.asarray(np.hypot(px - share * dx, py - share * dy))
