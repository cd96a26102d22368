"""Figures of open-world object detection (OWOD), under their own names: its "WI" is not the Wilderness Impact.

OWOD takes, per class, the detection at which the recall is nearest to .8, counts up to there the detections that
overlap an annotated unknown by more than .5, and divides by all detections up to there, on all images.
"""

from dataclasses import dataclass

import numpy as np

from openset.detection.measure.matching import Matches, Overlaps, overlaps
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Bools, GroundTruth


@dataclass(frozen=True)
class Owod:
    """OWOD's figures over all known and wild images."""

    wi: float | None
    """Detections on annotated unknowns per detection, at the recall nearest to `recall`; None without detections."""
    recall: float
    a_ose: int
    """Absolute open-set error: detections of a known class on an annotated unknown, at any score."""
    u_recall: float | None
    """Share of annotated unknowns that the detector calls "unknown"; None if it has no such class or none is there."""
    n_unknown: int
    """Annotated unknowns."""


def owod(data: OpenSetData, matches: Matches, *, recall: float = 0.8, wild_pairs: Overlaps | None = None) -> Owod:
    """OWOD's WI, A-OSE and U-Recall (IoU above .5 throughout).

    `wild_pairs` is what `overlaps(data.wild, data.wild_found)` gave, if it is there already.
    """
    wild_pairs = overlaps(data.wild, data.wild_found) if wild_pairs is None else wild_pairs
    known_pairs = overlaps(data.unknown_on_known, data.known_found)
    on_unknown = np.concatenate([_touches(data.unknown_on_known, known_pairs), _touches(data.wild, wild_pairs)])
    category = np.concatenate([data.known_found.category, data.wild_found.category])
    score = np.concatenate([data.known_found.score, data.wild_found.score])
    n_wild = len(data.wild_found)
    correct = np.concatenate([matches.correct, np.zeros(n_wild, dtype=bool)])
    counts = np.concatenate([~matches.ignored, np.ones(n_wild, dtype=bool)])
    n_open = n_all = 0
    for c, n_objects in enumerate(data.known.n_objects):
        rows = np.flatnonzero(category == c)
        if not n_objects or not len(rows):
            continue
        rows = rows[np.argsort(-score[rows], kind="stable")]
        place = int(np.argmin(np.abs(np.cumsum(correct[rows]) / n_objects - recall)))
        n_open += int(on_unknown[rows[: place + 1]].sum())
        n_all += int(counts[rows[: place + 1]].sum())
    n_found = n_unknown = 0
    for truth, refused in ((data.unknown_on_known, data.refused_known), (data.wild, data.refused_wild)):
        pairs = overlaps(truth, refused)
        found = np.zeros(len(truth.image), dtype=bool)
        found[pairs.object[pairs.iou > 0.5]] = True
        n_found += int((found & truth.counted).sum())
        n_unknown += int(truth.counted.sum())
    return Owod(
        wi=n_open / n_all if n_all else None,
        recall=recall,
        a_ose=int(on_unknown.sum()),
        u_recall=n_found / n_unknown if data.has_unknown_class and n_unknown else None,
        n_unknown=n_unknown,
    )


def _touches(truth: GroundTruth, pairs: Overlaps) -> Bools:
    """Detections with an IoU above .5 to some object that is not a crowd."""
    hit = np.zeros(pairs.n_detections, dtype=bool)
    hit[pairs.detection[(pairs.iou > 0.5) & ~truth.crowd[pairs.object]]] = True
    return hit
