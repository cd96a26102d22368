"""Two detectors on the same images: differences with intervals, from the same draws of images.

Both are measured over the classes that both reach, so that losing a class never looks like a gain, and neither is
called better unless nothing speaks against it: false detections on known images lower the Wilderness Impact, lost
results lower the false detections on wild images. What speaks *for* a detector must stand out among all that was
compared; against it, every difference counts that is clear on its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from openset.detection.measure.intervals import awi_per_rate, percentile_interval, reach, stand_out
from openset.detection.measure.operating import operate, point_name
from openset.detection.measure.ranking import Ranked, at_recall, matched
from openset.detection.measure.rates import FEW_EVENTS, event_rate
from openset.detection.measure.resampling import AtRecalls, Counts, Draw, Interpolated, draws
from openset.detection.measure.sets import OpenSetData, limited, silence, wilderness_levels
from openset.detection.measure.wilderness import VARIANTS, Wilderness, pooled, pooled_precision, wilderness_rows
from openset.detection.metrics import METRICS
from openset.detection.read.coco import Bools, Floats, Ints
from openset.errors import OpenSetError, check_choice, check_share


@dataclass(frozen=True)
class Difference:
    """One metric of two detectors; `difference` is the first minus the second, as in `openset.intervals`."""

    name: str
    recall: float | None
    """None for mAP."""
    variant: str
    """Of AWI."""
    first: float
    second: float
    difference: float
    low: float | None
    """None, as `high` is, if in no draw of images both detectors have an object."""
    high: float | None
    stands_out: bool = False
    """Whether it would be a difference even if it were the most striking of all that were looked at."""

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def better(self) -> int:
        """Which detector is clearly better in this metric: 1, 2, or 0."""
        if not self.clear:
            return 0
        return 1 if (self.difference > 0) == (METRICS[self.name].better == "higher") else 2


@dataclass(frozen=True)
class CommonClasses:
    """Classes that are compared at one recall, and those that only one detector, or none, reaches."""

    recall: float
    both: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    neither: tuple[str, ...]


@dataclass(frozen=True)
class DetectorComparison:
    """All differences, over which classes they are, and what follows."""

    differences: tuple[Difference, ...]
    classes: tuple[CommonClasses, ...]
    better: int
    """1 or 2: that detector is better in something and worse in nothing. 0: neither can be said of one of them."""
    reasons: tuple[tuple[int, str], ...]
    """What can be said of which detector, 1 or 2; empty if nothing can."""

    def conclusion(self, names: Sequence[str]) -> str:
        """A sentence."""
        why = "; ".join(f"{names[detector - 1]} {wording}" for detector, wording in self.reasons)
        if self.better:
            return f"{names[self.better - 1]} is better: {why}."
        if self.reasons:
            return f"Neither is better: {why}."
        return "They cannot be told apart."


def compare(
    first: OpenSetData,
    second: OpenSetData,
    *,
    recalls: Sequence[float],
    variant: str = "paper",
    matching: str = "voc",
    iou: float = 0.5,
    max_detections: int | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> DetectorComparison:
    """mAP, precision, false detections per 1,000 wild images and AWI, detector against detector, paired over images."""
    for kind in ("known", "wild"):
        if getattr(first, kind).image_ids != getattr(second, kind).image_ids:
            raise OpenSetError(f"The two detectors must be measured on the same {kind} images.")
    if bootstrap < 2:
        raise OpenSetError(f"compare: 'bootstrap' must be 2 or more, got {bootstrap}.")
    check_choice("compare", "variant", variant, VARIANTS)
    wanted = [check_share("compare", "recall", recall) for recall in recalls]
    sets = [limited(data, max_detections) for data in (first, second)]
    ranked = [matched(data, matching=matching, iou=iou)[1] for data in sets]
    reached = [[np.isfinite(at_recall(one, recall)) for recall in wanted] for one in ranked]
    names = first.known.class_names
    has_objects = ranked[0].n_objects > 0
    common = tuple(
        _common(recall, names, has_objects, one, two)
        for recall, one, two in zip(wanted, reached[0], reached[1], strict=True)
    )
    used = [j for j, one in enumerate(common) if one.both]
    classes = [reached[0][j] & reached[1][j] for j in used]
    measures = [
        _Measure(data, one, [wanted[j] for j in used], classes, variant) for data, one in zip(sets, ranked, strict=True)
    ]
    n_known, n_wild = first.known.n_images, first.wild.n_images
    whole = Draw(np.ones(n_known), np.arange(n_wild))
    values = [one(whole) for one in measures]
    drawn = np.array([[one(draw) for one in measures] for draw in draws(n_known, n_wild, bootstrap, seed)])
    striking = stand_out(values[0] - values[1], drawn[:, 0] - drawn[:, 1])
    rare = _rare_events(sets, ranked, [wanted[j] for j in used], classes, variant)
    rows = []
    for place, (name, recall) in enumerate(_columns([wanted[j] for j in used])):
        one, two = float(values[0][place]), float(values[1][place])
        low, high = percentile_interval(drawn[:, 0, place] - drawn[:, 1, place])
        if low is not None and high is not None and (name, recall) in rare:
            below, above = rare[name, recall]
            low, high = min(low, one - two - below), max(high, one - two + above)
        row = Difference(name, recall, variant if name == "awi" else "", one, two, one - two, low, high)
        rows.append(replace(row, stands_out=row.clear and bool(striking[place])))
    return DetectorComparison(tuple(rows), common, *_conclude(rows, common, sets))


def _common(recall: float, names: Sequence[str], has_objects: Bools, one: Bools, two: Bools) -> CommonClasses:
    def named(which: Bools) -> tuple[str, ...]:
        return tuple(names[c] for c in np.flatnonzero(which & has_objects).tolist())

    return CommonClasses(recall, named(one & two), named(one & ~two), named(two & ~one), named(~one & ~two))


def _rare_events(
    sets: Sequence[OpenSetData],
    ranked: Sequence[Ranked],
    recalls: Sequence[float],
    classes: Sequence[Bools],
    variant: str,
) -> dict[tuple[str, float | None], tuple[float, float]]:
    """How far exact intervals of the differences of rates and AWI reach, where one has too few events for draws.

    Both detectors look at the same images, so what both do on an image does not speak for one of them: the rates of
    what only the first does, only the second and both are independent of one another.
    """
    found: dict[tuple[str, float | None], tuple[float, float]] = {}
    n = sets[0].wild.n_images
    for recall, chosen in zip(recalls, classes, strict=True):
        points = [_wilderness(data, one, recall, chosen, variant) for data, one in zip(sets, ranked, strict=True)]
        (first, on_first), (second, on_second) = points
        if min(on_first.sum(), on_second.sum()) < FEW_EVENTS:
            both = np.minimum(on_first, on_second)
            alone, other, shared = (event_rate(one[one > 0], n) for one in (on_first - both, on_second - both, both))
            found["fp_per_1000", recall] = reach((1, alone), (-1, other))
            mean_images = float(wilderness_levels(sets[0].known.n_images, n).n_wild.mean())
            one, two = awi_per_rate(first, mean_images), awi_per_rate(second, mean_images)
            found["awi", recall] = reach((one, alone), (-two, other), (one - two, shared))
    return found


def _wilderness(
    data: OpenSetData, ranked: Ranked, recall: float, chosen: Bools, variant: str
) -> tuple[Wilderness, Ints]:
    """Wilderness Impact over some classes, and false detections of each wild image."""
    levels = wilderness_levels(data.known.n_images, data.wild.n_images)
    thresholds = np.where(chosen, at_recall(ranked, recall), np.inf)
    (row,) = wilderness_rows(
        data, ranked, levels, [operate(data, ranked, thresholds, recall=recall)], [thresholds], [variant]
    )
    found = data.wild_found
    accepted = found.image[found.score >= thresholds[found.category]]
    return row, np.bincount(accepted, minlength=data.wild.n_images)


def _columns(recalls: Sequence[float]) -> Iterator[tuple[str, float | None]]:
    yield "map", None
    for recall in recalls:
        for name in ("precision", "fp_per_1000", "awi"):
            yield name, recall


class _Measure:
    """All compared metrics of one detector in a draw, in the order of `_columns`."""

    def __init__(
        self, data: OpenSetData, ranked: Ranked, recalls: Sequence[float], classes: Sequence[Bools], variant: str
    ) -> None:
        levels = wilderness_levels(data.known.n_images, data.wild.n_images)
        self._share = float(levels.n_wild.mean()) / data.wild.n_images
        self._classes = np.array(classes, dtype=bool).reshape(len(recalls), ranked.n_classes)
        self._variant, self._n_wild = variant, data.wild.n_images
        self._count = AtRecalls(data, ranked, recalls) if recalls else None
        official = variant == "official" and recalls
        self._interpolated = Interpolated(data, ranked, recalls, levels if official else None)

    def __call__(self, draw: Draw) -> Floats:
        average = self._interpolated.average(draw)
        average = average[~np.isnan(average)]
        out = [float(average.mean()) if len(average) else np.nan]
        if self._count is not None:
            counts = self._count(draw)
            if self._variant == "official":
                awi = pooled_precision(self._interpolated.at_recalls(draw), self._classes)
            else:
                awi = pooled(counts, self._variant, self._classes, self._share)
            for j, chosen in enumerate(self._classes):
                out += [*self._rates(counts, j, chosen), awi[j]]
        return np.array(out)

    def _rates(self, counts: Counts, j: int, chosen: Bools) -> tuple[float, float]:
        """Precision on known images and false detections per 1,000 wild images."""
        use = chosen & counts.defined
        accepted = counts.accepted[j][use].sum()
        precision = counts.true[j][use].sum() / accepted if accepted else np.nan
        return precision, 1000 * counts.open[j][use].sum() / self._n_wild if use.any() else np.nan


def _conclude(
    rows: Sequence[Difference], common: Sequence[CommonClasses], sets: Sequence[OpenSetData]
) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Who is better, if anybody, and what can be said of each."""
    wins: dict[int, list[str]] = {1: [], 2: []}
    perhaps: dict[int, list[str]] = {1: [], 2: []}
    flaws: dict[int, list[str]] = {1: [], 2: []}
    for row in rows:
        if row.better:
            at = "" if row.recall is None else f" at {point_name(row.recall)}"
            (wins if row.stands_out else perhaps)[row.better].append(f"{METRICS[row.name].title}{at}")
    for one, data in enumerate(sets, 1):
        if silence(data).suspicious:
            flaws[one].append("has wild results that are probably not complete")
    for one, lost in ((1, [c.only_second for c in common]), (2, [c.only_first for c in common])):
        names = list(dict.fromkeys(name for some in lost for name in some))
        if names:
            shown = ", ".join([*names[:3], *(["..."] if len(names) > 3 else [])])
            flaws[one].append(f"loses {len(names)} of the classes that the other reaches ({shown})")
    reasons = [(one, flaw) for one in (1, 2) for flaw in flaws[one]]
    reasons += [(one, f"is clearly better in {', '.join(wins[one])}") for one in (1, 2) if wins[one]]
    luck = f"which may be luck among {len(rows)} comparisons"
    reasons += [(one, f"looks better in {', '.join(perhaps[one])}, {luck}") for one in (1, 2) if perhaps[one]]
    for one, other in ((1, 2), (2, 1)):
        if (wins[one] or flaws[other]) and not (wins[other] or perhaps[other] or flaws[one]):
            return one, tuple(reasons)
    return 0, tuple(reasons)
