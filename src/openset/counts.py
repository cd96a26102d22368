"""The one sort: cumulative counts over distinct thresholds. How ties are treated is decided here and nowhere else.

A sample is accepted at threshold `t` iff `unknown_score <= t`, so samples with equal scores are always accepted
together. Everything the package reports is read off the counts at the distinct scores, preceded by `t = -inf`,
where nothing is accepted. Counts are plain sums, so the counts of two parts of a data set add up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset.errors import OpenSetError, check_choice, check_share

NEGATIVE = -1
UNKNOWN = -2
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Ties = Literal["half", "strict", "full"]

_CHUNK = 1 << 15  # samples handled at once by the packed sort: small enough for the cache


# ---- checking what the user gave -------------------------------------------------------------------------------


def as_ints(name: str, values: ArrayLike) -> Ints:
    """`values` as a one-dimensional integer array; whole floats are allowed, anything else is an error."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise OpenSetError(f"'{name}' must have one dimension, got shape {array.shape}.")
    if array.size == 0:
        raise OpenSetError(f"'{name}' is empty: there are no samples to evaluate.")
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.round(array))
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
        if n_classes is not None and largest >= n_classes:
            row = int(np.argmax(values >= n_classes))
            raise OpenSetError(
                f"{name} {values[row]} in {where(row)} is out of range: "
                f"there are {n_classes} known classes, 0 to {n_classes - 1}."
            )
    return largest + 1 if n_classes is None else n_classes


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
    mask = (labels < 0) & (names == against)
    if not mask.any():
        present = sorted({str(name) for name in np.unique(names[labels < 0])} - {""})
        check_choice("against", "against", against, ["all", "negative", "unknown", *present])
    return mask


# ---- the sort --------------------------------------------------------------------------------------------------


def _ordered_bits(score: Floats) -> NDArray[np.int64]:
    """Signed integers in the same order as the (finite) scores; equal scores, also -0.0 and 0.0, get equal integers."""
    word = np.int32 if score.dtype == np.float32 else np.int64
    bits: NDArray[Any] = (score + score.dtype.type(0)).view(word)  # adding zero turns -0.0 into 0.0
    bits ^= (bits >> (8 * bits.itemsize - 1)) & np.iinfo(word).max
    return bits.astype(np.int64, copy=False)


def argsort(score: Floats) -> NDArray[np.int64]:
    """Stable ascending order of finite scores, several times faster than a stable `np.argsort`.

    Score and row number are packed into one 64-bit integer and sorted by value, for which NumPy has vector
    instructions. A float64 does not fit beside its row number; where the bits that were cut matter, a second
    sort of the then almost sorted scores repairs the order.
    """
    width = max(len(score) - 1, 1).bit_length()
    rows = np.arange(len(score), dtype=np.int64)
    key = _ordered_bits(score)
    if score.dtype == np.float32:
        key = key << width
        exact = width <= 32
    else:
        key &= ~((1 << width) - 1)
        exact = False
    key |= rows
    key.sort()
    key &= (1 << width) - 1
    if not exact:
        ordered = score[key]
        if (ordered[1:] < ordered[:-1]).any():
            key = key[np.argsort(ordered, kind="stable")]
    return key


@dataclass(frozen=True)
class Ranking:
    """The samples of one evaluation in ascending order of unknown score (most surely known first)."""

    score: Floats
    label: Ints
    prediction: Ints | None
    n_classes: int
    order: NDArray[np.int64]
    """Row of the input that stands at each place."""

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """Place of the last sample of each distinct score."""
        last = np.empty(len(self.score), dtype=np.bool_)
        np.not_equal(self.score[1:], self.score[:-1], out=last[:-1])
        last[-1] = True
        return np.flatnonzero(last)

    @cached_property
    def thresholds(self) -> Floats:
        """-inf, then every distinct score."""
        start = np.full(1, -np.inf, dtype=self.score.dtype)
        return np.concatenate((start, self.score[self.ends]))

    @cached_property
    def known(self) -> Bools:
        """Which samples have a known class."""
        return self.label >= 0

    @cached_property
    def right(self) -> Bools:
        """Which samples are known and predicted as their own class."""
        if self.prediction is None:
            return self.known
        return self.label == self.prediction

    @cached_property
    def by_prediction(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places grouped by predicted class (in score order within a class), and where each class begins."""
        assert self.prediction is not None
        grouped = np.argsort(self.prediction, kind="stable")
        sizes = np.bincount(self.prediction, minlength=self.n_classes)
        return grouped, np.concatenate(([0], np.cumsum(sizes)[:-1]))

    def only(self, chosen: Bools) -> "Ranking":
        """The samples for which `chosen` (in this order) holds, without sorting again."""
        if chosen.all():
            return self
        prediction = None if self.prediction is None else self.prediction[chosen]
        return Ranking(self.score[chosen], self.label[chosen], prediction, self.n_classes, self.order[chosen])


def rank(
    labels: ArrayLike,
    predictions: ArrayLike | None,
    unknown_score: ArrayLike,
    *,
    n_classes: int | None = None,
) -> Ranking:
    """Check the input and sort it, once."""
    label = as_ints("labels", labels)
    prediction = None if predictions is None else as_ints("predictions", predictions)
    score = as_scores("unknown_score", unknown_score)
    check_lengths(labels=label, predictions=prediction, unknown_score=score)
    check_labels(label)
    check_finite(score)
    n_classes = resolve_classes(label, prediction, n_classes)
    narrow: type[np.signedinteger[Any]] = np.int16 if n_classes < 2**15 else np.int64
    order = argsort(score)
    return Ranking(
        score=score[order],
        label=np.asarray(label, dtype=narrow)[order],
        prediction=None if prediction is None else np.asarray(prediction, dtype=narrow)[order],
        n_classes=n_classes,
        order=order,
    )


# ---- counts ----------------------------------------------------------------------------------------------------


def _as_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take away the last digit by which a sum of rounded shares can pass 0 or 1."""
    return np.clip(values, 0.0, 1.0, out=values)


@dataclass(frozen=True)
class Counts:
    """How many samples of each kind are accepted at every threshold of a ranking.

    All arrays run along `thresholds`, from -inf (nothing accepted) to the largest score (all accepted). `weights`
    counts each sample that many times (in the ranking's order), which is how a bootstrap resample is evaluated.
    """

    ranking: Ranking
    weights: NDArray[np.float64] | None = None
    zero_division: float = 0.0

    @property
    def thresholds(self) -> Floats:
        """-inf, then every distinct score."""
        return self.ranking.thresholds

    @property
    def n_classes(self) -> int:
        """K."""
        return self.ranking.n_classes

    def _accumulate(self, amount: NDArray[Any]) -> NDArray[Any]:
        """Running total of `amount` (per sample) at each threshold."""
        running = np.cumsum(amount, dtype=np.int64 if amount.dtype.kind == "b" else np.float64)
        ends = self.ranking.ends
        out = np.empty(len(ends) + 1, dtype=running.dtype)
        out[0] = 0
        out[1:] = running if len(ends) == len(running) else running[ends]
        return out

    def _count(self, which: Bools) -> NDArray[Any]:
        return self._accumulate(which if self.weights is None else which * self.weights)

    @cached_property
    def known(self) -> NDArray[Any]:
        """Accepted knowns."""
        return self._count(self.ranking.known)

    @cached_property
    def right(self) -> NDArray[Any]:
        """Knowns that are accepted and predicted as their own class."""
        return self._count(self.ranking.right)

    @cached_property
    def open(self) -> NDArray[Any]:
        """Accepted open-set samples."""
        return self._count(~self.ranking.known)

    @property
    def n_known(self) -> float:
        """All knowns."""
        return float(self.known[-1])

    @property
    def n_open(self) -> float:
        """All open-set samples."""
        return float(self.open[-1])

    @cached_property
    def fpr(self) -> NDArray[np.float64]:
        """Share of open-set samples accepted."""
        return self.open / self.n_open

    @cached_property
    def acceptance(self) -> NDArray[np.float64]:
        """Share of knowns accepted."""
        return self.known / self.n_known

    @cached_property
    def ccr(self) -> NDArray[np.float64]:
        """Share of knowns accepted and right."""
        return self.right / self.n_known

    @cached_property
    def _class_totals(self) -> NDArray[np.float64]:
        ranking = self.ranking
        weights = None if self.weights is None else self.weights[ranking.known]
        totals = np.bincount(ranking.label[ranking.known], weights=weights, minlength=ranking.n_classes)
        return totals.astype(np.float64)

    def _ratio_sum(self, which: Bools, class_of: Ints, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over classes of (accepted samples in `which` of that class) / (fixed total of that class)."""
        share = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        amount = np.where(which, share[np.where(which, class_of, 0)], 0.0)
        if self.weights is not None:
            amount *= self.weights
        return self._accumulate(amount)

    @cached_property
    def macro_recall(self) -> NDArray[np.float64]:
        """Mean over the K classes of the share accepted and right: the class-balanced CCR."""
        totals = self._class_totals
        empty = np.count_nonzero(totals == 0) * self.zero_division
        found = self._ratio_sum(self.ranking.right, self.ranking.label, totals)
        return _as_share((found + empty) / self.n_classes)

    @cached_property
    def macro_specificity(self) -> NDArray[np.float64]:
        """Mean over the K classes of TN / (TN + FP), one class against everything else."""
        ranking = self.ranking
        assert ranking.prediction is not None
        others = self.n_known + self.n_open - self._class_totals
        empty = np.count_nonzero(others == 0) * self.zero_division
        lost = self._ratio_sum(~ranking.right, ranking.prediction, others)
        return _as_share((np.count_nonzero(others) - lost + empty) / self.n_classes)

    @cached_property
    def macro_precision(self) -> NDArray[np.float64]:
        """Mean over the K classes of TP / (TP + FP).

        Accepting one more sample changes the precision of its predicted class alone, so the running sum of those
        changes, put back into score order, is the sum over classes at every threshold: O(n log n), any K.
        """
        ranking = self.ranking
        grouped, begins = ranking.by_prediction
        weight = None if self.weights is None else self.weights[grouped]
        right = ranking.right[grouped]
        hits = np.cumsum(right if weight is None else right * weight, dtype=np.float64)
        taken = np.arange(1.0, len(grouped) + 1) if weight is None else np.cumsum(weight)
        sizes = np.diff(begins, append=len(grouped))
        hits -= np.repeat(np.where(begins > 0, hits[begins - 1], 0.0), sizes)  # start at zero in each class
        taken -= np.repeat(np.where(begins > 0, taken[begins - 1], 0.0), sizes)
        precision = np.divide(hits, taken, out=np.full_like(hits, self.zero_division), where=taken > 0)
        change = np.empty_like(precision)
        change[0] = precision[0]
        np.subtract(precision[1:], precision[:-1], out=change[1:])
        starts = begins[sizes > 0]
        change[starts] = precision[starts] - self.zero_division
        in_score_order = np.empty_like(change)
        in_score_order[grouped] = change
        return _as_share(self._accumulate(in_score_order) / self.n_classes + self.zero_division)

    def at(self, threshold: float) -> int:
        """Index of the counts that hold at any threshold a user names."""
        if np.isnan(threshold):
            raise OpenSetError("The threshold is not a number (NaN).")
        return int(np.searchsorted(self.thresholds, threshold, side="right")) - 1


def count(
    labels: ArrayLike,
    predictions: ArrayLike | None,
    unknown_score: ArrayLike,
    against: str = "all",
    groups: ArrayLike | None = None,
    n_classes: int | None = None,
    zero_division: float = 0.0,
) -> Counts:
    """Check, sort, select and count: the way every metric starts."""
    ranking = rank(labels, predictions, unknown_score, n_classes=n_classes)
    return count_ranking(ranking, against=against, groups=groups, zero_division=zero_division)


def count_ranking(
    ranking: Ranking, *, against: str = "all", groups: ArrayLike | None = None, zero_division: float = 0.0
) -> Counts:
    """Counts of the knowns and the open-set samples that `against` names, from a sort that is already done."""
    check_share("count", "zero_division", zero_division, zero=True)
    if against != "all":
        if groups is not None:
            check_lengths(labels=ranking.label, groups=np.asarray(groups))
            groups = np.asarray(groups)[ranking.order]
        ranking = ranking.only(ranking.known | open_mask(ranking.label, against, groups))
    counts = Counts(ranking, zero_division=zero_division)
    require_both(counts.n_known, counts.n_open, against)
    return counts


# ---- counting ranked pairs without an order ----------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """Pairs of a right known and an open-set sample, by which of the two has the higher unknown score."""

    higher: int
    """Open-set sample strictly higher."""
    tied: int
    n_known: int
    n_open: int

    def share(self, ties: Ties) -> float:
        """Share of all (known, open-set) pairs that are right and ranked higher, ties as asked for."""
        credit = {"strict": 0, "half": 1, "full": 2}[ties]
        return (2 * self.higher + credit * self.tied) / (2 * self.n_known * self.n_open)


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

    Each score becomes an integer whose lowest bit says whether the sample is an open-set sample (0) or a right known
    (1); samples that do not take part move to the top. After the sort an open-set sample's place is the number of
    right knowns and open-set samples strictly below it, or tied open-set ones: no row numbers are needed.
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
    places = np.arange(_CHUNK, dtype=np.int32)
    tied = 0
    for start in range(0, len(keys), _CHUNK):
        part = keys[start : start + _CHUNK + 1]  # one more, to see ties across the border
        known = (part[:_CHUNK] & 1).astype(np.int32, copy=False)
        n_before -= int((known * places[: len(known)]).sum(dtype=np.int32)) + start * int(known.sum(dtype=np.int32))
        border = (part[1:] ^ part[:-1]) == 1  # sorted, so this is an open-set sample before a right known, tied
        if border.any():
            tied += _tied_pairs(keys, start + np.flatnonzero(border))
    return Pairs(n_before, tied, n_known, n_open)


def _tied_pairs(keys: NDArray[Any], borders: NDArray[np.intp]) -> int:
    """Tied pairs around each border, the place of an open-set sample that stands before a tied right known."""
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
    for start in range(0, len(score), _CHUNK):
        stop = start + _CHUNK
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
        if key.max() > span:
            return None
        if key.min() < 1:
            if np.count_nonzero(key < 1) != np.count_nonzero(score[start:stop] == 0):
                return None
            np.maximum(key, 0, out=key)  # zero stays zero
        key *= 2 - 4 * (bits < 0).view(np.int8)  # twice the signed magnitude
        key += right
        out_of_play = known ^ right  # wrong knowns
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
        higher=int(np.dot(steps, counts.right[:-1])),
        tied=int(np.dot(steps, np.diff(counts.right))),
        n_known=int(counts.n_known),
        n_open=int(counts.n_open),
    )
