"""Sums of products and quotients of counts, as every curve and metric takes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dot(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Sum of products. Not `np.dot`: its threads wait for one another, which takes ages on a busy machine."""
    return float(np.einsum("i,i->", first, second))


def divide(
    top: NDArray[Any], bottom: NDArray[Any], zero_division: float, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Quotient of counts, with an explicit value for 0/0; `bottom` rises from zero or falls to it.

    `out` may be one of the two.
    """
    first = np.searchsorted(bottom, 0, side="right") if bottom[0] == 0 else 0
    last = np.searchsorted(bottom[::-1], 0, side="right") if bottom[-1] == 0 else 0
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(top, bottom, out=out)
    quotient[:first] = zero_division
    quotient[len(quotient) - last :] = zero_division
    return quotient
