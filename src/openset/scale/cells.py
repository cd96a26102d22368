"""Cells for resamples from ranges of scores: the same ones that all rows in memory would give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import Cells
from openset._core.kinds import OpenKind
from openset._core.sorting import scores_of_keys

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CellPieces:
    """The cells of a range; the last one may go on in the next range."""

    counts: Ints
    """(pieces, kinds, K)."""
    lowest: NDArray[Any]
    highest: NDArray[Any]
    """Keys of the first and the last sample of each piece."""
    goes_on: bool


def cut_cells(keys: NDArray[Any], entries: Ints, below: int, passed: Ints, table: Callable[[Ints], Ints]) -> CellPieces:
    """Divide a range where cells end: after the last of tied samples, when so many have been `passed` or more.

    `below`: samples in lower ranges; `table` counts entries by kind and class.
    """
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))
    here = passed[(passed > below) & (passed <= below + len(keys))] - below
    last = np.unique(ends[np.searchsorted(ends, here - 1)])
    goes_on = not len(last) or last[-1] < len(keys) - 1
    if goes_on:
        last = np.append(last, len(keys) - 1)
    first = np.append(0, last[:-1] + 1)
    counts = np.stack(
        [table(entries[start:stop]) for start, stop in zip(first.tolist(), (last + 1).tolist(), strict=True)]
    )
    return CellPieces(counts, keys[first], keys[last], goes_on)


def join_cells(pieces: Sequence[CellPieces | None], kinds: tuple[OpenKind, ...], class_totals: Ints) -> Cells:
    """Put the pieces of all ranges together."""
    counts: list[Ints] = []
    tied: list[tuple[Any, Any]] = []
    open_end = False
    for one in pieces:
        if one is None:
            continue
        for place, table in enumerate(one.counts):
            if place == 0 and open_end:
                counts[-1] = counts[-1] + table
                tied[-1] = tied[-1][0], one.highest[0]
            else:
                counts.append(table)
                tied.append((one.lowest[place], one.highest[place]))
        open_end = one.goes_on
    tops = scores_of_keys(np.array([high for _, high in tied]))
    return Cells(np.stack(counts), kinds, class_totals, np.array([low == high for low, high in tied]), tops)
