"""`evaluate_open_set`: everything the open world does to a detector, from its results on known and wild images."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from openset._core.fingerprint import fingerprint
from openset.detection.measure.background import ObjectVersusBackground, object_versus_background
from openset.detection.measure.errors import KINDS, Confusion, Errors, confusion, count_errors, diagnose
from openset.detection.measure.matching import Matches, match, overlaps
from openset.detection.measure.owod import Owod, owod
from openset.detection.measure.ranking import Ranked, at_recall, average_precision, precision_table, rank
from openset.detection.measure.resampling import check_draws, interval, replicates
from openset.detection.measure.sets import Levels, OpenSetData, load, wilderness_levels
from openset.detection.measure.wilderness import VARIANTS, Wilderness, count_open, summarise
from openset.detection.read.names import similar_classes
from openset.errors import OpenSetError, check_choice, check_share

RECALLS = (0.1, 0.3, 0.5)
"""The recalls of the paper's Table 2."""


@dataclass(frozen=True)
class MeanAveragePrecision:
    """Mean over the classes that have objects, interpolated precision throughout."""

    rule: str
    iou: float
    known: dict[str, float]
    """On the known images: VOC 11-point, all-point, COCO 101-point."""
    wild: dict[str, float]
    """The same with wild images added, at `ratio`."""
    ratio: float
    per_class: dict[str, float]
    """All-point average precision on the known images."""
    without_objects: tuple[str, ...]


@dataclass(frozen=True)
class OpenSetEvaluation:
    """The result; `to_json` gives the documented form."""

    mean_average_precision: MeanAveragePrecision
    wilderness: tuple[Wilderness, ...]
    errors: tuple[Errors, ...]
    confusion: Confusion
    owod: Owod
    background: dict[str, ObjectVersusBackground] | None
    n_known: int
    n_wild: int
    n_detections: tuple[int, int]
    notes: tuple[str, ...]
    meta: dict[str, Any]
    """What it takes to get these figures again: settings, versions, files and a fingerprint of their content."""

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, lists and names."""
        content: dict[str, Any] = {
            "schema": 1,
            "images": {"known": self.n_known, "wild": self.n_wild},
            "detections": {"known": self.n_detections[0], "wild": self.n_detections[1]},
            "notes": list(self.notes),
            "meta": self.meta,
            "map": asdict(self.mean_average_precision),
            "wilderness": [asdict(row) for row in self.wilderness],
            "errors": {"kinds": list(KINDS), "at": [asdict(row) for row in self.errors]},
            "confusion": asdict(self.confusion),
            "owod": asdict(self.owod),
        }
        if self.background is not None:
            content["object_versus_background"] = {name: asdict(row) for name, row in self.background.items()}
        return content


def evaluate_open_set(
    known_gt: Any,
    known_dt: Any,
    wild_gt: Any,
    wild_dt: Any = None,
    *,
    recalls: Sequence[float] = RECALLS,
    variant: str | Sequence[str] = "paper",
    rule: str = "voc",
    iou: float = 0.5,
    ratios: Sequence[float] | None = None,
    similar: Sequence[Sequence[str]] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    allow_extra_images: bool = False,
    drop_other_classes: bool = False,
) -> OpenSetEvaluation:
    """Measure a detector on images with known objects and on wild images, which show none.

    Args:
        known_gt: COCO ground truth of the known images: a file, a VOC or YOLO folder, or its content.
        known_dt: COCO results on them, or on both kinds of image if `wild_dt` is left out.
        wild_gt: ground truth of the wild images, with its own image and class ids; annotations are optional.
        wild_dt: COCO results on the wild images, in the class ids of `known_gt`.
        recalls: recalls on the known images at which per-class thresholds are set.
        variant: how classes are pooled: `paper`, `macro`, `official`, or several of them.
        rule: how detections are matched: `voc`, `coco` or `agnostic`.
        iou: the bar for a correct detection.
        ratios: wilderness ratios; without them steps of .1 up to wild / known images.
        similar: groups of class names that look alike; without them those of VOC and COCO.
        bootstrap: replicates over images for the 95 % interval of AWI; 0 for none.
        seed: of the bootstrap.
        allow_extra_images: leave out detections on images that the ground truth does not have.
        drop_other_classes: leave out detections of classes that the known ground truth does not have.

    Errors and confusion are taken at ratio 1, or with all wild images if there are fewer.
    """
    data = load(
        known_gt,
        known_dt,
        wild_gt,
        wild_dt,
        allow_extra_images=allow_extra_images,
        drop_other_classes=drop_other_classes,
    )
    return evaluate_data(
        data,
        recalls=recalls,
        variant=variant,
        rule=rule,
        iou=iou,
        ratios=ratios,
        similar=similar,
        bootstrap=bootstrap,
        seed=seed,
    )


def evaluate_data(
    data: OpenSetData,
    *,
    recalls: Sequence[float] = RECALLS,
    variant: str | Sequence[str] = "paper",
    rule: str = "voc",
    iou: float = 0.5,
    ratios: Sequence[float] | None = None,
    similar: Sequence[Sequence[str]] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> OpenSetEvaluation:
    """`evaluate_open_set` for data that are already read."""
    variants = [variant] if isinstance(variant, str) else list(variant)
    for name in variants:
        check_choice("evaluate_open_set", "variant", name, VARIANTS)
    wanted = [check_share("evaluate_open_set", "recall", recall) for recall in recalls]
    if not wanted or not variants:
        raise OpenSetError("evaluate_open_set: give at least one recall and one variant.")
    check_draws(bootstrap, seed)
    names = data.known.class_names
    pairs = overlaps(data.known, data.known_found)
    matches = match(data.known, data.known_found, rule=rule, iou=iou, pairs=pairs)
    ranked = rank(data.known, data.known_found, matches)
    levels = wilderness_levels(data.known.n_images, data.wild.n_images, ratios)
    table = None
    if "official" in variants:
        table = precision_table(ranked, data.wild_found, np.concatenate([[0], levels.n_wild]))
    points = [at_recall(ranked, recall) for recall in wanted]
    rows = []
    for point in points:
        counts = count_open(data.wild_found, point.thresholds, np.append(levels.n_wild, data.wild.n_images))
        for name in variants:
            everything = int(counts[:, -1].sum())
            rows.append(summarise(point, name, levels, counts[:, :-1], everything, data.wild.n_images, table, names))
    if bootstrap:
        rows = _with_intervals(rows, data, ranked, levels, wanted, variants, bootstrap, seed)
    wild_pairs = overlaps(data.wild, data.wild_found)
    alike = similar_classes(names, similar)
    overview = diagnose(data, matches, alike, pairs=pairs, wild_pairs=wild_pairs, reference_n=levels.reference_n)
    ratio = levels.reference_ratio
    at_first = points[0 if 0.3 not in wanted else wanted.index(0.3)]
    background = None
    if data.known_found.background_score is not None:
        background = object_versus_background(names, data.known_found, matches)
    return OpenSetEvaluation(
        mean_average_precision=_mean_average_precision(data, ranked, levels, rule, iou),
        wilderness=tuple(rows),
        errors=tuple(count_errors(data, overview, point.thresholds, point.recall, ratio) for point in points),
        confusion=confusion(data, overview, at_first.thresholds, at_first.recall, ratio),
        owod=owod(data, matches, wild_pairs=wild_pairs),
        background=background,
        n_known=data.known.n_images,
        n_wild=data.wild.n_images,
        n_detections=(len(data.known_found), len(data.wild_found)),
        notes=(
            *data.notes,
            *([levels.note] if levels.note else []),
            *_no_claims(data),
            *(_no_intervals(rows, bootstrap) if bootstrap else ()),
        ),
        meta={"rule": rule, "iou": iou, "bootstrap": bootstrap, "seed": seed, **_origin(data)},
    )


def _origin(data: OpenSetData) -> dict[str, Any]:
    """Versions, files, and a fingerprint that changes when anything that is measured changes."""
    from openset import __version__

    parts = (data.known, data.known_found, data.wild, data.wild_found)
    arrays = [
        getattr(part, name, None) for part in parts for name in ("image", "category", "box", "score", "ignore", "crowd")
    ]
    return {
        "openset": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "files": [part.source for part in parts],
        "fingerprint": fingerprint(arrays),
    }


def matched(data: OpenSetData, *, rule: str = "voc", iou: float = 0.5) -> tuple[Matches, Ranked]:
    """Match and sort the detections on the known images."""
    matches = match(data.known, data.known_found, rule=rule, iou=iou)
    return matches, rank(data.known, data.known_found, matches)


def _with_intervals(
    rows: list[Wilderness],
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    recalls: Sequence[float],
    variants: Sequence[str],
    n: int,
    seed: int,
) -> list[Wilderness]:
    out = list(rows)
    for name in variants:
        drawn = replicates(data, ranked, levels, recalls, name, n=n, seed=seed).awi
        for i, row in enumerate(rows):
            if row.variant == name:
                low, high = interval(drawn[:, list(recalls).index(row.recall)])
                out[i] = replace(row, awi_low=low, awi_high=high)
    return out


def _mean_average_precision(
    data: OpenSetData, ranked: Ranked, levels: Levels, rule: str, iou: float
) -> MeanAveragePrecision:
    table = precision_table(ranked, data.wild_found, np.array([0, levels.reference_n]))
    has_objects = ranked.n_objects > 0
    names = data.known.class_names
    precision = average_precision(table)
    means = {name: values[has_objects].mean(axis=0) for name, values in precision.items()}
    return MeanAveragePrecision(
        rule=rule,
        iou=iou,
        known={name: float(values[0]) for name, values in means.items()},
        wild={name: float(values[1]) for name, values in means.items()},
        ratio=levels.reference_ratio,
        per_class={names[c]: float(precision["all_point"][c, 0]) for c in np.flatnonzero(has_objects)},
        without_objects=tuple(names[c] for c in np.flatnonzero(~has_objects)),
    )


def _no_claims(data: OpenSetData) -> tuple[str, ...]:
    """A detector that is silent on every wild image is more often a missing file than a miracle."""
    if len(data.wild_found):
        return ()
    return ("there is not one detection on the wild images: is their results file complete",)


def _no_intervals(rows: Sequence[Wilderness], n: int) -> tuple[str, ...]:
    """Few draws of few objects may miss them all; more draws help."""
    recalls = dict.fromkeys(f"{row.recall:g}" for row in rows if row.awi_low is None)
    return tuple(
        f"there is no interval at recall {recall}, which no class reaches in any of the {n} draws of images"
        for recall in recalls
    )
