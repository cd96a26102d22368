"""A user's own labels and class numbers: which class a label is, and where "unknown" takes a class's place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.annotations import ArrayLike
from openset._core.checks import UNKNOWN
from openset.errors import OpenSetError, is_number


def numbered(classes: NDArray[Any], labels: ArrayLike) -> NDArray[np.int64]:
    """Place of each label among the classes; labels that are no class count as unknown.

    >>> numbered(np.array(["cat", "dog"]), ["dog", "horse"])
    array([ 1, -2])
    """
    places = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([places.get(label, UNKNOWN) for label in np.asarray(labels).tolist()], dtype=np.int64)


def unknown_label_for(classes: NDArray[Any], given: int | str | None) -> Any:
    """What stands for unknown beside these classes: what was given, else -2, or "unknown" beside text."""
    text = classes.dtype.kind in "USO"
    label = given if given is not None else ("unknown" if text else UNKNOWN)
    if label in classes.tolist():
        raise OpenSetError(f"The unknown label {label!r} is also a known class: choose another unknown_label.")
    return label


def with_unknown(best: NDArray[Any], rejected: NDArray[np.bool_], label: Any) -> NDArray[Any]:
    """The predicted classes with `label` where a sample is rejected.

    >>> with_unknown(np.array(["cat", "dog"]), np.array([False, True]), "unknown")
    array(['cat', 'unknown'], dtype='<U7')
    """
    if best.dtype.kind in "US":
        best = best.astype(f"<U{max(len(str(label)), best.dtype.itemsize // 4)}")
    elif best.dtype.kind not in "iuf" or not is_number(label):
        best = best.astype(object)  # numbers beside a word stay numbers
    return np.where(rejected, np.array(label, dtype=None if best.dtype.kind in "iuf" else best.dtype), best)
