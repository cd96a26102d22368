"""Fields of JSON entries as columns, with a sentence that names the entry when one is missing or wrong."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.errors import OpenSetError


def column(entries: Sequence[Any], name: str, where: str, first: int, absent: Any = ...) -> list[Any]:
    """The field `name` of every entry; `absent` stands in for it, or, if not given, it must be there."""
    try:
        if absent is ...:
            return [entry[name] for entry in entries]
        return [entry.get(name, absent) for entry in entries]
    except (KeyError, TypeError, AttributeError):
        for row, entry in enumerate(entries, first):
            if not isinstance(entry, Mapping):
                raise OpenSetError(f"{where} entry {row} is {entry!r:.40}, not an object with fields.") from None
            if absent is ... and name not in entry:
                raise OpenSetError(f"{where} entry {row} has no '{name}'.") from None
        raise


def boxes(values: list[Any], where: str, first: int) -> NDArray[np.float64]:
    """Boxes as an array; each must be four finite numbers with a size that is not negative."""
    try:
        if set(map(len, values)) - {4}:
            raise ValueError
        box = np.fromiter(chain.from_iterable(values), dtype=np.float64, count=4 * len(values)).reshape(-1, 4)
    except (TypeError, ValueError):
        row = next(i for i, value in enumerate(values) if not _is_box(value))
        raise OpenSetError(
            f"{where} entry {first + row}: bbox must be four numbers (x, y, width, height), got {values[row]!r:.60}."
        ) from None
    bad = ~np.isfinite(box).all(axis=1) | (box[:, 2:] < 0).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        finite = np.isfinite(box[row]).all()
        what = "a negative width or height" if finite else "a number that is not finite"
        raise OpenSetError(
            f"{where} entry {first + row}: bbox {values[row]} has {what}. "
            "A box is x, y, width, height; convert corner coordinates first."
        )
    return box


def numbers(values: list[Any], name: str, where: str, first: int) -> NDArray[np.float64]:
    """Finite numbers as an array."""
    try:
        array = np.fromiter(values, dtype=np.float64, count=len(values))
    except (TypeError, ValueError):
        row = next(i for i, value in enumerate(values) if not isinstance(value, int | float))
        raise OpenSetError(f"{where} entry {first + row}: {name} must be a number, got {values[row]!r:.40}.") from None
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argmax(bad))
        raise OpenSetError(f"{where} entry {first + row}: {name} is {array[row]}; it must be a finite number.")
    return array


def places(values: list[Any], index: Mapping[Any, int], where: str, first: int) -> NDArray[np.int64]:
    """Position of each id in a table, -1 where it is not there."""
    try:
        return np.fromiter((index.get(value, -1) for value in values), dtype=np.int64, count=len(values))
    except TypeError:
        row = next(i for i, value in enumerate(values) if not is_id(value))
        raise OpenSetError(f"{where} entry {first + row}: {values[row]!r:.40} cannot be an id.") from None


def is_id(value: Any) -> bool:
    """Whether a value can name an image or a class."""
    return isinstance(value, int | str | float)


def check_unique(values: Iterable[Any], what: str, source: str) -> None:
    """An id or a name is given once."""
    seen: set[Any] = set()
    for value in values:
        if not is_id(value):
            raise OpenSetError(f"{source}: one of the {what} is {value!r:.40}; it must be a number or text.")
        if value in seen:
            raise OpenSetError(f"{source}: {value!r} stands twice among the {what}.")
        seen.add(value)


def three(values: Iterable[Any]) -> str:
    """The first three of some values, for a message."""
    return ", ".join(repr(value) for value in islice(values, 3))


def _is_box(value: Any) -> bool:
    sized = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 4
    return sized and all(isinstance(number, int | float | np.number) for number in value)
