"""Is what the user gave a set of labels, predictions and scores? One plain sentence if not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset.errors import OpenSetError, check_choice

NEGATIVE = -1
UNKNOWN = -2
RESERVED_GROUPS = ("all", "negative", "unknown")
"""What `against` means by itself, so no group of open-set samples can have such a name."""
MOST_CLASSES = 10_000_000
"""More are taken for a mistake, such as ids in place of class numbers."""
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


def as_ints(name: str, values: ArrayLike) -> Ints:
    """`values` as a one-dimensional integer array; whole floats are allowed, anything else is an error."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise OpenSetError(f"'{name}' must have one dimension, got shape {array.shape}.")
    if array.size == 0:
        raise OpenSetError(f"'{name}' is empty: there are no samples to evaluate.")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise OpenSetError(f"'{name}' holds {array.max()}, which is too large for a class.")
        return array.astype(np.int64) if array.dtype == np.uint64 else array
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.round(array)) & (np.abs(array) < 2**53)
        if whole.all():
            return array.astype(np.int64)
        row = int(np.argmin(whole))
        raise OpenSetError(f"'{name}' must be whole numbers, got {array[row]} in row {row}.")
    raise OpenSetError(f"'{name}' must be whole numbers, got values of type {array.dtype}.")


def as_scores(name: str, values: ArrayLike) -> Floats:
    """`values` as a one-dimensional float array in the caller's own precision."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise OpenSetError(f"'{name}' must have one dimension, got shape {array.shape}.")
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "iufb":
        return array.astype(np.float64)
    raise OpenSetError(f"'{name}' must be numbers, got values of type {array.dtype}.")


def check_lengths(**arrays: Sequence[Any] | NDArray[Any] | None) -> None:
    """All arrays that are given must describe the same samples."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise OpenSetError(f"The inputs differ in length ({found}); each sample needs one entry in every one.")


def name_row(row: int) -> str:
    """How an error calls a sample; readers of text files count lines instead."""
    return f"row {row}"


def check_labels(labels: Ints, where: Callable[[int], str] = name_row) -> None:
    """Labels are classes from 0 up, -1 (negative) or -2 (unknown)."""
    if labels.min() < UNKNOWN:
        row = int(np.argmax(labels < UNKNOWN))
        raise OpenSetError(
            f"Label {labels[row]} in {where(row)} is not defined: "
            "use 0, 1, 2, ... for known classes, -1 for negatives, -2 for unknowns."
        )


def check_finite(score: Floats, where: Callable[[int], str] = name_row) -> None:
    """Scores that are NaN or infinite have no place in a ranking."""
    finite = np.isfinite(score)
    if not finite.all():
        row = int(np.argmin(finite))
        raise OpenSetError(
            f"unknown_score is {score[row]} in {where(row)} ({int((~finite).sum())} such values in all): "
            "replace or drop them, a ranking of scores needs finite numbers."
        )


def resolve_classes(
    labels: Ints, predictions: Ints | None, n_classes: int | None, where: Callable[[int], str] = name_row
) -> int:
    """K: what the user says, else 1 + the largest label or prediction; everything must fit below it."""
    if predictions is not None and predictions.min() < 0:
        row = int(np.argmax(predictions < 0))
        raise OpenSetError(
            f"Prediction {predictions[row]} in {where(row)} is not a known class: a prediction is the best one, "
            "0, 1, 2, ...; to reject is the unknown score's job."
        )
    largest = 0
    for name, values in (("Label", labels), ("Prediction", predictions)):
        if values is None:
            continue
        largest = max(largest, int(values.max()))
        if largest >= MOST_CLASSES:
            row = int(values.argmax())
            raise OpenSetError(
                f"{name} {values[row]} in {where(row)} is too large: classes are numbered 0, 1, 2, ... without gaps."
            )
        if n_classes is not None and largest >= n_classes:
            row = int(np.argmax(values >= n_classes))
            raise OpenSetError(
                f"{name} {values[row]} in {where(row)} is out of range: "
                f"there are {n_classes} known classes, 0 to {n_classes - 1}."
            )
    return largest + 1 if n_classes is None else n_classes


def check_threshold(threshold: float) -> None:
    """A threshold is any number, also infinite, but a number."""
    if np.isnan(threshold):
        raise OpenSetError("The threshold is not a number (NaN).")


def require_both(n_known: float, n_open: float, against: str) -> None:
    """Open-set figures need samples of both kinds."""
    wanted = "open-set samples" if against == "all" else f"samples of '{against}'"
    if n_open == 0:
        raise OpenSetError(
            f"Found {n_known:g} known samples and 0 {wanted}: open-set figures need both. "
            "Mark open-set samples with label -1 (negative) or -2 (unknown)."
        )
    if n_known == 0:
        raise OpenSetError(
            f"Found 0 known samples and {n_open:g} {wanted}: open-set figures need both. "
            "Known samples carry their class, 0, 1, 2, ..., as label."
        )


def open_mask(labels: Ints, against: str, groups: ArrayLike | None = None) -> Bools:
    """Which samples are the open-set samples that `against` names."""
    if against == "all":
        return labels < 0
    if against == "negative":
        return labels == NEGATIVE
    if against == "unknown":
        return labels == UNKNOWN
    if groups is None:
        raise OpenSetError(
            f"against={against!r} is not 'all', 'negative' or 'unknown', and no groups are given to look it up in."
        )
    names = np.asarray(groups)
    check_lengths(labels=labels, groups=names)
    mask = (labels < 0) & (names == against)
    if not mask.any():
        present = sorted({str(name) for name in np.unique(names[labels < 0])} - {""})
        check_choice("against", "against", against, [*RESERVED_GROUPS, *present])
    return mask
