"""Class ids from whatever a file calls its classes: numbers, names, or the words negative and unknown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import UNKNOWN
from openset._core.labels import LabelWords
from openset.errors import OpenSetError, did_you_mean


def class_ids(
    values: Sequence[Any] | NDArray[Any],
    class_names: Sequence[str] | None,
    where: str,
    *,
    open_labels: bool = False,
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Class ids and names; with `open_labels` also -1, -2 and their words. A bad value is named with its row."""
    array = np.asarray(values)
    if array.dtype.kind in "iu" or _all_whole(array, where):
        return _from_numbers(array, class_names, where, open_labels=open_labels)
    words = [str(value).strip() for value in array.tolist()]
    if any(word in {"", "None"} for word in words):
        row = next(row for row, word in enumerate(words) if word in {"", "None"})
        raise OpenSetError(f"{where}, row {row}: the label is empty.")
    meanings = {word: LabelWords().meaning(word) for word in set(words)} if open_labels else {}
    special = {word: label for word, label in meanings.items() if label is not None}
    names = tuple(class_names) if class_names is not None else tuple(sorted(set(words) - set(special)))
    position = {name: place for place, name in enumerate(names)} | special
    missing = next((row for row, word in enumerate(words) if word not in position), None)
    if missing is not None:
        raise OpenSetError(
            f"{where}, row {missing}: no class '{words[missing]}'. {did_you_mean(words[missing], names)}"
        )
    return np.array([position[word] for word in words], dtype=np.int64), names


def _all_whole(array: NDArray[Any], where: str) -> bool:
    """Floats and texts that all spell whole numbers, as in a CSV column.

    A gap among numbers is an error: tables write it as NaN, which must not become the name of a class.
    """
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        return False
    finite = np.isfinite(numbers)
    if not finite.all():
        raise OpenSetError(f"{where}, row {int(np.argmin(finite))}: the label is empty or not a number.")
    return bool((numbers == np.round(numbers)).all())


def _from_numbers(
    array: NDArray[Any], class_names: Sequence[str] | None, where: str, *, open_labels: bool
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    ids = array.astype(np.float64).astype(np.int64)
    if len(ids) == 0:
        raise OpenSetError(f"{where} holds no samples.")
    count = len(class_names) if class_names is not None else int(ids.max()) + 1
    outside = (ids < (UNKNOWN if open_labels else 0)) | (ids >= max(count, 0))
    if outside.any():
        row = int(np.argmax(outside))
        raise OpenSetError(
            f"{where}, row {row}: label {ids[row]} is out of range; classes are numbered 0 to {count - 1}."
        )
    return ids, tuple(class_names) if class_names is not None else tuple(str(number) for number in range(count))
