"""The result of an open-set evaluation, which tables, pages, gates and JSON read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from openset.detection.measure.background import ObjectVersusBackground
from openset.detection.measure.details import Details
from openset.detection.measure.errors import KINDS, Confusion, Errors
from openset.detection.measure.operating import Operating
from openset.detection.measure.owod import Owod
from openset.detection.measure.sets import Silence
from openset.detection.measure.wilderness import Wilderness
from openset.results.provenance import provenance


@dataclass(frozen=True)
class MeanAveragePrecision:
    """Mean over the classes that have objects, interpolated precision throughout."""

    matching: str
    iou: float
    known: dict[str, float]
    """On the known images: VOC 11-point, all-point, COCO 101-point."""
    wild: dict[str, float]
    """The same with wild images added, the first ones in file order, at `ratio`."""
    ratio: float
    per_class: dict[str, float]
    """All-point average precision on the known images."""
    without_objects: tuple[str, ...]


@dataclass(frozen=True)
class OpenSetEvaluation:
    """The result; `to_json` gives the documented form."""

    mean_average_precision: MeanAveragePrecision
    operating: tuple[Operating, ...]
    """One for each recall that some class reaches, or one for the frozen thresholds."""
    wilderness: tuple[Wilderness, ...]
    errors: tuple[Errors, ...]
    confusion: Confusion
    owod: Owod
    background: dict[str, ObjectVersusBackground] | None
    n_known: int
    n_wild: int
    n_detections: tuple[int, int]
    lost_recalls: tuple[float, ...]
    """Recalls that were asked for and no class reaches."""
    silence: Silence
    """Images without any detection."""
    notes: tuple[str, ...]
    settings: dict[str, Any]
    files: dict[str, str]
    fingerprint: str
    """It changes when anything that is measured changes."""
    fingerprints: dict[str, str]
    """The same for each of `files`."""
    details: Details | None = None
    """Curves and COCO's average precision, if they were asked for."""

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, lists and names."""
        from openset.detection.metrics import metric_values

        content: dict[str, Any] = {
            "schema": 2,
            "images": {"known": self.n_known, "wild": self.n_wild},
            "detections": {"known": self.n_detections[0], "wild": self.n_detections[1]},
            "metrics": [one.as_json() for one in metric_values(self)],
            "notes": list(self.notes),
            "map": asdict(self.mean_average_precision),
            "operating": [row.as_json() for row in self.operating],
            "wilderness": [row.as_json() for row in self.wilderness],
            "errors": {"kinds": list(KINDS), "at": [asdict(row) for row in self.errors]},
            "confusion": asdict(self.confusion),
            "owod": asdict(self.owod),
            "lost_recalls": list(self.lost_recalls),
            "settings": self.settings,
            "files": self.files,
            "fingerprint": self.fingerprint,
            "fingerprints": self.fingerprints,
            "provenance": provenance("scipy"),
        }
        if self.details is not None:
            content["details"] = self.details.as_json()
        if self.background is not None:
            content["object_versus_background"] = {name: asdict(row) for name, row in self.background.items()}
        return content


def headline_place(recalls: Sequence[float | None]) -> int:
    """The operating point that verdict and confusion speak of: recall .3, or the first one without it."""
    return recalls.index(0.3) if 0.3 in recalls else 0
