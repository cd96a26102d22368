"""Every metric of a detector by name: what JSON, CSV files and the release gate read."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from openset.detection.measure.rates import Estimate

if TYPE_CHECKING:
    from openset.detection.measure.result import OpenSetEvaluation

NAMES = {
    "map": "mean average precision on the known images (kind=voc_11_point, all_point or coco_101_point)",
    "map_wild": "the same with wild images added",
    "recall": "objects found, of all",
    "worst_recall": "objects found, of the class that is found least",
    "precision": "accepted detections on known images that are correct",
    "precision_open": "the same when every known image comes with one wild image",
    "fp_per_1000": "accepted detections per 1,000 wild images, all false",
    "awi": "average Wilderness Impact (variant=paper, macro or official)",
    "slope": "Wilderness Impact per unit of wilderness ratio",
    "unreached": "classes that do not reach the recall, or of which nothing is found",
    "untested": "classes without an object to find, whose detections on wild images are not counted at a recall",
    "silent": "wild images without a detection, if so many that their results are probably missing",
    "n_known": "known images",
    "n_wild": "wild images",
    "owod_wi": "OWOD's WI, which is not the Wilderness Impact",
    "a_ose": "OWOD's absolute open-set error",
    "u_recall": "OWOD's recall of unknown objects",
}
"""Metrics that a bar can be set for."""


@dataclass(frozen=True)
class MetricValue:
    """One metric of a detector; `params` tell it from others of that name."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    against: str = "wild"
    """`wild` if it depends on the wild images, else `known`."""

    def as_json(self) -> dict[str, Any]:
        """The form in which every command writes a metric."""
        content = asdict(self)
        return {key: content[key] for key in ("name", "params", "against", "value", "low", "high")}


def metric_values(result: "OpenSetEvaluation") -> Iterator[MetricValue]:
    """All metrics of a result."""
    means = result.mean_average_precision
    for kind in means.known:
        params = {"kind": kind, "iou": means.iou}
        yield MetricValue("map", means.known[kind], params=params, against="known")
        yield MetricValue("map_wild", means.wild[kind], params={**params, "ratio": means.ratio})
    for point in result.operating:
        at = {} if point.recall is None else {"recall": point.recall}
        total = point.total
        yield _estimate("recall", total.recall, at, "known")
        yield MetricValue("worst_recall", point.worst_recall, params=at, against="known")
        yield _estimate("precision", total.precision, at, "known")
        yield _estimate("precision_open", total.precision_open, at)
        yield _estimate("fp_per_1000", total.fp_per_1000, at)
        yield MetricValue("unreached", len(point.unreached), params=at, against="known")
        yield MetricValue("untested", len(point.untested), params=at)
    for recall in result.lost_recalls:
        n = sum(row.n_objects > 0 for row in result.operating[0].classes.values())
        yield MetricValue("unreached", n, params={"recall": recall}, against="known")
    for row in result.wilderness:
        params = {"variant": row.variant} | ({} if row.recall is None else {"recall": row.recall})
        yield MetricValue("awi", row.awi, row.awi_low, row.awi_high, params)
        yield MetricValue("slope", row.slope, params=params)
    yield MetricValue("silent", result.silence.wild if result.silence.suspicious else 0)
    yield MetricValue("n_known", result.n_known, against="known")
    yield MetricValue("n_wild", result.n_wild)
    for name, value in (("owod_wi", result.owod.wi), ("a_ose", result.owod.a_ose), ("u_recall", result.owod.u_recall)):
        yield MetricValue(name, value)


def _estimate(name: str, estimate: Estimate, params: Mapping[str, Any], against: str = "wild") -> MetricValue:
    return MetricValue(name, *estimate, params=params, against=against)
