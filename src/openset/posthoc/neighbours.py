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
    """Training vectors to find neighbours among, with what a search needs of them prepared once."""

    def __init__(self, vectors: Array) -> None:
        self.vectors = vectors
        self.searched = vectors.astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1)
        self.longest = float(lengths.max())
        self.empty = np.flatnonzero(lengths == 0)

    def kth_distance(self, queries: Array, k: int) -> Array:
        """Distance of each query to its k-th nearest vector of the bank; all have length one, or zero.

        With fewer than k vectors the farthest counts. The order by distance is that by product, but for vectors of
        length zero, whose products count as 1/2: |q - b|^2 = |q|^2 + 1 - 2 (q b + (1 - |b|^2) / 2).
        """
        k = min(k, len(self.vectors))
        found = np.empty(len(queries))
        for rows, row, column, products, kth, slack in self._candidates(queries, k, halves=self.empty):
            unsure = products <= kth[row] + slack
            nearer = np.bincount(row[~unsure], minlength=len(kth))  # these need no second look
            seen = row[unsure]
            squares = _squared_distances(queries[rows], self.vectors, seen, column[unsure])
            order = np.lexsort((squares, seen))
            starts = np.searchsorted(seen, np.arange(len(kth)))  # rows come in order
            found[rows] = np.sqrt(squares[order][starts + k - 1 - nearer])
        return found

    def mean_of_largest_products(self, queries: Array, k: int) -> Array:
        """Mean of the k largest inner products of each query, of length one, with vectors of the bank."""
        k = min(k, len(self.vectors))
        found = np.empty(len(queries))
        for rows, row, column, _, kth, _ in self._candidates(queries, k):
            products = np.einsum("ij,ij->i", queries[rows][row], self.vectors[column])
            order = np.lexsort((-products, row))
            starts = np.searchsorted(row, np.arange(len(kth)))
            found[rows] = products[order][starts[:, None] + np.arange(k)].mean(axis=1)
        return found

    def _candidates(
        self, queries: Array, k: int, halves: NDArray[np.intp] | None = None
    ) -> Iterator[tuple[slice, NDArray[np.intp], NDArray[np.intp], Array, Array, float]]:
        """Per block of queries: all pairs that may be among the k largest products, the k-th largest, and the slack."""
        size, width = self.searched.shape
        slack = 2.0 * (width + 4) * 2.0**-24 * self.longest
        step = max(1, _CELLS // size)
        for start in range(0, len(queries), step):
            rows = slice(start, min(start + step, len(queries)))
            products = queries[rows].astype(np.float32) @ self.searched.T
            if halves is not None and len(halves):
                products[:, halves] = 0.5
            kth = np.partition(products, size - k, axis=1)[:, size - k].astype(np.float64)
            near = np.flatnonzero(products >= (kth - slack).astype(np.float32)[:, None])
            row, column = np.divmod(near, size)
            yield rows, row, column, products.ravel()[near].astype(np.float64), kth, slack


def _squared_distances(queries: Array, bank: Array, row: NDArray[Any], column: NDArray[Any]) -> Array:
    """Squared distances of pairs, by their differences: exact also where vectors nearly agree."""
    squares = np.empty(len(row))
    step = max(1, _CELLS // (8 * bank.shape[1]))
    for start in range(0, len(row), step):
        some = slice(start, start + step)
        gaps = queries[row[some]] - bank[column[some]]
        squares[some] = np.einsum("ij,ij->i", gaps, gaps)
    return squares
