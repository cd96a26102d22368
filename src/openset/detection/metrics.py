"""Every metric of a detector by name: what JSON, CSV files and the release gate read."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from openset.detection.measure.rates import Estimate

if TYPE_CHECKING:
    from openset.detection.measure.result import OpenSetEvaluation

MAP_KIND = "all_point"
"""Which mean average precision is meant where none is named, as in the verdict."""


@dataclass(frozen=True)
class DetectionMetric:
    """The card of a metric: what bars, tables, comparisons and files know of it."""

    meaning: str
    title: str = ""
    """What a table calls it; by default its name."""
    better: Literal["higher", "lower"] = "higher"
    digits: int = 3
    at_point: bool = False
    """Whether it belongs to an operating point."""
    passed_by_false_detections: bool = False
    """More false detections on known images improve it, so a bar on it needs one on a metric that notices these."""
    notices_false_detections: bool = False
    passed_by_finding_less: bool = False
    """At frozen thresholds lower scores improve it; a bar on it needs one on a metric that notices. Not at a recall."""
    notices_finding_less: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Which of several is meant where none is named."""
    drawn_interval: bool = False
    """Whether its interval needs draws of images (--bootstrap)."""


_KIND = {"kind": MAP_KIND}
METRICS: Mapping[str, DetectionMetric] = {
    "map": DetectionMetric(
        f"mean average precision on the known images (kind={MAP_KIND}, voc_11_point or coco_101_point)",
        "mAP", notices_false_detections=True, defaults=_KIND,
    ),
    "map_wild": DetectionMetric("the same with wild images added", "mAP, wild", defaults=_KIND),
    "recall": DetectionMetric("objects found, of all", at_point=True, notices_finding_less=True),
    "worst_recall": DetectionMetric(
        "objects found, of the class that is found least", at_point=True, notices_finding_less=True
    ),
    "precision": DetectionMetric(
        "accepted detections on known images that are correct", "precision",
        at_point=True, notices_false_detections=True, passed_by_finding_less=True,
    ),
    "precision_open": DetectionMetric(
        "the same when every known image comes with one wild image", "precision, open",
        at_point=True, notices_false_detections=True, passed_by_finding_less=True,
    ),
    "fp_per_1000": DetectionMetric(
        "accepted detections per 1,000 wild images, all false", "false detections per 1,000 wild images",
        better="lower", digits=1, at_point=True, passed_by_finding_less=True,
    ),
    "awi": DetectionMetric(
        "average Wilderness Impact (variant=paper, macro or official)", "AWI", better="lower", digits=4,
        at_point=True, passed_by_false_detections=True, passed_by_finding_less=True, drawn_interval=True,
    ),
    "slope": DetectionMetric(
        "Wilderness Impact per unit of wilderness ratio", better="lower", digits=4,
        at_point=True, passed_by_false_detections=True, passed_by_finding_less=True,
    ),
    "unreached": DetectionMetric(
        "classes that do not reach the recall, or of which nothing is found", better="lower", digits=0, at_point=True
    ),
    "untested": DetectionMetric(
        "classes without an object to find, whose detections on wild images are not counted at a recall",
        better="lower", digits=0, at_point=True,
    ),
    "silent": DetectionMetric(
        "wild images without a detection, if so many that their results are probably missing", better="lower", digits=0
    ),
    "n_known": DetectionMetric("known images", digits=0),
    "n_wild": DetectionMetric("wild images", digits=0),
    "owod_wi": DetectionMetric("OWOD's WI, which is not the Wilderness Impact", better="lower", digits=4),
    "a_ose": DetectionMetric("OWOD's absolute open-set error", better="lower", digits=0),
    "u_recall": DetectionMetric("OWOD's recall of unknown objects"),
}  # fmt: skip
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
