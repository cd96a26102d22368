"""Detections by class and falling score: thresholds at a recall, and precision with any number of wild images added.

Two policies for equal scores, each where it belongs. A *threshold* accepts equal scores together (a detection is
accepted iff its score >= threshold). *Interpolated* precision (average precision, the `official` variant) goes
through the detections one by one, known images before wild ones, then in file order, as the public programs do.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset.detection.measure.matching import Matches, match
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Bools, Detections, Floats, GroundTruth, Ints


@dataclass(frozen=True, eq=False)
class Ranked:
    """The detections on known images that count (not ignored), by class, then by falling score."""

    rows: Ints
    """Which detections these are."""
    score: Floats
    correct: Bools
    starts: Ints
    """Where each class begins; one more entry for the end."""
    n_objects: Ints
    """Objects to find, per class."""

    @property
    def n_classes(self) -> int:
        """Known classes."""
        return len(self.n_objects)

    @cached_property
    def tie_end(self) -> Ints:
        """Last place with the same class and score as this one."""
        last = np.ones(len(self.score), dtype=bool)
        last[:-1] = self.score[1:] != self.score[:-1]
        ends = self.starts[1:]
        last[ends[ends > 0] - 1] = True
        places = np.flatnonzero(last)
        return places[np.searchsorted(places, np.arange(len(last)))]


def rank(truth: GroundTruth, found: Detections, matches: Matches) -> Ranked:
    """Sort the detections that count."""
    counts = np.flatnonzero(~matches.ignored)
    rows = counts[np.lexsort((-found.score[counts], found.category[counts]))]
    starts = np.searchsorted(found.category[rows], np.arange(truth.n_classes + 1))
    return Ranked(rows, found.score[rows], matches.correct[rows], starts, truth.n_objects)


def needed(n_objects: NDArray[Any], recall: float | Floats) -> Ints:
    """The smallest count k with k / n_objects >= recall, exactly as a division would decide; 0 objects need infinity.

    >>> needed(np.array([100, 10, 0]), 0.07)[:2]  # 0.07 * 100 is 7.000000000000001 in floating point, 7 / 100 is 0.07
    array([7, 1])
    """
    n = np.maximum(n_objects, 1)
    k = np.ceil(recall * n)
    k = np.where((k - 1) / n >= recall, k - 1, k)
    k = np.where(k / n < recall, k + 1, k)
    return np.where(np.asarray(n_objects) > 0, np.maximum(k, 1), np.iinfo(np.int64).max // 2).astype(np.int64)


def at_recall(ranked: Ranked, recall: float) -> Floats:
    """The highest threshold of each class at which its recall is reached; infinite where it is not.

    Accept iff score >= threshold, equal scores together.
    """
    total = np.concatenate([[0], np.cumsum(ranked.correct)])
    begin, end = ranked.starts[:-1], ranked.starts[1:]
    place = np.searchsorted(total[1:], total[begin] + needed(ranked.n_objects, recall), side="left")
    thresholds = np.full(len(begin), np.inf)
    reached = place < end
    thresholds[reached] = ranked.score[place[reached]]
    return thresholds


# ---- interpolated precision ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PrecisionTable:
    """Largest precision at this recall or more: one row per correct detection, one column per number of wild images."""

    values: Floats
    starts: Ints
    n_objects: Ints

    def at(self, recall: float) -> Floats:
        """Interpolated precision of each class (rows) for each column; 0 where the recall is not reached."""
        k = needed(self.n_objects, recall)
        place = self.starts[:-1] + k - 1
        inside = place < self.starts[1:]
        out = np.zeros((len(k), self.values.shape[1]))
        out[inside] = self.values[place[inside]]
        return out


def precision_table(ranked: Ranked, wild: Detections, levels: Ints) -> PrecisionTable:
    """Interpolated precision with the first `levels[i]` wild images added; every wild detection is false."""
    true = np.flatnonzero(ranked.correct)
    starts = np.searchsorted(true, ranked.starts)
    n_found = np.arange(1, len(true) + 1) - np.repeat(starts[:-1], np.diff(starts))
    n_known = true + 1 - np.repeat(ranked.starts[:-1], np.diff(starts))
    above = wild_above(ranked.score[true], starts, wild, levels, ties=False)
    precision = n_found[:, None] / (n_known[:, None] + above)
    for begin, end in pairwise(starts):
        precision[begin:end] = np.maximum.accumulate(precision[begin:end][::-1])[::-1]
    return PrecisionTable(precision, starts, ranked.n_objects)


def wild_above(score: Floats, starts: Ints, wild: Detections, levels: Ints, *, ties: bool) -> Ints:
    """For each ranked score and each level, the wild detections of its class with a higher score (`ties`: or equal)."""
    level = np.searchsorted(levels, wild.image, side="right")
    use = np.flatnonzero(level < len(levels))
    use = use[np.argsort(wild.category[use], kind="stable")]
    bounds = np.searchsorted(wild.category[use], np.arange(len(starts)))
    place = np.empty(len(use), dtype=np.int64)
    for c in range(len(starts) - 1):
        part = slice(bounds[c], bounds[c + 1])
        own = -score[starts[c] : starts[c + 1]]
        place[part] = starts[c] + np.searchsorted(own, -wild.score[use[part]], side="left" if ties else "right")
    inside = place < starts[wild.category[use] + 1]
    cells = place[inside] * len(levels) + level[use[inside]]
    counts = np.bincount(cells, minlength=len(score) * len(levels)).reshape(len(score), len(levels))
    above = np.cumsum(np.cumsum(counts, axis=0), axis=1)
    before = np.concatenate([np.zeros((1, len(levels)), dtype=np.int64), above])[starts[:-1]]
    return above - np.repeat(before, np.diff(starts), axis=0)


def average_precision(table: PrecisionTable) -> dict[str, Floats]:
    """Average precision of each class (rows) for each column, by the three usual rules.

    `voc_11_point`: mean of the interpolated precision at recalls 0, .1 .. 1. `all_point`: area under the interpolated
    curve. `coco_101_point`: its mean at recalls 0, .01 .. 1. Classes without objects get 0; leave them out of means.
    """
    n_classes = len(table.n_objects)
    area = np.concatenate([np.zeros((1, table.values.shape[1])), np.cumsum(table.values, axis=0)])
    per_object = 1 / np.maximum(table.n_objects, 1)
    return {
        "voc_11_point": sum((table.at(r) for r in np.arange(11) / 10), np.zeros((n_classes, 1))) / 11,
        "all_point": (area[table.starts[1:]] - area[table.starts[:-1]]) * per_object[:, None],
        "coco_101_point": sum((table.at(r) for r in np.linspace(0, 1, 101)), np.zeros((n_classes, 1))) / 101,
    }


def matched(data: OpenSetData, *, matching: str = "voc", iou: float = 0.5) -> tuple[Matches, Ranked]:
    """Match and sort the detections on the known images."""
    matches = match(data.known, data.known_found, matching=matching, iou=iou)
    return matches, rank(data.known, data.known_found, matches)
