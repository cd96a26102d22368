"""The one IoU and the one matcher: which detection found which object, for a whole data set at once.

Three ways of matching, all greedy by score, equal scores in file order:

- `voc`: a detection goes to the object of its own class with the largest IoU; it is correct iff that IoU reaches the
  bar and no detection with a higher score went there.
- `coco`: a detection goes to the object with the largest IoU among those of its class that are still free.
- `agnostic`: a detection goes to the object with the largest IoU whatever its class; only then the class is asked for.

Difficult objects and crowds are neither to be found nor wrong to find: a detection on one is `ignored`.
"""

from dataclasses import dataclass

import numpy as np

from openset.detection.read.coco import Bools, Detections, Floats, GroundTruth, Ints
from openset.errors import check_choice, check_share

MATCHINGS = ("voc", "coco", "agnostic")
_PAIRS_AT_ONCE = 1 << 17  # bounds the memory, and fits the cache


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Every pair of a detection and an object of the same image that touch, ordered by detection, then by object."""

    detection: Ints
    object: Ints
    iou: Floats
    """Intersection over union; for a crowd, intersection over the area of the detection, as COCO has it."""
    n_detections: int

    def best(self, which: Bools) -> Ints:
        """Per detection the pair with the largest IoU among `which` (a mask), or -1; of equal ones the first."""
        best = np.full(self.n_detections, -1, dtype=np.int64)
        chosen = np.flatnonzero(which)
        winners = chosen[_largest(self.detection[chosen], self.iou[chosen])]
        best[self.detection[winners]] = winners
        return best


@dataclass(frozen=True, eq=False)
class Matches:
    """What became of each detection."""

    object: Ints
    """The object it goes to, or -1."""
    iou: Floats
    correct: Bools
    duplicate: Bools
    """Its object was already found by a detection with a higher score."""
    ignored: Bools
    """Neither correct nor wrong."""


def overlaps(truth: GroundTruth, found: Detections) -> Overlaps:
    """All pairs of a detection and an object that touch."""
    by_image = np.argsort(truth.image, kind="stable")
    n_objects = np.bincount(truth.image, minlength=truth.n_images)
    first = np.cumsum(n_objects) - n_objects
    n_pairs = n_objects[found.image]
    ends = np.cumsum(n_pairs)
    cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]) if len(ends) else 0, _PAIRS_AT_ONCE), side="left")
    parts = []
    for start, stop in zip(cuts, np.append(cuts[1:], len(found)), strict=False):  # no pairs: no cuts
        count = n_pairs[start:stop]
        detection = np.repeat(np.arange(start, stop), count)
        within = np.arange(len(detection)) - np.repeat(np.cumsum(count) - count, count)
        objects = by_image.take(np.repeat(first[found.image[start:stop]], count) + within)
        # `take` gathers rows in half the time of an index, and this is most of the time of an evaluation.
        iou = _iou(found.box.take(detection, axis=0), truth.box.take(objects, axis=0), truth.crowd.take(objects))
        touch = np.flatnonzero(iou > 0)
        parts.append((detection[touch], objects[touch], iou[touch]))
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    detection, objects, iou = (np.concatenate(column) for column in zip(empty, *parts, strict=True))
    return Overlaps(detection, objects, iou, len(found))


def _iou(a: Floats, b: Floats, crowd: Bools) -> Floats:
    """IoU of boxes x, y, width, height, row by row; boxes without area overlap nothing."""
    width = np.minimum(a[:, 0] + a[:, 2], b[:, 0] + b[:, 2]) - np.maximum(a[:, 0], b[:, 0])
    height = np.minimum(a[:, 1] + a[:, 3], b[:, 1] + b[:, 3]) - np.maximum(a[:, 1], b[:, 1])
    both = np.maximum(width, 0) * np.maximum(height, 0)
    area = a[:, 2] * a[:, 3]
    union = np.where(crowd, area, area + b[:, 2] * b[:, 3] - both)
    return np.divide(both, union, out=np.zeros_like(both), where=union > 0)


def match(
    truth: GroundTruth,
    found: Detections,
    *,
    matching: str = "voc",
    iou: float = 0.5,
    pairs: Overlaps | None = None,
) -> Matches:
    """Match the detections of a data set to its objects.

    Args:
        truth: objects.
        found: detections on the same images and classes.
        matching: `voc`, `coco` or `agnostic`.
        iou: the bar for being correct.
        pairs: what `overlaps(truth, found)` gave, if it is there already.
    """
    check_choice("match", "matching", matching, MATCHINGS)
    check_share("match", "iou", iou)
    pairs = overlaps(truth, found) if pairs is None else pairs
    own = found.category[pairs.detection] == truth.category[pairs.object]
    crowd, ignore = truth.crowd[pairs.object], truth.ignore[pairs.object]
    reach = pairs.iou >= iou
    if matching == "coco":
        return _match_coco(truth, found, pairs, own, reach)
    best = pairs.best((own if matching == "voc" else np.ones_like(own)) & ~crowd)
    hit = _hit(best, own & reach)
    soft = hit & _hit(best, ignore)
    claim = np.flatnonzero(hit & ~soft)
    objects = pairs.object[best[claim]]
    order = np.lexsort((-found.score[claim], objects))
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.diff(objects[order]) != 0
    correct = np.zeros(len(found), dtype=bool)
    correct[claim[order[first]]] = True
    in_crowd = np.zeros(len(found), dtype=bool)
    in_crowd[pairs.detection[own & reach & crowd]] = True
    soft |= in_crowd & ~hit
    return _matches(pairs, best, correct, hit & ~soft & ~correct, soft)


def _hit(best: Ints, which: Bools) -> Bools:
    """Whether a detection's best pair is one of `which`."""
    hit = np.zeros(len(best), dtype=bool)
    has = best >= 0
    hit[has] = which[best[has]]
    return hit


def _matches(pairs: Overlaps, best: Ints, correct: Bools, duplicate: Bools, ignored: Bools) -> Matches:
    has = best >= 0
    objects, iou = np.full(len(best), -1, dtype=np.int64), np.zeros(len(best))
    objects[has], iou[has] = pairs.object[best[has]], pairs.iou[best[has]]
    return Matches(objects, iou, correct, duplicate, ignored)


def highest_per_image(found: Detections, n: int) -> Detections:
    """The `n` detections of each image and class with the highest scores, as COCO's maxDets (100 there) keeps them."""
    return found.select(np.flatnonzero(_rank_in_image(found, np.arange(len(found))) < n))


def _rank_in_image(found: Detections, rows: Ints) -> Ints:
    """Place of each detection among those of its image and class, by falling score, file order for ties."""
    image, category = found.image[rows], found.category[rows]
    order = np.lexsort((-found.score[rows], category, image))
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (np.diff(image[order]) != 0) | (np.diff(category[order]) != 0)
    starts = np.flatnonzero(new)
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    return rank


def _match_coco(truth: GroundTruth, found: Detections, pairs: Overlaps, own: Bools, reach: Bools) -> Matches:
    """Objects to find are served first; what is left over may go to difficult objects and crowds."""
    crowd, soft_object = truth.crowd[pairs.object], (truth.ignore | truth.crowd)[pairs.object]
    taken = _take_free(pairs, found, own & reach & ~soft_object, truth.crowd)
    correct = taken >= 0
    left_over = own & reach & soft_object & ~correct[pairs.detection]
    ignored = _take_free(pairs, found, left_over, truth.crowd) >= 0
    best = np.where(correct, taken, pairs.best(own & ~crowd))
    duplicate = _hit(best, reach & ~soft_object) & ~correct & ~ignored
    return _matches(pairs, best, correct, duplicate, ignored)


def _take_free(pairs: Overlaps, found: Detections, candidates: Bools, reusable: Bools) -> Ints:
    """COCO's greedy choice: round k serves the k-th best detection of every image and class at the same time.

    Only detections of one image and class compete for an object, so one round serves them all, and there are as many
    rounds as some image has detections of one class that reach an object.
    """
    taken = np.full(pairs.n_detections, -1, dtype=np.int64)
    chosen = np.flatnonzero(candidates)
    rows, where = np.unique(pairs.detection[chosen], return_inverse=True)
    rank = _rank_in_image(found, rows)[where]
    chosen = chosen[np.argsort(rank, kind="stable")]
    used = np.zeros(len(reusable), dtype=bool)
    stops = np.cumsum(np.bincount(rank, minlength=1))
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        free = chosen[start:stop]
        free = free[~used[pairs.object[free]]]
        winners = free[_largest(pairs.detection[free], pairs.iou[free], last=True)]  # COCO: of equal ones the last
        taken[pairs.detection[winners]] = winners
        used[pairs.object[winners]] = ~reusable[pairs.object[winners]]
    return taken


def _largest(detection: Ints, iou: Floats, *, last: bool = False) -> Ints:
    """Row of the largest IoU of each detection; rows of one detection are adjacent."""
    if not len(detection):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.diff(detection, prepend=-1))
    top = np.repeat(np.maximum.reduceat(iou, starts), np.diff(starts, append=len(detection)))
    rows = np.flatnonzero(iou == top)
    change = np.diff(detection[rows]) != 0
    return rows[np.append(change, True) if last else np.append(True, change)]
