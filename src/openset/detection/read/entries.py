"""Fields of JSON entries as columns, with a sentence that names the entry when one is missing or wrong."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from openset.errors import OpenSetError

LARGEST = 1e9
"""Pixels: no image is that large, and beyond it areas overflow and pictures are never drawn to the end."""


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
    """Boxes as an array; each must be four numbers of a possible size that is not negative."""
    try:
        if set(map(len, values)) - {4} or not _all_numbers(chain.from_iterable(values)):
            raise ValueError
        box = np.fromiter(chain.from_iterable(values), dtype=np.float64, count=4 * len(values)).reshape(-1, 4)
    except (TypeError, ValueError):
        row = next(i for i, value in enumerate(values) if not _is_box(value))
        raise OpenSetError(
            f"{where} entry {first + row}: bbox must be four numbers (x, y, width, height), got {values[row]!r:.60}."
        ) from None
    except OverflowError:  # a whole number that no float can hold
        far = 2 * LARGEST
        box = np.array([[max(min(number, far), -far) for number in value] for value in values], dtype=np.float64)
    bad = ~(np.abs(box) <= LARGEST).all(axis=1) | (box[:, 2:] < 0).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        if not np.isfinite(box[row]).all():
            what = "a number that is not finite"
        elif (box[row, 2:] < 0).any():
            what = "a negative width or height"
        else:
            what = f"more than {LARGEST:,.0f} pixels"
        raise OpenSetError(
            f"{where} entry {first + row}: bbox {values[row]!r:.90} has {what}. "
            "A box is x, y, width, height; convert corner coordinates first."
        )
    return box


def numbers(values: list[Any], name: str, where: str, first: int) -> NDArray[np.float64]:
    """Finite numbers as an array."""
    try:
        if not _all_numbers(values):
            raise TypeError
        array = np.fromiter(values, dtype=np.float64, count=len(values))
    except TypeError:
        row = next(i for i, value in enumerate(values) if not _is_number(type(value)))
        raise OpenSetError(f"{where} entry {first + row}: {name} must be a number, got {values[row]!r:.40}.") from None
    except OverflowError:  # a whole number that no float can hold
        array = np.array([value if abs(value) < 1e300 else np.inf for value in values], dtype=np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argmax(bad))
        raise OpenSetError(f"{where} entry {first + row}: {name} is {values[row]!s:.40}; it must be a finite number.")
    return array


def lengths(values: list[Any], name: str, where: str, first: int) -> NDArray[np.float64]:
    """Widths or heights of images, 0 where they are not known."""
    array = numbers([0 if value is None else value for value in values], name, where, first)
    bad = ~((array >= 0) & (array <= LARGEST))
    if bad.any():
        row = int(np.argmax(bad))
        raise OpenSetError(
            f"{where} entry {first + row}: {name} is {values[row]!s:.40}; an image has 0 to {LARGEST:,.0f} pixels "
            "on each side, 0 if the size is not known."
        )
    return array


def flags(values: list[Any], name: str, where: str, first: int) -> NDArray[np.bool_]:
    """Yes or no as 0 and 1 or as truth values; text is refused, because "0" and "false" would count as yes."""
    try:
        fine = set(values) <= {0, 1}
    except TypeError:
        fine = False
    if not fine:
        row = next(i for i, value in enumerate(values) if isinstance(value, list | dict) or value not in {0, 1})
        raise OpenSetError(f"{where} entry {first + row}: {name} must be 0 or 1, got {values[row]!r:.40}.")
    return np.array(values, dtype=bool)


def texts(values: list[Any], name: str, where: str, first: int, absent: Any = ...) -> list[str]:
    """Names as text; a number is the text that shows it, and `absent` that of null."""
    for row, value in enumerate(values, first):
        if not is_id(value) and (absent is ... or value is not None):
            raise OpenSetError(f"{where} entry {row}: {name} must be text, got {value!r:.40}.")
    check_whole(values, name, where, first)
    return [absent if value is None else str(value) for value in values]


def check_whole(values: Iterable[Any], name: str, where: str, first: int) -> None:
    """Text must be whole characters: half of one (a lone surrogate) can be read from JSON, but never be written."""
    for row, value in enumerate(values, first):
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise OpenSetError(
                    f"{where} entry {row}: {name} holds half a character: {value!r:.60}. Correct it in the file."
                ) from None


def check_visible(values: Iterable[str], name: str, where: str) -> None:
    """Control characters in a name would steer the terminal that shows it, and no name needs one."""
    for row, value in enumerate(values):
        if any(category(letter) == "Cc" for letter in value):
            raise OpenSetError(
                f"{where} entry {row}: {name} holds a control character: {value!r:.60}. Correct it in the file."
            )


def places(values: list[Any], index: Mapping[Any, int], where: str, first: int) -> NDArray[np.int64]:
    """Position of each id in a table, -1 where it is not there."""
    try:
        if bool in set(map(type, values)):  # Python takes `true` for 1
            raise TypeError
        return np.fromiter((index.get(value, -1) for value in values), dtype=np.int64, count=len(values))
    except TypeError:
        row = next(i for i, value in enumerate(values) if not is_id(value))
        raise OpenSetError(f"{where} entry {first + row}: {values[row]!r:.40} cannot be an id.") from None


def is_id(value: Any) -> bool:
    """Whether a value can name an image or a class."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int | str) and not isinstance(value, bool)


def check_unique(values: Iterable[Any], what: str, source: str) -> None:
    """An id or a name is given once."""
    seen: set[Any] = set()
    for value in values:
        if not is_id(value):
            raise OpenSetError(f"{source}: one of the {what} is {value!r:.40}; it must be a finite number or text.")
        if value in seen:
            raise OpenSetError(f"{source}: {value!r} occurs twice among the {what}.")
        seen.add(value)


def three(values: Iterable[Any]) -> str:
    """The first three of some values, for a message."""
    return ", ".join(repr(value) for value in islice(values, 3))


def _is_number(kind: type) -> bool:
    return issubclass(kind, int | float | np.number) and kind is not bool


def _all_numbers(values: Iterable[Any]) -> bool:
    """Whether there is no text and no truth value among them, which NumPy would read as numbers."""
    return all(map(_is_number, set(map(type, values))))


def _is_box(value: Any) -> bool:
    try:
        return len(value) == 4 and _all_numbers(value)
    except TypeError:
        return False
