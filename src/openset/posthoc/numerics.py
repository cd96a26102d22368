"""Arithmetic that several scores share: finite matrices, sums of exponentials, blocks of rows, means of classes."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core.checks import as_array
from openset.errors import OpenSetError

Array = NDArray[np.float64]
_BLOCK = 2**19
"""Numbers in a block of rows: 4 MB, so that what is computed on the way stays near the processor."""


def as_matrix(name: str, values: ArrayLike) -> Array:
    """`values` as a finite float64 matrix with one row per sample."""
    given = as_array(name, values)
    if given.dtype.kind not in "fiub":
        raise OpenSetError(f"'{name}' must be numbers, got values of type {given.dtype}.")
    matrix = given.astype(np.float64, copy=False)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise OpenSetError(f"'{name}' must have one row per sample and one column per class, got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        row = int(np.argmin(np.isfinite(matrix).all(axis=1)))
        raise OpenSetError(f"'{name}' has a NaN or infinite value in row {row}.")
    return matrix


def softmax(logits: ArrayLike, *, background: bool = False) -> Array:
    """Probabilities of the K known classes; with a background class its share is dropped, not spread over the others.

    >>> softmax([[0.0, 0.0, 0.0, 0.0]], background=True)
    array([[0.25, 0.25, 0.25]])
    """
    values = as_matrix("logits", logits)
    exponents = np.exp(values - values.max(axis=1, keepdims=True))
    exponents /= exponents.sum(axis=1, keepdims=True)
    return exponents[:, :-1] if background else exponents


def blocks(n: int, width: int, cells: int = _BLOCK) -> Iterator[slice]:
    """Slices of n rows of `width` numbers, a few megabytes each."""
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def by_blocks(function: Callable[..., Array], *arrays: NDArray[Any]) -> Array:
    """One number per row: `function` of the rows of all arrays, block by block."""
    first = arrays[0]
    found = np.empty(len(first))
    width = max(array.shape[1] if array.ndim > 1 else 1 for array in arrays)
    for rows in blocks(len(first), width):
        found[rows] = function(*(array[rows] for array in arrays))
    return found


def log_sum_exp(values: Array) -> Array:
    """Log of the sum of exponentials of each row."""
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))


def lags(values: Array) -> Array:
    """By how much each logit is behind the best of its row.

    At most 1000: the exponential is 0 there already, and 0 times infinity would be no number.
    """
    behind = values - values.max(axis=1, keepdims=True)
    return np.maximum(behind, -1000.0, out=behind)


def unit(values: Array) -> Array:
    """Rows scaled to length one; rows of zeros stay."""
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(length > 0, length, 1.0))


def rows_by_class(labels: NDArray[np.integer[Any]]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each class that occurs, with the rows where it does."""
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    return zip(present.tolist(), np.split(order, starts[1:]), strict=True)


def class_means(values: Array, labels: NDArray[np.integer[Any]], n_classes: int) -> Array:
    """Mean of the rows of each class; zeros where it has none."""
    means = np.zeros((n_classes, values.shape[1]))
    for one, rows in rows_by_class(labels):
        means[one] = values[rows].mean(axis=0)
    return means


def inverse_root(covariance: Array, score: str) -> Array:
    """W with W W' = pseudo-inverse of the covariance, so directions without spread do not blow up."""
    spread, axes = np.linalg.eigh(covariance)
    usable = spread > max(spread.max(), 0.0) * 1e-10
    if not usable.any():
        raise OpenSetError(f"{score}: no class has training samples that differ; there is no spread to measure by.")
    return np.asarray(axes[:, usable] / np.sqrt(spread[usable]))


class Triangle:
    """A matrix that is zero below its diagonal, kept in slabs without most of these zeros.

    One sample meets every number of a matrix once, and what takes time is to fetch them: half of them, here.
    """

    _SLABS = 4

    def __init__(self, matrix: Array) -> None:
        height, width = matrix.shape
        edges = np.linspace(0, height, min(self._SLABS, height) + 1).astype(int).tolist()
        kept = np.concatenate([matrix[top:end, top:].ravel() for top, end in pairwise(edges)])  # fetched as one stretch
        self._slabs, start = [], 0
        for top, end in pairwise(edges):
            slab = kept[start : start + (end - top) * (width - top)].reshape(end - top, width - top)
            self._slabs.append((top, end, slab))
            start += slab.size
        self._height = height

    def times(self, rows: Array) -> Array:
        """The product of the matrix with each row."""
        found = np.empty((len(rows), self._height))
        for top, end, slab in self._slabs:
            found[:, top:end] = rows[:, top:] @ slab.T
        return found


def largest_sum(activations: Array, top: float) -> tuple[Array, NDArray[np.intp]]:
    """Sum of the `top` fraction of each row's activations (one at least), and which columns these are."""
    width = activations.shape[1]
    kept = max(1, round(top * width))
    columns = np.argpartition(activations, width - kept, axis=1)[:, width - kept :]
    return np.take_along_axis(activations, columns, axis=1).sum(axis=1), columns
