"""What a page shows besides: curves over all thresholds, and average precision the way COCO reports it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from openset.detection.measure.matching import highest_per_image, match, overlaps
from openset.detection.measure.ranking import Ranked, average_precision, precision_table, rank
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Bools, Floats

_POINTS = 200
_IOUS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_SIZES = {"small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, np.inf)}
"""Areas in pixels, as COCO divides them."""
MAX_DETECTIONS = 100
"""Of an image and class, as COCO keeps them."""


@dataclass(frozen=True)
class Curves:
    """One threshold for all classes, from the highest to the lowest score: what it gives."""

    threshold: tuple[float, ...]
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    precision_open: tuple[float, ...]
    """When every known image comes with one wild image."""
    fp_per_1000: tuple[float, ...]


@dataclass(frozen=True)
class CocoPrecision:
    """COCO's average precision on the known images: 101 points, coco matching, at most 100 detections per class."""

    by_iou: dict[str, float]
    """At IoU .5, .55 .. .95."""
    by_size: dict[str, float | None]
    """Mean over these IoUs for small, medium and large objects; None where there are none."""

    @property
    def mean(self) -> float:
        """AP .5:.95."""
        return sum(self.by_iou.values()) / len(self.by_iou)


@dataclass(frozen=True)
class Details:
    """Curves and COCO's average precision."""

    curves: Curves
    coco: CocoPrecision

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        coco = {"ap_50_95": self.coco.mean, **vars(self.coco)}
        return {"curves": dict(vars(self.curves)), "coco": coco}


def details_of(data: OpenSetData, ranked: Ranked) -> Details:
    """Both; `ranked` says which detections are correct for the curves."""
    return Details(curves(data, ranked), coco_precision(data))


def curves(data: OpenSetData, ranked: Ranked) -> Curves:
    """At most 200 thresholds, half of them evenly spread over scores, half over recall; equal ones go together."""
    order = np.argsort(-ranked.score, kind="stable")
    score, correct = ranked.score[order], ranked.correct[order]
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True)) if len(score) else np.zeros(0, dtype=np.int64)
    found = np.cumsum(correct)
    if len(last):
        by_score = np.linspace(0, len(last) - 1, _POINTS // 2).round().astype(np.int64)
        wanted = np.linspace(found[last[0]], found[last[-1]], _POINTS // 2)
        by_recall = np.searchsorted(found[last], wanted.round(), side="left")
        last = last[np.union1d(by_score, by_recall)]
    true, threshold = found[last], score[last]
    wild = np.sort(data.wild_found.score)
    n_open = len(wild) - np.searchsorted(wild, threshold, side="left")
    rate = n_open / max(data.wild.n_images, 1)
    accepted = last + 1
    return Curves(
        tuple(threshold.tolist()),
        tuple((true / max(int(ranked.n_objects.sum()), 1)).tolist()),
        tuple((true / accepted).tolist()),
        tuple((true / (accepted + rate * data.known.n_images)).tolist()),
        tuple((1000 * rate).tolist()),
    )


def coco_precision(data: OpenSetData) -> CocoPrecision:
    """Average precision over IoUs and sizes of objects."""
    found = highest_per_image(data.known_found, MAX_DETECTIONS)
    pairs = overlaps(data.known, found)
    area, own_area = (part.box[:, 2] * part.box[:, 3] for part in (data.known, found))
    by_iou = {}
    by_size: dict[str, list[float]] = {name: [] for name in _SIZES}
    for iou in _IOUS:
        by_iou[f"{iou:g}"] = _mean(data, found, pairs, iou, np.ones(len(area), dtype=bool), np.ones(len(found), bool))
        for name, (low, high) in _SIZES.items():
            inside = (area >= low) & (area < high)
            if (inside & data.known.counted).any():
                value = _mean(data, found, pairs, iou, inside, (own_area >= low) & (own_area < high))
                by_size[name].append(value)
    return CocoPrecision(by_iou, {name: float(np.mean(values)) if values else None for name, values in by_size.items()})


def _mean(data: OpenSetData, found: Any, pairs: Any, iou: float, objects: Bools, detections: Bools) -> float:
    """Mean AP where other objects are ignored, and so are detections of other sizes that find nothing."""
    truth = replace(data.known, ignore=data.known.ignore | ~objects)
    matches = match(truth, found, matching="coco", iou=iou, pairs=pairs)
    matches = replace(matches, ignored=matches.ignored | (~matches.correct & ~detections))
    ranked = rank(truth, found, matches)
    table = precision_table(ranked, data.wild_found, np.array([0]))
    values: Floats = average_precision(table)["coco_101_point"][ranked.n_objects > 0]
    return float(values.mean())
