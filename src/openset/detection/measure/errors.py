"""What kind of mistakes a detector makes at an operating point, and what it takes unknown objects for.

Every accepted detection has one kind, the first of `KINDS` that fits. On known images: correct; localisation (its
own class, IoU at least .1, but too loose or found twice); similar class; other class; then, on known and wild
images, unknown unknown (IoU at least .1 with an annotated unknown object) and mixed unknown (IoU below .1 with
everything that is annotated). On wild images without annotations the last two cannot be told apart: not annotated.
Detections that are ignored have no kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openset.detection.measure.matching import Matches, Overlaps, overlaps
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Bools, Detections, Floats, GroundTruth, Ints

KINDS = (
    "correct",
    "localisation",
    "similar class",
    "other class",
    "unknown unknown",
    "mixed unknown",
    "not annotated",
)
NEAR = 0.1
"""IoU from which a detection is about an object at all (Hoiem et al.)."""
_LEFT_OUT = -1


@dataclass(frozen=True)
class Errors:
    """Detections by kind, in the order of `KINDS`, at one set of thresholds."""

    recall: float | None
    """Of the operating point; None at frozen thresholds."""
    ratio: float
    """Wilderness ratio of `open_set`."""
    closed_set: tuple[int, ...]
    """On the known images alone."""
    open_set: tuple[int, ...]
    """With the wild images."""
    n_annotated: int
    """Wild images at `ratio` that have annotations: unknown unknown and mixed unknown are told apart on these alone."""
    per_class: dict[str, tuple[int, ...]]
    """`open_set` for each class that is detected."""

    @staticmethod
    def percent(counts: Sequence[int]) -> tuple[float, ...]:
        """Percent of detections, as the paper's bars show."""
        total = sum(counts)
        return tuple(100 * n / total if total else 0.0 for n in counts)


@dataclass(frozen=True)
class Confusion:
    """Accepted detections by the class they claim (rows) and the object they are on (columns)."""

    recall: float | None
    ratio: float
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    """Known classes, then annotated unknown ones."""
    n_known: int
    """How many of the columns are known classes."""
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Overview:
    """Each detection's kind and the object it is about, whatever its score; thresholds then only select."""

    known_kind: Ints
    known_object_class: Ints
    """Column of the confusion matrix, or -1."""
    wild_kind: Ints
    wild_object_class: Ints
    n_annotated: int


def diagnose(
    data: OpenSetData, matches: Matches, similar: Bools, *, pairs: Overlaps, wild_pairs: Overlaps, reference_n: int
) -> Overview:
    """Kinds and objects of all detections on the known images and on the first `reference_n` wild images."""
    known, found = data.known, data.known_found
    near = pairs.iou >= NEAR
    detected, shown = found.category[pairs.detection], known.category[pairs.object]
    own = detected == shown
    kind = np.full(len(found), KINDS.index("mixed unknown"))
    unknown_pairs = overlaps(data.unknown_on_known, found)
    _mark(kind, unknown_pairs.detection[unknown_pairs.iou >= NEAR], "unknown unknown")
    _mark(kind, pairs.detection[near & ~own], "other class")
    _mark(kind, pairs.detection[near & similar[detected, shown]], "similar class")
    _mark(kind, pairs.detection[near & own], "localisation")
    kind[matches.duplicate] = KINDS.index("localisation")
    kind[matches.correct] = KINDS.index("correct")
    kind[matches.ignored] = _LEFT_OUT

    n_known, n_wild = known.n_classes, data.wild.n_classes
    column, iou = _object_class(pairs, known)
    unknown_column, unknown_iou = _object_class(unknown_pairs, data.unknown_on_known, n_known + n_wild)
    column = np.where(unknown_iou > iou, unknown_column, column)
    column[matches.correct] = found.category[matches.correct]

    wild_kind = np.full(len(data.wild_found), KINDS.index("mixed unknown"))
    _mark(wild_kind, wild_pairs.detection[wild_pairs.iou >= NEAR], "unknown unknown")
    annotated = data.wild_annotated
    wild_kind[~annotated[data.wild_found.image]] = KINDS.index("not annotated")
    wild_kind[data.wild_found.image >= reference_n] = _LEFT_OUT
    wild_column = _object_class(wild_pairs, data.wild, n_known)[0]
    return Overview(kind, column, wild_kind, wild_column, int(annotated[:reference_n].sum()))


def _mark(kind: Ints, detections: Ints, name: str) -> None:
    kind[detections] = KINDS.index(name)


def nearest(pairs: Overlaps, truth: GroundTruth) -> Ints:
    """The pair of each detection with the object of the largest IoU, -1 if that is below `NEAR`.

    Crowds are no objects, and what their pairs hold is the fraction of the detection inside, which is no IoU.
    """
    return pairs.best((pairs.iou >= NEAR) & ~truth.crowd[pairs.object])


def _object_class(pairs: Overlaps, truth: GroundTruth, first: int = 0) -> tuple[Ints, Floats]:
    """Class of the nearest object of each detection, counted from `first`, or -1, and the IoU."""
    best = nearest(pairs, truth)
    has = best >= 0
    column, iou = np.full(len(best), -1, dtype=np.int64), np.zeros(len(best))
    column[has], iou[has] = first + truth.category[pairs.object[best[has]]], pairs.iou[best[has]]
    return column, iou


def count_errors(
    data: OpenSetData, overview: Overview, thresholds: Floats, recall: float | None, ratio: float
) -> Errors:
    """Kinds of the detections that the thresholds accept."""
    known = _by_class(data.known_found, overview.known_kind, thresholds)
    both = known + _by_class(data.wild_found, overview.wild_kind, thresholds)
    names = data.known.class_names
    return Errors(
        recall=recall,
        ratio=ratio,
        closed_set=tuple(known.sum(axis=0).tolist()),
        open_set=tuple(both.sum(axis=0).tolist()),
        n_annotated=overview.n_annotated,
        per_class={names[c]: tuple(both[c].tolist()) for c in np.flatnonzero(np.isfinite(thresholds))},
    )


def _by_class(found: Detections, kind: Ints, thresholds: Floats) -> Ints:
    """Accepted detections per class and kind."""
    accepted = (found.score >= thresholds[found.category]) & (kind != _LEFT_OUT)
    cells = found.category[accepted] * len(KINDS) + kind[accepted]
    return np.bincount(cells, minlength=len(thresholds) * len(KINDS)).reshape(len(thresholds), len(KINDS))


def confusion(
    data: OpenSetData, overview: Overview, thresholds: Floats, recall: float | None, ratio: float
) -> Confusion:
    """Accepted detections by claimed class and nearest object; a correct one belongs to the object it found."""
    columns = (*data.known.class_names, *data.wild.class_names, *data.unknown_on_known.class_names)
    counts = np.zeros(len(thresholds) * len(columns), dtype=np.int64)
    for found, kind, column in (
        (data.known_found, overview.known_kind, overview.known_object_class),
        (data.wild_found, overview.wild_kind, overview.wild_object_class),
    ):
        use = (found.score >= thresholds[found.category]) & (kind != _LEFT_OUT) & (column >= 0)
        counts += np.bincount(found.category[use] * len(columns) + column[use], minlength=len(counts))
    table = counts.reshape(len(thresholds), len(columns))
    return Confusion(
        recall=recall,
        ratio=ratio,
        rows=data.known.class_names,
        columns=columns,
        n_known=data.known.n_classes,
        counts=tuple(tuple(row) for row in table.tolist()),
    )
