"""Leaving out points of a curve that nobody could see."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GRID = 16.0  # cells per pixel of the first pass, whose error is at most the diagonal of a cell


def thin(x: ArrayLike, y: ArrayLike, *, tolerance: float = 0.5) -> NDArray[np.intp]:
    """Indices of the points to keep, so that every point lies within `tolerance` of the line through those kept.

    `x` and `y` are in pixels. The first and last point are always kept. A first pass drops points that share a cell
    of a fine grid with the one before them, which leaves few points of a long curve; the second is that of Douglas
    and Peucker, which divides the curve at the point farthest from the chord until no point is too far.

    >>> thin([0, 1, 2, 3, 4], [0, 0, 0, 5, 5]).tolist()
    [0, 2, 3, 4]
    """
    points = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)], axis=1)
    if len(points) <= 2:
        return np.arange(len(points))
    cells = np.floor(points * _GRID)
    moved = np.concatenate(([True], (cells[1:] != cells[:-1]).any(axis=1)))
    moved[-1] = True
    kept = np.flatnonzero(moved)
    return kept[_douglas_peucker(points[kept], tolerance - 2**0.5 / _GRID)]


def _douglas_peucker(points: NDArray[np.float64], tolerance: float) -> NDArray[np.intp]:
    kept = np.array([0, len(points) - 1])
    while True:  # all stretches between kept points are divided at once
        stretch = np.repeat(np.arange(len(kept) - 1), np.diff(kept))
        stretch = np.append(stretch, len(kept) - 2)
        distance = _to_segments(points, points[kept[stretch]], points[kept[stretch + 1]])
        farthest = np.maximum.reduceat(distance, kept[:-1])
        candidates = np.flatnonzero((distance > tolerance) & (distance == farthest[stretch]))
        if not len(candidates):
            return kept
        _, first = np.unique(stretch[candidates], return_index=True)
        kept = np.union1d(kept, candidates[first])


def _to_segments(points: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.float64]:
    """Distance of each point to its segment."""
    along, offset = end - start, points - start
    length = (along**2).sum(axis=1)
    share = np.divide((offset * along).sum(axis=1), length, out=np.zeros(len(points)), where=length > 0).clip(0.0, 1.0)
    return np.asarray(np.hypot(*(offset - share[:, None] * along).T))
