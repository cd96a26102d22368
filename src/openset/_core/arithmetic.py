"""Sums of products and quotients of counts, as every curve and metric takes them.

A metric of all samples is the same to the last bit however the samples are divided into parts: counts are added as
whole numbers, and fractions as whole numbers of very small units. Floating-point sums would depend on the order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 2.0**53  # whole numbers below are exact in float64
_WORD = 2.0**63
_COARSE, _FINE = 40, 36  # bits of a fraction that are added up in two steps, neither of which passes 2**53
_RUN = 1 << 15  # numbers added at once
_HALF = 20  # bits of the lower half of a number to be squared


def dot(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Sum of products. Not `np.dot`: its threads wait for one another, which takes ages on a busy machine."""
    return float(np.einsum("i,i->", first, second))


def whole_dot(first: NDArray[Any], second: NDArray[Any]) -> int:
    """Sum of products of whole numbers, none of them negative, without rounding, however large.

    >>> whole_dot(np.array([1e9, 1.0]), np.array([1e10, 1.0]))
    10000000000000000001
    """
    if not len(first):
        return 0
    bound = float(first.sum()) * float(second.max())
    if bound < _EXACT:
        return int(dot(first, second))
    if bound < _WORD:
        return int(np.einsum("i,i->", first.astype(np.int64), second.astype(np.int64)))
    return sum(int(one) * int(other) for one, other in zip(first.tolist(), second.tolist(), strict=True))


def whole_squares(times: NDArray[Any], values: NDArray[Any]) -> int:
    """Sum of squares of whole numbers, each so many times, without rounding.

    >>> whole_squares(np.array([2.0, 1.0]), np.array([3e9, 1.0]))
    18000000000000000001
    """
    if not len(values) or float(times.sum()) * float(values.max()) ** 2 < _EXACT:
        return whole_dot(times, values * values)
    upper = np.floor(values * 2.0**-_HALF)
    lower = values - upper * 2.0**_HALF
    parts = (whole_dot(times, upper * upper), whole_dot(times, upper * lower), whole_dot(times, lower * lower))
    return (parts[0] << 2 * _HALF) + (parts[1] << _HALF + 1) + parts[2]


def unit_bits(size: float) -> int:
    """How many binary digits `unit_sum` keeps of fractions that add up to `size` at most."""
    bits = int(size).bit_length()
    assert bits <= _COARSE
    return _COARSE - bits + _FINE


def unit_sum(values: NDArray[np.float64], size: float) -> int:
    """Sum of numbers, each rounded to a multiple of 2**-unit_bits(size), in that unit: the same in any order.

    The sum of their magnitudes must not pass `size`. Divide by `2**unit_bits(size)`.

    >>> unit_sum(np.array([0.5, 0.25]), 1) / 2 ** unit_bits(1)
    0.75
    """
    scale = 2.0 ** (unit_bits(size) - _FINE)
    total = 0
    for start in range(0, len(values), _RUN):
        scaled = values[start : start + _RUN] * scale
        upper = np.rint(scaled)
        scaled -= upper  # exact: what is left has no more digits than there were
        scaled *= 2.0**_FINE
        total += (int(upper.sum()) << _FINE) + int(np.rint(scaled, out=scaled).sum())
    return total


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
