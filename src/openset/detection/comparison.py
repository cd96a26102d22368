"""Two detectors on the same images: differences with intervals, from the same draws of images."""

from collections.abc import Sequence
from dataclasses import dataclass

from openset.detection.measure.evaluation import evaluate_data, matched
from openset.detection.measure.resampling import interval, replicates
from openset.detection.measure.sets import OpenSetData, wilderness_levels
from openset.errors import OpenSetError


@dataclass(frozen=True)
class Difference:
    """One figure of two detectors; `difference` is the first minus the second, as in `openset.intervals`."""

    name: str
    recall: float
    variant: str
    first: float
    second: float
    difference: float
    low: float | None
    """None, as `high` is, if in no draw of images both detectors reach the recall."""
    high: float | None

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def compare(
    first: OpenSetData,
    second: OpenSetData,
    *,
    recalls: Sequence[float],
    variant: str = "paper",
    rule: str = "voc",
    iou: float = 0.5,
    bootstrap: int = 1000,
    seed: int = 0,
) -> tuple[Difference, ...]:
    """AWI and false positives per 1,000 wild images, detector against detector, paired over images."""
    for kind in ("known", "wild"):
        if getattr(first, kind).image_ids != getattr(second, kind).image_ids:
            raise OpenSetError(f"The two detectors must be measured on the same {kind} images.")
    if bootstrap < 2:
        raise OpenSetError(f"compare: 'bootstrap' must be 2 or more, got {bootstrap}.")
    levels = wilderness_levels(first.known.n_images, first.wild.n_images)
    results = [
        evaluate_data(data, recalls=recalls, variant=variant, rule=rule, iou=iou, bootstrap=0)
        for data in (first, second)
    ]
    draws = [
        replicates(data, matched(data, rule=rule, iou=iou)[1], levels, recalls, variant, n=bootstrap, seed=seed)
        for data in (first, second)
    ]
    rows = []
    for name in ("awi", "fp_per_1000"):
        change = getattr(draws[0], name) - getattr(draws[1], name)
        for j, recall in enumerate(recalls):
            one, two = (float(getattr(result.wilderness[j], name)) for result in results)
            rows.append(Difference(name, recall, variant, one, two, one - two, *interval(change[:, j])))
    return tuple(rows)
