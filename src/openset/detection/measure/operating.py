"""What thresholds give: recall, precision without and with wild images, and false detections on wild images.

Precision here is what the thresholds really give, not interpolated. All intervals are over images, at the thresholds
as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openset.detection.measure.ranking import Ranked
from openset.detection.measure.rates import Estimate, event_rate, fraction, open_precision
from openset.detection.measure.sets import OpenSetData
from openset.detection.read.coco import Floats, Ints

NOTHING = Estimate(None, None, None)


@dataclass(frozen=True)
class ClassPoint:
    """What a threshold gives for one class, or thresholds for all classes together."""

    threshold: float | None
    """Accept iff score >= threshold; None: there is no threshold, so nothing of this class is accepted."""
    n_objects: int
    n_true: int
    """Correct detections accepted on known images: TPc."""
    n_false: int
    """Others accepted there: FPc."""
    n_open: int
    """Accepted on wild images, all false: FPo."""
    recall: Estimate
    """None if there are no objects here."""
    precision: Estimate
    """On the known images; None if nothing is accepted."""
    precision_open: Estimate
    """When every known image comes with one wild image; None without wild images."""
    fp_per_1000: Estimate
    """Accepted detections per 1,000 wild images; None without wild images."""

    @property
    def n_missed(self) -> int:
        """Objects that are not found."""
        return self.n_objects - self.n_true

    def as_json(self) -> dict[str, Any]:
        """Plain numbers: every estimate as value, low and high."""
        return {key: value._asdict() if isinstance(value, Estimate) else value for key, value in vars(self).items()}


@dataclass(frozen=True)
class Operating:
    """A detector at one set of thresholds."""

    recall: float | None
    """The recall that the thresholds of each class were set to reach on these data; None for frozen thresholds."""
    total: ClassPoint
    """All classes that have a threshold together; objects of the others count as not found."""
    classes: Mapping[str, ClassPoint]
    unreached: tuple[str, ...]
    """Classes with objects that do not reach the recall; at frozen thresholds, those of which nothing is found."""
    untested: tuple[str, ...] = ()
    """Classes without an object to find, so without a threshold, whose detections on wild images are not counted."""

    @property
    def name(self) -> str:
        """`recall 0.3` or `frozen thresholds`."""
        return point_name(self.recall)

    @property
    def thresholds(self) -> dict[str, float]:
        """Of the classes that have one."""
        return {name: row.threshold for name, row in self.classes.items() if row.threshold is not None}

    @property
    def worst_recall(self) -> float:
        """Of the class, among those with objects, that is found least."""
        return min(row.recall.value for row in self.classes.values() if row.recall.value is not None)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, lists and names."""
        return {
            "recall": self.recall,
            "total": self.total.as_json(),
            "classes": {name: row.as_json() for name, row in self.classes.items()},
            "unreached": list(self.unreached),
            "untested": list(self.untested),
        }


def point_name(recall: float | None) -> str:
    """How an operating point is called.

    >>> point_name(0.3), point_name(None)
    ('recall 0.3', 'frozen thresholds')
    """
    return "frozen thresholds" if recall is None else f"recall {recall:g}"


def operate(data: OpenSetData, ranked: Ranked, thresholds: Floats, *, recall: float | None = None) -> Operating:
    """Everything about given thresholds, one for each class; an infinite one accepts nothing.

    With `recall`, they were set to reach it, and a class without one did not.
    """
    image, category = data.known_found.image[ranked.rows], data.known_found.category[ranked.rows]
    accepted = np.flatnonzero(ranked.score >= thresholds[category])
    true = accepted[ranked.correct[accepted]]
    wild, objects = data.wild_found, np.flatnonzero(data.known.counted)
    opened = np.flatnonzero(wild.score >= thresholds[wild.category])
    parts = (
        _by_class(data.known.image[objects], data.known.category[objects], ranked.n_classes),
        _by_class(image[true], category[true], ranked.n_classes),
        _by_class(image[accepted], category[accepted], ranked.n_classes),
        _by_class(wild.image[opened], wild.category[opened], ranked.n_classes),
    )
    n_known, n_wild = data.known.n_images, data.wild.n_images
    classes = {}
    for c, name in enumerate(data.known.class_names):
        own = float(thresholds[c]) if np.isfinite(thresholds[c]) else None
        classes[name] = _point(own, [part[c] for part in parts], n_known, n_wild)
    lost = [
        name
        for name, row in classes.items()
        if row.n_objects and (row.threshold is None if recall is not None else not row.n_true)
    ]
    claimed = np.bincount(wild.category, minlength=ranked.n_classes) > 0
    untested = [
        name
        for name, claims in zip(classes, claimed, strict=True)
        if recall is not None and claims and not classes[name].n_objects
    ]
    total = _point(None, [np.concatenate(part) for part in parts], n_known, n_wild)
    return Operating(recall, total, classes, tuple(lost), tuple(untested))


def _by_class(image: Ints, category: Ints, n_classes: int) -> list[Ints]:
    order = np.argsort(category, kind="stable")
    return np.split(image[order], np.searchsorted(category[order], np.arange(1, n_classes)))


def _point(threshold: float | None, images: Sequence[Ints], n_known: int, n_wild: int) -> ClassPoint:
    """From the images of objects, of correct detections, of accepted ones, and of those accepted on wild images."""
    objects, true, accepted, opened = images
    precision = _fraction(true, accepted)
    rate, with_wild = NOTHING, NOTHING
    if n_wild:
        rate = event_rate(np.unique(opened, return_counts=True)[1], n_wild)
        if len(true):
            scale = n_known / (1000 * len(true))
            with_wild = open_precision(precision, Estimate(*(scale * one for one in rate if one is not None)))
        elif len(accepted) or len(opened):
            with_wild = Estimate(0.0, 0.0, precision.high if len(accepted) else 1.0)
    return ClassPoint(
        threshold=threshold,
        n_objects=len(objects),
        n_true=len(true),
        n_false=len(accepted) - len(true),
        n_open=len(opened),
        recall=_fraction(true, objects),
        precision=precision,
        precision_open=with_wild,
        fp_per_1000=rate,
    )


def _fraction(hits: Ints, units: Ints) -> Estimate:
    """Hits per unit, both given by their images; every hit is a unit."""
    images, counts = np.unique(units, return_counts=True)
    found = np.bincount(np.searchsorted(images, hits), minlength=len(images))
    return fraction(found.astype(np.float64), counts.astype(np.float64))


def as_point(content: Mapping[str, Any]) -> ClassPoint:
    """What `ClassPoint.as_json` gave, read again."""
    fields: dict[str, Any] = {
        key: Estimate(**value) if isinstance(value, Mapping) else value for key, value in content.items()
    }
    return ClassPoint(**fields)
