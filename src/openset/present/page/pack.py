"""Arrays in few characters of JSON."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SCALE = 1_000_000
COARSE = 1_000
"""Tenths of a percent, which is what tables show."""
MISSING = -1


def shares(values: NDArray[np.floating[Any]], scale: int = SCALE) -> list[Any]:
    """Shares in parts of `scale`, each as its difference from the one before; NaN becomes -1 part.

    A table (thresholds in rows) becomes one list per column.

    >>> shares(np.array([np.nan, 0.25, 0.5]))
    [-1, 250001, 250000]
    """
    missing = np.isnan(values)
    return differences(np.where(missing, MISSING, np.round(np.where(missing, 0.0, values) * scale)).astype(np.int64))


def differences(whole: NDArray[np.integer[Any]]) -> list[Any]:
    """Whole numbers, each as its difference from the one before: short where neighbours are alike.

    >>> differences(np.array([[1, 5], [3, 5]]))
    [[1, 2], [5, 0]]
    """
    change = whole.copy()
    change[1:] -= whole[:-1]
    found: list[Any] = change.T.tolist()
    return found


def finite(values: NDArray[np.floating[Any]]) -> list[float | None]:
    """Numbers in full, because rounding moves a threshold past scores; what is not finite becomes None.

    >>> finite(np.array([-np.inf, 1234567.1]))
    [None, 1234567.1]
    """
    return [value if np.isfinite(value) else None for value in values.tolist()]
