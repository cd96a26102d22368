"""Bins of scores: by the first bits of keys in the order of the scores, finer where there are more samples."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Floats
from openset._core.sorting import order_keys

_PREFIX = 16  # bits of a key that choose a row of the table of bins
_DEEPEST = 16  # further bits that can tell bins apart
BITS = 17
"""2**BITS bins would share the samples that the bins are fitted to."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Each value of the first 16 bits of a key is divided into 2**split bins by the bits that follow.

    `split` (2**16,) may be fitted to any scores: bins are correct for all others too, only more or less fine.
    `width`: 32 bits for float32, 64 for float64.
    """

    split: NDArray[np.uint8]
    width: int

    @classmethod
    def fitted(cls, score: Floats, bits: int = BITS) -> "Bins":
        """So that no bin has much more than one of 2**bits samples."""
        width = 8 * score.dtype.itemsize
        prefix = (order_keys(score) >> (width - _PREFIX)).astype(np.int64)
        share = np.bincount(prefix, minlength=1 << _PREFIX) / len(score)
        split = np.ceil(np.log2(np.maximum(share * (1 << bits), 1)))
        return cls(np.minimum(split, _DEEPEST).astype(np.uint8), width)

    @cached_property
    def first(self) -> NDArray[np.int32]:
        """Number of the first bin of each prefix."""
        sizes = np.left_shift(1, self.split.astype(np.int64))
        return np.asarray(np.cumsum(sizes) - sizes, dtype=np.int32)

    @cached_property
    def shift(self) -> NDArray[np.uint8]:
        """By how much the 16 bits after a prefix are shifted to give the bin."""
        return np.asarray(_DEEPEST - self.split)

    @property
    def n(self) -> int:
        """How many bins."""
        return int(self.first[-1] + (1 << int(self.split[-1])))

    def place(self, keys: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The bin of each key, and the bits after its prefix: equal in a bin only if the keys are."""
        if self.width == 32:
            prefix, rest = (keys >> 16).astype(np.uint16), keys.astype(np.uint16)
            inside: NDArray[Any] = rest
        else:
            prefix, rest = (keys >> 48).astype(np.uint16), keys & np.uint64((1 << 48) - 1)
            inside = (rest >> np.uint64(32)).astype(np.uint16)
        return self.first.take(prefix) + (inside >> self.shift.take(prefix)), rest

    def least_keys(self) -> NDArray[np.uint64]:
        """Smallest possible key of each bin."""
        prefix = np.repeat(np.arange(1 << _PREFIX, dtype=np.int64), np.left_shift(1, self.split.astype(np.int64)))
        inside = (np.arange(self.n) - self.first[prefix]) << self.shift[prefix].astype(np.int64)
        keys = (prefix << _PREFIX | inside).astype(np.uint64)
        return keys if self.width == 32 else keys << np.uint64(32)
