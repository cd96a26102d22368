"""Pairs of a known and an open-set sample, counted by sorting values alone: the fast way to AUROC and OpenAUC."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core import sorting
from openset._core.arithmetic import dot
from openset._core.checks import (
    UNKNOWN,
    Bools,
    Floats,
    Ints,
    as_ints,
    as_scores,
    check_lengths,
    open_mask,
    require_both,
)
from openset._core.counts import Counts, count
from openset._core.decisions import Ties, area, tie_credit


@dataclass(frozen=True)
class Pairs:
    """Pairs of a correct known and an open-set sample, by which of the two has the higher unknown score."""

    higher: int
    """Open-set sample strictly higher."""
    tied: int
    n_known: int
    n_open: int

    def share(self, ties: Ties) -> float:
        """Fraction of all (known, open-set) pairs that are correct and ranked higher, ties as asked for."""
        return (2 * self.higher + tie_credit("share", ties) * self.tied) / (2 * self.n_known * self.n_open)


def rank_pairs(
    labels: ArrayLike,
    predictions: ArrayLike | None,
    unknown_score: ArrayLike,
    *,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
) -> Pairs:
    """Count the pairs behind AUROC and OpenAUC by sorting values only, about as fast as `np.sort` of the scores.

    Each score becomes an integer whose lowest bit says whether the sample is an open-set sample (0) or a correct known
    (1); samples that do not take part move to the top. After the sort an open-set sample's place is the number of
    correct knowns and open-set samples strictly below it, or tied open-set ones: no row numbers are needed.
    """
    label = as_ints("labels", labels)
    prediction = None if predictions is None else as_ints("predictions", predictions)
    score = as_scores("unknown_score", unknown_score)
    check_lengths(labels=label, predictions=prediction, unknown_score=score)
    chosen = None if against == "all" else open_mask(label, against, groups)
    packed = _pack(label, prediction, score, chosen, n_classes)
    if packed is None:  # bad input, which `count` explains, or scores beyond 2**64, which it can handle
        return _pairs_of_counts(count(label, prediction, score, against, groups, n_classes))
    keys, n_known, n_open = packed
    require_both(n_known, n_open, against)
    keys.sort()
    n_before = len(keys) * (len(keys) - 1) // 2 - n_open * (n_open - 1) // 2
    places = np.arange(sorting.CHUNK, dtype=np.int32)
    tied = 0
    for start in range(0, len(keys), sorting.CHUNK):
        part = keys[start : start + sorting.CHUNK + 1]  # one more, to see ties across the border
        known = (part[: sorting.CHUNK] & 1).astype(np.int32, copy=False)
        n_before -= int((known * places[: len(known)]).sum(dtype=np.int32)) + start * int(known.sum(dtype=np.int32))
        border = (part[1:] ^ part[:-1]) == 1  # sorted, so this is an open-set sample before a correct known, tied
        if border.any():
            tied += _tied_pairs(keys, start + np.flatnonzero(border))
    return Pairs(n_before, tied, n_known, n_open)


def _tied_pairs(keys: NDArray[Any], borders: NDArray[np.intp]) -> int:
    """Tied pairs around each border, the place of an open-set sample that comes before a tied correct known."""
    longer = keys[borders - 1] == keys[borders]  # more than one of either kind: rare, so looked up only then
    longer |= keys.take(borders + 2, mode="clip") == keys[borders + 1]
    value = keys[borders[longer]]
    n_open = borders[longer] + 1 - np.searchsorted(keys, value, side="left")
    n_right = np.searchsorted(keys, value + 1, side="right") - borders[longer] - 1
    return len(borders) - len(value) + int(np.dot(n_open, n_right))


def _pack(
    label: Ints, prediction: Ints | None, score: Floats, chosen: Bools | None, n_classes: int | None
) -> tuple[NDArray[Any], int, int] | None:
    """Sortable keys with the kind of sample in the lowest bit, and the numbers of knowns and open-set samples.

    None if a label, prediction or score is not valid, or if a score's magnitude lies outside 2**-64 .. 2**64
    (float64: 2**-512 .. 2**512): inside, magnitude, sign and kind fit into one word.
    """
    word = np.int32 if score.dtype == np.float32 else np.int64
    mantissa, octaves = (23, 64) if word is np.int32 else (52, 512)
    bias = octaves * 2 - 1
    smallest = (bias - octaves) << mantissa  # bits of 2**-octaves
    span = (2 * octaves) << mantissa
    keys: NDArray[Any] = np.empty(len(score), dtype=word)
    bits_of: NDArray[Any] = score.view(word) if score.flags.c_contiguous else np.ascontiguousarray(score).view(word)
    n_known = n_open = 0
    for start in range(0, len(score), sorting.CHUNK):
        stop = start + sorting.CHUNK
        part, bits, key = label[start:stop], bits_of[start:stop], keys[start:stop]
        known = part >= 0
        if part.min() < UNKNOWN or (n_classes is not None and part.max() >= n_classes):
            return None
        if prediction is None:
            right = known
        else:
            guess = prediction[start:stop]
            if guess.min() < 0 or (n_classes is not None and guess.max() >= n_classes):
                return None
            right = guess == part
        np.bitwise_and(bits, np.iinfo(word).max, out=key)  # the magnitude
        key -= smallest - 1
        if key.max() > span - 2:  # twice that, and one more, must stay below the mark of what is out of play
            return None
        if key.min() < 1:
            if np.count_nonzero(key < 1) != np.count_nonzero(score[start:stop] == 0):
                return None
            np.maximum(key, 0, out=key)  # zero stays zero
        key *= 2 - 4 * (bits < 0).view(np.int8)  # twice the signed magnitude
        key += right
        out_of_play = known ^ right  # misclassified knowns
        n_here = int(np.count_nonzero(known))
        n_known += n_here
        if chosen is None:
            n_open += len(key) - n_here
        else:
            n_open += int(np.count_nonzero(chosen[start:stop]))
            out_of_play |= ~(known | chosen[start:stop])
        # Move them to the top, as a masked store would, but faster: the smallest word minus one wraps to the largest.
        np.maximum(key, np.subtract(np.iinfo(word).min, out_of_play, dtype=word), out=key)
    return keys, n_known, n_open


def _pairs_of_counts(counts: Counts) -> Pairs:
    steps = np.diff(counts.open)
    return Pairs(
        higher=int(area(steps, counts.right, 0)),
        tied=int(dot(steps, np.diff(counts.right))),
        n_known=int(counts.n_known),
        n_open=int(counts.n_open),
    )
