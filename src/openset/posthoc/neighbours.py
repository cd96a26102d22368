"""Nearest training vectors by blocks of matrix products: searched in single precision, measured in double.

A product in single precision is off by no more than (D + 4) * 2^-24 times the lengths of the two vectors, so those that
are surely nearer, surely farther, and the few in between, which are measured again, are known: the results are those
of double precision throughout, at about half the time and without a matrix of all pairs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.posthoc.numerics import Array

_CELLS = 2**24
"""Products in memory at a time: 64 MB."""


class Bank:
    """Training vectors to find the nearest among, or those of the largest products, with what a search needs prepared.

    `offsets`, one per vector, are taken from its products.
    """

    def __init__(self, vectors: Array, offsets: Array | None = None) -> None:
        lengths = np.linalg.norm(vectors, axis=1)
        # Of vectors of length one the nearest have the largest products; those of length zero count as 1/2:
        # |q - b|^2 = |q|^2 + 1 - 2 (q b + (1 - |b|^2) / 2).
        if offsets is None and not lengths.all():
            offsets = np.where(lengths > 0, 0.0, -0.5)
        longest = float(lengths.max()) or 1.0
        self.vectors, self.offsets = vectors, offsets
        self._searched = (vectors / longest).astype(np.float32)
        self._shifts = None if offsets is None else offsets / longest
        self._furthest = 0.0 if self._shifts is None else float(np.abs(self._shifts).max())
        self._slack = 2.0 * (vectors.shape[1] + 8) * 2.0**-24
        """By how much two products of the search may be in the wrong order."""

    @classmethod
    def by_distance(cls, vectors: Array) -> "Bank":
        """Vectors of any length, of which the nearest is wanted: |q - b|^2 = |q|^2 - 2 (q b - |b|^2 / 2)."""
        return cls(vectors, np.einsum("ij,ij->i", vectors, vectors) / 2.0)

    def kth_distance(self, queries: Array, k: int) -> Array:
        """Distance of each query to its k-th nearest vector of the bank; all have length one, or zero.

        With fewer than k vectors the farthest counts.
        """
        k = min(k, len(self.vectors))
        found = np.empty(len(queries))
        for rows, row, column, products, kth in self._candidates(queries, k):
            unsure = products <= kth[row] + self._slack
            nearer = np.bincount(row[~unsure], minlength=len(kth))  # these need no second look
            seen = row[unsure]
            squares = _squared_distances(queries[rows], self.vectors, seen, column[unsure])
            order = np.lexsort((squares, seen))
            starts = np.searchsorted(seen, np.arange(len(kth)))  # rows come in order
            found[rows] = np.sqrt(squares[order][starts + k - 1 - nearer])
        return found

    def nearest_square(self, queries: Array) -> Array:
        """Squared distance of each query to the nearest vector; of a bank made `by_distance`."""
        found = np.empty(len(queries))
        for rows, row, column, _, kth in self._candidates(queries, 1):
            squares = _squared_distances(queries[rows], self.vectors, row, column)
            found[rows] = np.minimum.reduceat(squares, np.searchsorted(row, np.arange(len(kth))))
        return found

    def largest_product(self, queries: Array) -> Array:
        """Largest inner product of each query with a vector, less its offset."""
        found = np.empty(len(queries))
        for rows, row, column, _, kth in self._candidates(queries, 1):
            products = np.einsum("ij,ij->i", queries[rows][row], self.vectors[column])
            if self.offsets is not None:
                products -= self.offsets[column]
            found[rows] = np.maximum.reduceat(products, np.searchsorted(row, np.arange(len(kth))))
        return found

    def mean_of_largest_products(self, queries: Array, k: int) -> Array:
        """Mean of the k largest inner products of each query with vectors of the bank."""
        k = min(k, len(self.vectors))
        found = np.empty(len(queries))
        for rows, row, column, _, kth in self._candidates(queries, k):
            products = np.einsum("ij,ij->i", queries[rows][row], self.vectors[column])
            order = np.lexsort((-products, row))
            starts = np.searchsorted(row, np.arange(len(kth)))
            found[rows] = products[order][starts[:, None] + np.arange(k)].mean(axis=1)
        return found

    def _candidates(
        self, queries: Array, k: int
    ) -> Iterator[tuple[slice, NDArray[np.intp], NDArray[np.intp], Array, Array]]:
        """Per block of queries: all pairs that may be among the k largest products, the products and the k-th largest.

        Queries, vectors and offsets are divided by what makes none of them longer than one, so that single precision
        neither overflows nor loses digits; the order stays.
        """
        size = len(self.vectors)
        step = max(1, _CELLS // size)
        for start in range(0, len(queries), step):
            rows = slice(start, min(start + step, len(queries)))
            some = queries[rows]
            scales = np.maximum(np.sqrt(np.einsum("ij,ij->i", some, some)), self._furthest)[:, None]
            scales[scales == 0] = 1.0
            products = (some / scales).astype(np.float32) @ self._searched.T
            if self._shifts is not None:
                products -= (self._shifts / scales).astype(np.float32)
            kth = products.max(axis=1) if k == 1 else np.partition(products, size - k, axis=1)[:, size - k]
            near = np.flatnonzero(products >= (kth.astype(np.float64) - self._slack).astype(np.float32)[:, None])
            row, column = np.divmod(near, size)
            yield rows, row, column, products.ravel()[near].astype(np.float64), kth.astype(np.float64)


def _squared_distances(queries: Array, bank: Array, row: NDArray[Any], column: NDArray[Any]) -> Array:
    """Squared distances of pairs, by their differences: exact also where vectors nearly agree."""
    squares = np.empty(len(row))
    step = max(1, _CELLS // (8 * bank.shape[1]))
    for start in range(0, len(row), step):
        some = slice(start, start + step)
        gaps = queries[row[some]] - bank[column[some]]
        squares[some] = np.einsum("ij,ij->i", gaps, gaps)
    return squares
