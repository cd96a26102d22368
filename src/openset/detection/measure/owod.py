"""Metrics of open-world object detection (OWOD), under their own names: its "WI" is not the Wilderness Impact.

OWOD takes, per class, the detection at which the recall is nearest to .8, counts up to there the detections that
overlap an annotated unknown by more than .5, and divides by all detections up to there. All its metrics ask what is
annotated, so wild images without annotations take no part, and without any annotated unknown nothing is defined.
"""

from dataclasses import dataclass, replace

import numpy as np

from openset.detection.measure.matching import Matches, Overlaps, match, overlaps
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Bools, Detections, GroundTruth

_ABOVE_HALF = float(np.nextafter(0.5, 1))
"""The smallest IoU that OWOD accepts: more than one half."""


@dataclass(frozen=True)
class Owod:
    """OWOD's metrics over the known images and the annotated wild images."""

    wi: float | None
    """Detections on annotated unknowns per detection, at the recall nearest to `recall`; None without either."""
    recall: float
    a_ose: int | None
    """Absolute open-set error: detections of a known class on an annotated unknown, at any score; None if there is no
    annotated unknown."""
    u_recall: float | None
    """Fraction of annotated unknowns that the detector finds as "unknown", each detection at most one of them; None if
    it has no such class or there is no annotated unknown."""
    n_unknown: int
    """Annotated unknowns."""
    n_annotated: int
    """Wild images that take part because they have annotations."""
    inclusive_pixels: bool = False
    """Whether the last pixel belongs to a box, as in OWOD's program: one is added to each width and height."""


def owod(
    data: OpenSetData,
    matches: Matches,
    *,
    recall: float = 0.8,
    wild_pairs: Overlaps | None = None,
    inclusive_pixels: bool = False,
    matching: str = "voc",
    iou: float = 0.5,
) -> Owod:
    """OWOD's WI, A-OSE and U-Recall (IoU above .5 throughout).

    `wild_pairs` is what `overlaps(data.wild, data.wild_found)` gave, if it is there already. With `inclusive_pixels`
    the known images are matched again, by `matching` and the bar `iou`.
    """
    if inclusive_pixels:
        data, wild_pairs = _widened(data), None
        matches = match(data.known, data.known_found, matching=matching, iou=iou)
    annotated = data.wild_annotated
    n_annotated = int(annotated.sum())
    n_unknown = int(data.unknown_on_known.counted.sum() + data.wild.counted.sum())
    if not n_unknown:
        return Owod(None, recall, None, None, 0, n_annotated, inclusive_pixels)
    wild_pairs = overlaps(data.wild, data.wild_found) if wild_pairs is None else wild_pairs
    on_unknown = np.concatenate(
        [
            _touches(data.unknown_on_known, overlaps(data.unknown_on_known, data.known_found)),
            _touches(data.wild, wild_pairs),
        ]
    )
    takes_part = np.concatenate([np.ones(len(data.known_found), dtype=bool), annotated[data.wild_found.image]])
    category = np.concatenate([data.known_found.category, data.wild_found.category])
    score = np.concatenate([data.known_found.score, data.wild_found.score])
    correct = np.concatenate([matches.correct, np.zeros(len(data.wild_found), dtype=bool)])
    counts = np.concatenate([~matches.ignored, np.ones(len(data.wild_found), dtype=bool)])
    n_open = n_all = 0
    for c, n_objects in enumerate(data.known.n_objects):
        rows = np.flatnonzero((category == c) & takes_part)
        if not n_objects or not len(rows):
            continue
        rows = rows[np.argsort(-score[rows], kind="stable")]
        place = int(np.argmin(np.abs(np.cumsum(correct[rows]) / n_objects - recall)))
        n_open += int(on_unknown[rows[: place + 1]].sum())
        n_all += int(counts[rows[: place + 1]].sum())
    u_recall = None
    if data.has_unknown_class:
        found = _found(data.unknown_on_known, data.refused_known) + _found(data.wild, data.refused_wild)
        u_recall = found / n_unknown
    return Owod(
        wi=n_open / n_all if n_all else None,
        recall=recall,
        a_ose=int(on_unknown.sum()),
        u_recall=u_recall,
        n_unknown=n_unknown,
        n_annotated=n_annotated,
        inclusive_pixels=inclusive_pixels,
    )


def _touches(truth: GroundTruth, pairs: Overlaps) -> Bools:
    """Detections with an IoU above .5 to some object that is not a crowd."""
    hit = np.zeros(pairs.n_detections, dtype=bool)
    hit[pairs.detection[(pairs.iou >= _ABOVE_HALF) & ~truth.crowd[pairs.object]]] = True
    return hit


def _found(truth: GroundTruth, refused: Detections) -> int:
    """Objects that detections of "unknown" find, whatever class the annotation gives them: one each, as in VOC."""
    one_class = replace(truth, category=np.zeros_like(truth.category), class_ids=(0,), class_names=("unknown",))
    refused = replace(refused, category=np.zeros_like(refused.category))
    return int(match(one_class, refused, matching="voc", iou=_ABOVE_HALF).correct.sum())


def _widened(data: OpenSetData) -> OpenSetData:
    """The same data with one pixel more in each width and height."""
    more = np.array([0.0, 0.0, 1.0, 1.0])
    names = ("known", "known_found", "wild", "wild_found", "unknown_on_known", "refused_known", "refused_wild")
    parts = {name: getattr(data, name) for name in names}
    return replace(data, **{name: replace(part, box=part.box + more) for name, part in parts.items()})
