"""Exact intervals of fractions (Clopper and Pearson, 1934)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def exact_ends(count: Any, n: Any, level: float = 0.95) -> tuple[Array, Array]:
    """Ends of the exact interval of each fraction `count` of `n`.

    They are those fractions at which so many, or so few, have probability (1 - `level`) / 2. With 0 of n an interval
    begins at 0, and with n of n it ends at 1.

    >>> low, high = exact_ends([0, 5], [10, 10])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.3085, 0.8129])
    """
    from scipy.special import betaincinv

    found, among = np.asarray(count, dtype=np.float64), np.asarray(n, dtype=np.float64)
    tail = (1 - level) / 2
    low = np.where(found > 0, betaincinv(np.maximum(found, 1), among - found + 1, tail), 0.0)
    high = np.where(found < among, betaincinv(found + 1, np.maximum(among - found, 1), 1 - tail), 1.0)
    return low, high
