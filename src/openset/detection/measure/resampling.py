"""Drawing images anew: known images and wild images each with replacement, thresholds chosen each time.

A draw is a set of weights, how often each image was drawn, so nothing is matched or sorted again. Draws depend on the
seed and the numbers of images only: two detectors on the same images get the same draws and can be compared pair by
pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.detection.measure.ranking import Ranked, needed
from openset.detection.measure.sets import Levels, OpenSetData
from openset.detection.read.coco import Bools, Detections, Floats, GroundTruth, Ints
from openset.errors import OpenSetError


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Wild images that nobody asked about, how often one of them was drawn, and what tells which."""

    images: Ints
    n: int
    seed: tuple[int, int]

    def drawn(self) -> Ints:
        """Which they were."""
        return (
            self.images.take(_random(self.seed).integers(len(self.images), size=self.n)) if self.n else self.images[:0]
        )


@dataclass(frozen=True, eq=False)
class Draw:
    """How often each known image was drawn, and which wild image came at each place."""

    known: Floats
    wild: Ints
    """Without those that were left out."""
    left_out: LeftOut | None = None

    @property
    def n_wild(self) -> int:
        """As many wild images are drawn as there are."""
        return len(self.wild) + (0 if self.left_out is None else self.left_out.n)

    @property
    def wild_times(self) -> Ints:
        """How often each wild image was drawn."""
        return np.bincount(self.wild, minlength=self.n_wild)

    def whole(self) -> "Draw":
        """The draw with what was left out."""
        return self if self.left_out is None else Draw(self.known, np.append(self.wild, self.left_out.drawn()))


@dataclass(frozen=True, eq=False)
class Counts:
    """What each class (last axis) does at each operating point (first axis).

    A class that does not reach a recall in a draw accepts all its detections there: it comes as near as it can.
    """

    defined: Bools
    """Classes with an object in the draw."""
    true: Floats
    """TPc; not a number where it was not asked for."""
    accepted: Floats
    """TPc + FPc."""
    open: Floats
    """FPo on all wild images."""


def check_draws(n: int, seed: int) -> None:
    """Numbers that draws can be made with."""
    for name, value in (("bootstrap", n), ("seed", seed)):
        if value < 0:
            raise OpenSetError(f"bootstrap over images: '{name}' must be 0 or more, got {value}.")


def draws(n_known: int, n_wild: int, n: int, seed: int, *, among: Ints | None = None) -> Iterator[Draw]:
    """As many draws of images as there are, with replacement.

    With `among`, only what these wild images are drawn is told: how many of all places they take is binomial, and so
    is what is left out. Where few wild images have a detection that can matter, this is most of the time of a draw.
    """
    check_draws(n, seed)
    random = _random((seed,))
    others = None if among is None else np.setdiff1d(np.arange(n_wild), among)
    for i in range(n):
        known = np.bincount(random.integers(n_known, size=n_known, dtype=np.int32), minlength=n_known)
        if among is None or others is None:
            yield Draw(known.astype(np.float64), random.integers(n_wild, size=n_wild, dtype=np.int32))
            continue
        size = int(random.binomial(n_wild, len(among) / n_wild)) if len(among) else 0
        wild = among.take(random.integers(len(among), size=size, dtype=np.int32)) if size else among[:0]
        yield Draw(known.astype(np.float64), wild, LeftOut(others, n_wild - size, (seed, i)))


def _random(seed: tuple[int, ...]) -> np.random.Generator:
    """A generator that takes half the time of the default one, and drawing is a good part of an interval's."""
    return np.random.Generator(np.random.SFC64(list(seed)))


# ---- counts --------------------------------------------------------------------------------------------------------


class AtRecalls:
    """Counts at per-class thresholds that reach given recalls in the very draw.

    Running sums over all detections would take most of the time. Sums over blocks of correct detections tell in which
    block a recall is reached, only that block is looked into, and all else is sums between the thresholds found.
    """

    def __init__(
        self,
        data: OpenSetData,
        ranked: Ranked,
        recalls: Sequence[float],
        *,
        count_true: bool = True,
        whole: bool = False,
    ) -> None:
        self._data, self._all, self._recalls, self._count_true = data, ranked, list(recalls), count_true
        self._rising = np.argsort(self._recalls, kind="stable")
        # Far below the thresholds of the data themselves no draw has one, so only the upper part is looked at.
        ranked = self._ranked = ranked if whole else _upper_part(ranked, max(recalls))
        self._cut = np.diff(ranked.starts) < np.diff(self._all.starts)
        n_known, n_wild = data.known.n_images, data.wild.n_images
        image = data.known_found.image[ranked.rows]
        self._image = np.append(image, n_known)  # behind the last one an image of weight 0, for sums of nothing
        true = np.flatnonzero(ranked.correct)
        self._true_image = np.append(image[true], np.full(_BLOCK, n_known))
        self._true_starts = np.searchsorted(true, ranked.starts)
        self._true_stop = ranked.tie_end[true] + 1
        self._n_true = np.concatenate([[0], np.cumsum(ranked.correct)])
        self._blocks, self._first_block = _blocks(self._true_starts)
        self._object_image, self._object_edges = _objects_by_class(data.known)
        self._wild_image, self._wild_starts, self._n_wild = _accepted_with(ranked, data.wild_found)
        self._wild_image = np.append(self._wild_image, n_wild)
        self._wanted = np.array(self._recalls)[self._rising][:, None]
        self._needed_for = needed(np.arange(2 * int(self._all.n_objects.max()) + 100), self._wanted)
        self._back = np.argsort(self._rising)

    @property
    def wild_images(self) -> Ints:
        """Those with a detection that can matter."""
        return np.unique(self._wild_image[:-1])

    def __call__(self, draw: Draw) -> Counts:
        """Count in one draw."""
        known, wild = np.append(draw.known, 0.0), np.bincount(draw.wild, minlength=draw.n_wild + 1)
        n_objects = _sums(known.take(self._object_image), self._object_edges)
        weight = known.take(self._true_image)
        place = self._places(weight, self._needed(n_objects))
        reached = place < self._true_starts[1:]
        if (~reached & self._cut & (n_objects > 0)).any():
            return AtRecalls(self._data, self._all, self._recalls, count_true=self._count_true, whole=True)(
                draw.whole()
            )
        begin, end = self._ranked.starts[:-1], self._ranked.starts[1:]
        stop = np.broadcast_to(end, place.shape).copy()
        stop[reached] = self._true_stop[place[reached]]
        n_wild = np.where(stop > begin, self._n_wild[np.maximum(stop - 1, 0)], self._wild_starts[:-1])
        true = np.full(place.shape, np.nan)
        if self._count_true:
            true = _from_start(weight, self._true_starts, self._n_true[stop])[self._back]
        return Counts(
            n_objects > 0,
            true,
            _from_start(known.take(self._image), self._ranked.starts, stop)[self._back],
            _from_start(wild.take(self._wild_image), self._wild_starts, n_wild)[self._back],
        )

    def _needed(self, n_objects: Floats) -> Ints:
        """How many correct detections (columns: of each class) reach each recall, from a table where it goes so far."""
        if n_objects.max() < self._needed_for.shape[1]:
            return self._needed_for.take(n_objects.astype(np.intp), axis=1)
        return needed(n_objects, self._wanted)

    def _places(self, weight: Floats, wanted: Ints) -> Ints:
        """The correct detection (columns: of each class) with which a number of them is reached, or the class's end."""
        total = np.concatenate([[0.0], np.cumsum(_sums(weight, self._blocks))])
        target = total[self._first_block[:-1]] + wanted
        block = np.searchsorted(total[1:], target.ravel(), side="left").reshape(target.shape)
        place = np.broadcast_to(self._true_starts[1:], target.shape).copy()
        inside = block < self._first_block[1:]
        first = self._blocks[block[inside]]
        running = np.cumsum(weight[first[:, None] + np.arange(_BLOCK)], axis=1)
        rest = target[inside] - total[block[inside]]
        place[inside] = first + (running < rest[:, None]).sum(axis=1)
        return place


class AtThresholds:
    """Counts at given thresholds, one row for each set of them."""

    def __init__(self, data: OpenSetData, ranked: Ranked, thresholds: Sequence[Floats]) -> None:
        self._n = ranked.n_classes
        self._object_image, self._object_edges = _objects_by_class(data.known)
        category = data.known_found.category[ranked.rows]
        known = [np.flatnonzero(ranked.score >= one[category]) for one in thresholds]
        self._accepted = [(category[rows], data.known_found.image[ranked.rows[rows]]) for rows in known]
        right = [rows[ranked.correct[rows]] for rows in known]
        self._true = [(category[rows], data.known_found.image[ranked.rows[rows]]) for rows in right]
        wild = data.wild_found
        opened = [np.flatnonzero(wild.score >= one[wild.category]) for one in thresholds]
        self._open = [(wild.category[rows], wild.image[rows]) for rows in opened]

    def __call__(self, draw: Draw) -> Counts:
        """Count in one draw."""
        times = draw.wild_times
        n_objects = _sums(np.append(draw.known, 0.0)[self._object_image], self._object_edges)
        return Counts(
            n_objects > 0,
            self._count(self._true, draw.known),
            self._count(self._accepted, draw.known),
            self._count(self._open, times),
        )

    def _count(self, parts: Sequence[tuple[Ints, Ints]], times: Floats | Ints) -> Floats:
        return np.array([np.bincount(label, weights=times[image], minlength=self._n) for label, image in parts])


_BLOCK = 32


def _blocks(starts: Ints) -> tuple[Ints, Ints]:
    """Edges of blocks that end with their class, and the first block of each class (and one more for the end)."""
    sizes = -(-np.diff(starts) // _BLOCK)
    first = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    return np.append(np.repeat(starts[:-1], sizes) + _BLOCK * within, starts[-1]), first


def _sums(values: NDArray[Any], edges: Ints) -> NDArray[Any]:
    """Sums between neighbouring edges; `values` has one more entry than the last edge counts."""
    out = np.add.reduceat(values, edges)[:-1]
    out[edges[1:] == edges[:-1]] = 0  # where `reduceat` gives the entry itself
    return out


def _from_start(values: Floats | Ints, starts: Ints, stops: Ints) -> Floats:
    """Sums from the start of each class (columns) to stops that rise from row to row."""
    edges = np.concatenate([starts[None, :-1], stops]).T.ravel()
    parts = _sums(values, np.append(edges, starts[-1])).reshape(len(starts) - 1, -1)
    return np.asarray(np.cumsum(parts[:, :-1], axis=1, dtype=np.float64).T)


def _objects_by_class(truth: GroundTruth) -> tuple[Ints, Ints]:
    """Images of the objects to find, class after class, then an image that is none, and where classes begin."""
    counted = np.flatnonzero(truth.counted)
    counted = counted[np.argsort(truth.category[counted], kind="stable")]
    edges = np.searchsorted(truth.category[counted], np.arange(truth.n_classes + 1))
    return np.append(truth.image[counted], truth.n_images), edges


def _running(values: Floats | Ints) -> Floats:
    """Sums of the first 0, 1, 2 ... values."""
    out = np.empty(len(values) + 1)
    out[0] = 0.0
    np.cumsum(values, out=out[1:])
    return out


def _upper_part(ranked: Ranked, recall: float) -> Ranked:
    """The highest detections of each class: as many correct ones as a draw may need, and those among them."""
    total = np.concatenate([[0], np.cumsum(ranked.correct)])
    enough = needed(ranked.n_objects, recall)
    with np.errstate(over="ignore"):
        enough = enough + np.ceil(6 * np.sqrt(np.minimum(enough, 10**9))).astype(np.int64) + 10
    stop = np.searchsorted(total[1:], total[ranked.starts[:-1]] + enough, side="left") + 1
    stop = np.minimum(stop, ranked.starts[1:])
    if len(ranked.score):
        stop = np.where(stop > ranked.starts[:-1], ranked.tie_end[np.maximum(stop - 1, 0)] + 1, stop)
    rows = np.concatenate([np.arange(begin, end) for begin, end in zip(ranked.starts[:-1], stop, strict=True)])
    sizes = stop - ranked.starts[:-1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Ranked(ranked.rows[rows], ranked.score[rows], ranked.correct[rows], starts, ranked.n_objects)


def _accepted_with(ranked: Ranked, wild: Detections) -> tuple[Ints, Ints, Ints]:
    """Images of wild detections by class and falling score; where classes begin; how many come up to each threshold.

    The last is given for each ranked detection, counted from the beginning of all: wild detections with a score of at
    least its own. What no ranked detection reaches down to is left out.
    """
    lowest = np.full(ranked.n_classes, np.inf)
    has = np.diff(ranked.starts) > 0
    lowest[has] = ranked.score[ranked.starts[1:][has] - 1]
    rows = np.flatnonzero(wild.score >= lowest[wild.category])
    rows = rows[np.lexsort((-wild.score[rows], wild.category[rows]))]
    starts = np.searchsorted(wild.category[rows], np.arange(ranked.n_classes + 1))
    n_wild = np.empty(len(ranked.score), dtype=np.int64)
    for (begin, end), (first, last) in zip(pairwise(ranked.starts), pairwise(starts), strict=True):
        own = -wild.score[rows[first:last]]
        n_wild[begin:end] = first + np.searchsorted(own, -ranked.score[begin:end], side="right")
    return wild.image[rows], starts, n_wild


# ---- interpolated precision ----------------------------------------------------------------------------------------


class Interpolated:
    """Interpolated precision of each class with weighted images, as the `official` variant and AP have it.

    Which wild detection precedes which correct one never changes, so a sparse table (correct detections x wild images)
    holds all that a draw needs.
    """

    def __init__(self, data: OpenSetData, ranked: Ranked, recalls: Sequence[float], levels: Levels | None) -> None:
        self._ranked, self._recalls = ranked, np.array(recalls)
        self._image = data.known_found.image[ranked.rows]
        self._true = np.flatnonzero(ranked.correct)
        self._starts = np.searchsorted(self._true, ranked.starts)
        self._object_image, self._object_edges = _objects_by_class(data.known)
        self._n_wild = None if levels is None else levels.n_wild
        if levels is not None:
            self._before = _wild_before(ranked.score[self._true], self._starts, data.wild_found, data.wild.n_images)

    def precision(self, draw: Draw) -> tuple[Floats, Floats, Floats]:
        """Interpolated precision at each correct detection (columns: no wild images, then levels), weights, objects."""
        sizes = np.diff(self._starts)
        weights = draw.known[self._image]
        taken = _running(weights)
        n_known = taken[self._true + 1] - np.repeat(taken[self._ranked.starts[:-1]], sizes)
        own = weights[self._true]
        total = _running(own)
        n_found = total[1:] - np.repeat(total[self._starts[:-1]], sizes)
        count = n_known[:, None]
        if self._n_wild is not None:
            n_levels, n_images = len(self._n_wild), len(draw.wild)
            level = np.searchsorted(self._n_wild, np.arange(n_images), side="right")
            inside = level < n_levels
            cells = draw.wild[inside] * n_levels + level[inside]
            times = np.bincount(cells, minlength=n_images * n_levels).reshape(n_images, n_levels)
            above = np.cumsum(self._before @ np.cumsum(times, axis=1), axis=0)
            base = np.concatenate([np.zeros((1, n_levels)), above])[self._starts[:-1]]
            above = above - np.repeat(base, sizes, axis=0)
            count = np.concatenate([count, count + above], axis=1)
        precision = np.divide(n_found[:, None], count, out=np.zeros(count.shape), where=count > 0)
        for begin, end in pairwise(self._starts):
            precision[begin:end] = np.maximum.accumulate(precision[begin:end][::-1])[::-1]
        n_objects = _sums(np.append(draw.known, 0.0)[self._object_image], self._object_edges)
        return precision, own, n_objects

    def at_recalls(self, draw: Draw) -> Floats:
        """Precision by recall, class and column; NaN for classes without an object in the draw.

        A class that does not reach a recall there has the precision of its last correct detection, or 0 without any.
        """
        precision, own, n_objects = self.precision(draw)
        total = _running(own)
        begin, end = self._starts[:-1], self._starts[1:]
        wanted = total[begin] + needed(n_objects, self._recalls[:, None])
        place = np.searchsorted(total[1:], wanted.ravel(), side="left").reshape(wanted.shape)
        place = np.minimum(place, end - 1)
        out = np.zeros((*wanted.shape, precision.shape[1]))
        some = np.broadcast_to(end > begin, place.shape)
        out[some] = precision[place[some]]
        out[:, n_objects == 0] = np.nan
        return out

    def average(self, draw: Draw) -> Floats:
        """All-point average precision of each class on the known images; NaN for classes without objects."""
        precision, own, n_objects = self.precision(draw)
        area = _running(own * precision[:, 0])
        found = area[self._starts[1:]] - area[self._starts[:-1]]
        return np.divide(found, n_objects, out=np.full(len(found), np.nan), where=n_objects > 0)


def _wild_before(score: Floats, starts: Ints, wild: Detections, n_images: int) -> Any:
    """A sparse table: wild detections (by image) that come directly before each correct detection of their class."""
    from scipy.sparse import csr_matrix

    place = np.empty(len(wild), dtype=np.int64)
    for c, (begin, end) in enumerate(pairwise(starts)):
        own = np.flatnonzero(wild.category == c)
        place[own] = begin + np.searchsorted(-score[begin:end], -wild.score[own], side="right")
        place[own[place[own] == end]] = len(score)  # behind the last correct one: never counted
    inside = place < len(score)
    ones = np.ones(int(inside.sum()))
    return csr_matrix((ones, (place[inside], wild.image[inside])), shape=(len(score), n_images))
