"""Is what the user gave a set of labels, predictions and scores? One plain sentence if not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset.errors import OpenSetError, check_choice, is_number

NEGATIVE = -1
UNKNOWN = -2
RESERVED_GROUPS = ("all", "negative", "unknown")
"""What `against` means by itself, so no group of open-set samples can have such a name."""
MOST_CLASSES = 10_000_000
"""More are taken for a mistake, such as ids in place of class numbers."""
_MANY_CLASSES, _CLASSES_PER_SAMPLE = 100_000, 100
"""Where only the largest number tells how many classes there are: with more of both it is taken for an id."""
ROUNDING = 0.05
"""By how much rounding may lift a row of probabilities above 1: two decimals of 10 classes, four of 1,000, bfloat16."""
SAME_PROBABILITY = 1e-6
"""Probabilities that are no further apart may have been equal before they were rounded."""
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


def as_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """`values` as an array: also a tensor of a training, never what hides some of its entries."""
    if np.ma.is_masked(values):
        raise OpenSetError(f"'{name}' has masked entries: leave those samples out first.")
    try:
        if not hasattr(values, "detach"):
            return np.asarray(values)
        tensor = values.detach().cpu()  # torch is known by what it can do: the core does without it
        try:
            return np.asarray(tensor)
        except TypeError:  # bfloat16, which NumPy does not have
            return np.asarray(tensor.float())
    except (TypeError, ValueError, RuntimeError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise OpenSetError(f"'{name}' cannot be read as an array; rows must be of one length ({first}).") from error


def as_ints(name: str, values: ArrayLike) -> Ints:
    """`values` as a one-dimensional integer array; whole floats are allowed, anything else is an error."""
    array = as_array(name, values)
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
    array = as_array(name, values)
    if array.ndim != 1:
        raise OpenSetError(f"'{name}' must have one dimension, got shape {array.shape}.")
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "iufb":
        floats = array.astype(np.float64)
        if array.dtype.kind in "iu" and np.abs(floats).max(initial=0.0) > 2**53:
            raise OpenSetError(
                f"'{name}' holds whole numbers beyond 2**53, which floats cannot tell from their neighbours: "
                "subtract a constant from them, or give floats."
            )
        return floats
    raise OpenSetError(f"'{name}' must be numbers, got values of type {array.dtype}.")


def as_probabilities(values: ArrayLike) -> Floats:
    """`values` as a matrix of probabilities, one column per known class."""
    matrix = as_array("probabilities", values)
    if matrix.dtype.kind not in "fiub":
        raise OpenSetError(f"'probabilities' must be numbers, got values of type {matrix.dtype}.")
    if matrix.dtype.kind != "f" or matrix.dtype.itemsize > np.dtype(np.float64).itemsize:
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise OpenSetError(f"'probabilities' must have one column per known class, got shape {matrix.shape}.")
    bad = ~((matrix >= 0) & (matrix <= 1 + 1e-6)).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise OpenSetError(
            f"'probabilities' must lie between 0 and 1, row {row} does not. For logits use Scores.from_logits."
        )
    total = matrix.sum(axis=1, dtype=np.float64)  # less than 1 is fine: the background class has the rest
    if total.max(initial=0) > 1 + ROUNDING:
        row = int(total.argmax())
        raise OpenSetError(
            f"Row {row} of 'probabilities' adds up to {total[row]:.3g}, more than 1: the known classes exclude each "
            "other. Use a softmax, not one sigmoid per class, or leave the probabilities out."
        )
    return matrix


def as_text(name: str, values: ArrayLike) -> NDArray[np.str_]:
    """`values` as a one-dimensional array of texts."""
    array = as_array(name, values)
    if array.ndim != 1:
        raise OpenSetError(f"'{name}' must have one dimension, got shape {array.shape}.")
    if array.dtype.kind == "V":
        raise OpenSetError(f"'{name}' must be text or numbers, got records of type {array.dtype}.")
    try:
        texts = np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(np.str_, copy=False)
        if texts.dtype.itemsize:
            _refuse_half_characters(texts)
    except UnicodeError as error:
        raise OpenSetError(f"'{name}' must be text that UTF-8 can hold, and some of it is not.") from error
    return texts


def _refuse_half_characters(texts: NDArray[np.str_]) -> None:
    """Half of a surrogate pair is no character: nothing could be written with it, nor numbers beyond Unicode."""
    step = max(1, 2**22 // texts.dtype.itemsize)
    for start in range(0, len(texts), step):
        codes = np.ascontiguousarray(texts[start : start + step].astype(texts.dtype.newbyteorder("="))).view(np.uint32)
        if ((codes >> 11 == 0xD800 >> 11) | (codes > 0x10FFFF)).any():
            raise UnicodeError


def check_lengths(**arrays: Sequence[Any] | NDArray[Any] | None) -> None:
    """All arrays that are given must describe the same samples."""
    single = next((name for name, array in arrays.items() if array is not None and not np.ndim(array)), None)
    if single is not None:
        raise OpenSetError(f"'{single}' is a single value; it must have one entry for each sample.")
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
    if n_classes is not None:
        if not isinstance(n_classes, int | np.integer):
            raise OpenSetError(f"'n_classes' must be a whole number, got {n_classes!r}.")
        if n_classes > MOST_CLASSES:
            raise OpenSetError(f"'n_classes' is {n_classes}, which is too large; at most {MOST_CLASSES} are possible.")
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
    if n_classes is not None:
        return n_classes
    if largest >= _MANY_CLASSES and largest >= _CLASSES_PER_SAMPLE * len(labels):
        name, values = (
            ("Label", labels) if predictions is None or labels.max() >= largest else ("Prediction", predictions)
        )
        raise OpenSetError(
            f"{name} {largest} in {where(int(values.argmax()))} would mean {largest + 1} classes for {len(labels)} "
            "samples: number classes 0, 1, 2, ... without gaps, or give the classes names."
        )
    return largest + 1


def check_threshold(threshold: float) -> None:
    """A threshold is any number, also infinite, but a number."""
    if not is_number(threshold):
        raise OpenSetError(f"The threshold must be a number, got {threshold!r}.")
    if np.isnan(threshold):
        raise OpenSetError("The threshold is not a number (NaN).")


def require_both(n_known: float, n_open: float, against: str) -> None:
    """Open-set metrics need samples of both kinds."""
    wanted = "open-set samples" if against == "all" else f"samples of '{against}'"
    if n_open == 0:
        raise OpenSetError(
            f"Found {n_known:g} known samples and 0 {wanted}: open-set metrics need both. "
            "Mark open-set samples with label -1 (negative) or -2 (unknown), in text with one of these words."
        )
    if n_known == 0:
        raise OpenSetError(
            f"Found 0 known samples and {n_open:g} {wanted}: open-set metrics need both. "
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
    names = as_text("groups", groups)
    check_lengths(labels=labels, groups=names)
    mask = (labels < 0) & (names == against)
    if not mask.any():
        present = sorted({str(name) for name in np.unique(names[labels < 0])} - {""})
        check_choice("against", "against", against, [*RESERVED_GROUPS, *present])
    return mask
