"""Lists on the command line: names by commas, numbers and ranges."""

import math
import re

from openset.errors import OpenSetError

_MOST = 10_000
_PIECE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def names(text: str) -> list[str]:
    """`a, b` as a and b."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(text: str, option: str) -> list[int]:
    """`0-2,5` as 0, 1, 2, 5; each once."""
    found: list[int] = []
    for piece in names(text):
        written = _PIECE.fullmatch(piece)
        if written is None:
            raise OpenSetError(f"{option}: '{piece:.60}' is neither a number nor a range such as 0-4.")
        first, last = int(written[1]), int(written[2] or written[1])
        if last < first:
            raise OpenSetError(f"{option}: '{piece}' ends before it begins; write it like 0-4.")
        if len(found) + last - first >= _MOST:
            raise OpenSetError(f"{option}: '{piece}' makes more than {_MOST:,} numbers; give fewer.")
        found += range(first, last + 1)
    if not found:
        raise OpenSetError(f"{option}: give at least one number.")
    return list(dict.fromkeys(found))


def steps(text: str, option: str) -> list[float]:
    """Numbers, or ranges with both ends and a step.

    >>> steps("0.1:0.5:0.2, 2", "--ratios")
    [0.1, 0.3, 0.5, 2.0]
    """
    found: list[float] = []
    for piece in names(text):
        try:
            parts = [float(part) for part in piece.split(":")]
        except ValueError:
            parts = []
        if len(parts) not in (1, 3) or not all(map(math.isfinite, parts)):
            raise OpenSetError(f"{option}: '{piece:.60}' is neither a number nor a range such as 0.1:4.6:0.1.")
        if len(parts) == 1:
            found += parts
            continue
        first, last, step = parts
        if step <= 0 or last < first:
            raise OpenSetError(f"{option}: '{piece}' never ends; write it as first:last:step, like 0.1:4.6:0.1.")
        n = math.floor((last - first) / step + 1e-9) + 1
        if len(found) + n > _MOST:
            raise OpenSetError(f"{option}: '{piece}' makes more than {_MOST:,} numbers; give fewer.")
        found += [round(first + place * step, 12) for place in range(n)]
    if not found:
        raise OpenSetError(f"{option}: give at least one number.")
    return found
