"""`evaluate_open_set`: everything the open world does to a detector, from its results on known and wild images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.fingerprint import fingerprint
from openset.detection.measure.background import ObjectVersusBackground, object_versus_background
from openset.detection.measure.details import Details, details_of
from openset.detection.measure.errors import KINDS, Confusion, Errors, confusion, count_errors, diagnose
from openset.detection.measure.matching import Matches, highest_per_image, match, overlaps
from openset.detection.measure.notes import notes_on
from openset.detection.measure.operating import Operating, operate
from openset.detection.measure.owod import Owod, owod
from openset.detection.measure.ranking import Ranked, at_recall, average_precision, precision_table, rank
from openset.detection.measure.resampling import AtRecalls, AtThresholds, Interpolated, check_draws, draws, interval
from openset.detection.measure.sets import Levels, OpenSetData, Silence, load, silence, wilderness_levels
from openset.detection.measure.wilderness import (
    IN_FILE_ORDER,
    VARIANTS,
    Wilderness,
    open_at_levels,
    open_in_file_order,
    pooled,
    pooled_precision,
    summarise,
)
from openset.detection.read.coco import Bools, Floats
from openset.detection.read.names import similar_classes
from openset.errors import OpenSetError, check_choice, check_share
from openset.results.provenance import provenance

RECALLS = (0.1, 0.3, 0.5)
"""The recalls of the paper's Table 2."""


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


def evaluate_open_set(
    known_gt: Any,
    known_dt: Any,
    wild_gt: Any,
    wild_dt: Any = None,
    *,
    recalls: Sequence[float] = RECALLS,
    thresholds: Any = None,
    variant: str | Sequence[str] = "paper",
    matching: str = "voc",
    iou: float = 0.5,
    ratios: Sequence[float] | None = None,
    similar: Sequence[Sequence[str]] | None = None,
    max_detections: int | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    allow_extra_images: bool = False,
    drop_other_classes: bool = False,
    fully_annotated: bool = False,
    inclusive_pixels: bool = False,
    classes: "Path | Sequence[str] | Mapping[Any, str] | None" = None,
    details: bool = False,
) -> OpenSetEvaluation:
    """Measure a detector on images with known objects and on wild images, which show none.

    Args:
        known_gt: COCO ground truth of the known images: a file, a VOC or YOLO folder, or its content.
        known_dt: COCO results on them, or on both kinds of image if `wild_dt` is left out.
        wild_gt: ground truth of the wild images, with its own image and class ids; annotations are optional.
        wild_dt: COCO results on the wild images, in the class ids of `known_gt`.
        recalls: recalls on the known images at which per-class thresholds are set.
        thresholds: frozen thresholds (a file, or `openset.detection.thresholds.Thresholds`) to measure at, instead of
            recalls.
        variant: how classes are pooled: `paper`, `macro`, `official`, or several of them.
        matching: how detections are matched: `voc`, `coco` or `agnostic`.
        iou: the bar for a correct detection.
        ratios: wilderness ratios; without them steps of .1 up to wild / known images.
        similar: groups of class names that look alike; without them those of VOC and COCO.
        max_detections: keep only so many detections of an image and class, those with the highest scores (COCO: 100).
        bootstrap: draws of images for the 95 % interval of AWI; 0 for none.
        seed: of the bootstrap.
        allow_extra_images: leave out detections on images that the ground truth does not have.
        drop_other_classes: leave out detections of classes that the known ground truth does not have.
        fully_annotated: wild images without annotations show no object. Without this, nobody annotated them, and what
            asks for annotations (OWOD's metrics, unknown unknown) is measured on the other wild images.
        inclusive_pixels: OWOD's metrics as its program counts pixels, with the last one inside the box.
        classes: names of the detector's classes by its own numbers (a file, or names counted from 0), where the numbers
            in its results are not the class ids of `known_gt`.
        details: curves over all thresholds and COCO's average precision as well, which a page shows.

    Errors and confusion are taken at ratio 1, or with all wild images if there are fewer.
    """
    from openset.detection.thresholds import frozen_for

    data = load(
        known_gt,
        known_dt,
        wild_gt,
        wild_dt,
        allow_extra_images=allow_extra_images,
        drop_other_classes=drop_other_classes,
        fully_annotated=fully_annotated,
        classes=classes,
    )
    return evaluate_data(
        data,
        recalls=recalls,
        thresholds=None if thresholds is None else frozen_for(data, thresholds, matching=matching, iou=iou),
        variant=variant,
        matching=matching,
        iou=iou,
        ratios=ratios,
        similar=similar,
        max_detections=max_detections,
        bootstrap=bootstrap,
        seed=seed,
        inclusive_pixels=inclusive_pixels,
        details=details,
    )


def evaluate_data(
    data: OpenSetData,
    *,
    recalls: Sequence[float] = RECALLS,
    thresholds: Floats | None = None,
    variant: str | Sequence[str] = "paper",
    matching: str = "voc",
    iou: float = 0.5,
    ratios: Sequence[float] | None = None,
    similar: Sequence[Sequence[str]] | None = None,
    max_detections: int | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    inclusive_pixels: bool = False,
    details: bool = False,
) -> OpenSetEvaluation:
    """`evaluate_open_set` for data that are already read; frozen `thresholds` come as one number for each class."""
    variants = _check_variants(variant, frozen=thresholds is not None)
    check_draws(bootstrap, seed)
    n_all = len(data.known_found) + len(data.wild_found)
    data = limited(data, max_detections)
    names = data.known.class_names
    pairs = overlaps(data.known, data.known_found)
    matches = match(data.known, data.known_found, matching=matching, iou=iou, pairs=pairs)
    ranked = rank(data.known, data.known_found, matches)
    levels = wilderness_levels(data.known.n_images, data.wild.n_images, ratios)
    chosen, lost = _points(ranked, recalls, thresholds, names)
    points = [operate(data, ranked, one, recall=recall) for recall, one in chosen]
    rows = list(_wilderness(data, ranked, levels, points, [one for _, one in chosen], variants))
    if bootstrap:
        rows = _with_intervals(rows, data, ranked, levels, chosen, n=bootstrap, seed=seed)
    wild_pairs = overlaps(data.wild, data.wild_found)
    alike = similar_classes(names, similar)
    overview = diagnose(data, matches, alike, pairs=pairs, wild_pairs=wild_pairs, reference_n=levels.reference_n)
    ratio = levels.reference_ratio
    main_recall, main = chosen[headline_place([recall for recall, _ in chosen])]
    result = OpenSetEvaluation(
        mean_average_precision=_mean_average_precision(data, ranked, levels, matching, iou),
        operating=tuple(points),
        wilderness=tuple(rows),
        errors=tuple(count_errors(data, overview, one, recall, ratio) for recall, one in chosen),
        confusion=confusion(data, overview, main, main_recall, ratio),
        owod=owod(data, matches, wild_pairs=wild_pairs, inclusive_pixels=inclusive_pixels, matching=matching, iou=iou),
        background=_background(data, matches),
        n_known=data.known.n_images,
        n_wild=data.wild.n_images,
        n_detections=(len(data.known_found), len(data.wild_found)),
        lost_recalls=tuple(lost),
        silence=silence(data),
        notes=(),
        settings={
            "matching": matching,
            "iou": iou,
            "variants": variants,
            "recalls": None if thresholds is not None else list(recalls),
            "thresholds": None if thresholds is None else "frozen",
            "max_detections": max_detections,
            "bootstrap": bootstrap,
            "seed": seed,
        },
        files={part: getattr(data, part).source for part in _PARTS},
        fingerprint=data_fingerprint(data),
        fingerprints=part_fingerprints(data),
        details=details_of(data, ranked) if details else None,
    )
    return replace(result, notes=(*notes_on(data, levels, result), *_cut_off(result, n_all, max_detections)))


def _cut_off(result: OpenSetEvaluation, n_all: int, max_detections: int | None) -> tuple[str, ...]:
    """What a limit of detections left out."""
    if max_detections is None:
        return ()
    left_out = n_all - sum(result.n_detections)
    return (f"only the {max_detections} highest detections of an image and class are kept; {left_out} are left out",)


def headline_place(recalls: Sequence[float | None]) -> int:
    """The operating point that verdict and confusion speak of: recall .3, or the first one without it."""
    return recalls.index(0.3) if 0.3 in recalls else 0


def limited(data: OpenSetData, max_detections: int | None) -> OpenSetData:
    """The data with at most so many detections of an image and class."""
    if max_detections is None:
        return data
    if max_detections < 1:
        raise OpenSetError(f"'max_detections' must be 1 or more, got {max_detections}.")
    return replace(
        data,
        known_found=highest_per_image(data.known_found, max_detections),
        wild_found=highest_per_image(data.wild_found, max_detections),
        refused_known=highest_per_image(data.refused_known, max_detections),
        refused_wild=highest_per_image(data.refused_wild, max_detections),
    )


def _check_variants(variant: str | Sequence[str], *, frozen: bool) -> list[str]:
    variants = [variant] if isinstance(variant, str) else list(variant)
    for name in variants:
        check_choice("evaluate_open_set", "variant", name, VARIANTS)
    if not variants:
        raise OpenSetError("evaluate_open_set: give at least one variant.")
    if frozen and "official" in variants:
        raise OpenSetError(
            "The variant 'official' is defined by a recall, not by thresholds: leave it out, or the frozen thresholds."
        )
    return variants


def _points(
    ranked: Ranked, recalls: Sequence[float], thresholds: Floats | None, names: Sequence[str]
) -> tuple[list[tuple[float | None, Floats]], list[float]]:
    """Thresholds of each operating point, with its recall, and the recalls that no class reaches."""
    if thresholds is not None:
        return [(None, thresholds)], []
    wanted = [check_share("evaluate_open_set", "recall", recall) for recall in recalls]
    if not wanted:
        raise OpenSetError("evaluate_open_set: give at least one recall.")
    found = [(recall, at_recall(ranked, recall)) for recall in wanted]
    reached: list[tuple[float | None, Floats]] = [(recall, one) for recall, one in found if np.isfinite(one).any()]
    if not reached:
        total = np.concatenate([[0], np.cumsum(ranked.correct)])
        best = np.diff(total[ranked.starts]) / np.maximum(ranked.n_objects, 1)
        top = int(np.argmax(best))
        raise OpenSetError(
            f"None of the {len(names)} classes reaches recall {min(wanted):g}, so no threshold exists there: give a "
            f"lower recall; the highest that a class reaches is {best[top]:.3g} ({names[top]})."
        )
    return reached, [recall for recall, one in found if not np.isfinite(one).any()]


def _wilderness(
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    points: Sequence[Operating],
    thresholds: Sequence[Floats],
    variants: Sequence[str],
) -> Iterator[Wilderness]:
    """A row for each operating point and variant; none where nothing is accepted on known images."""
    table = None
    if "official" in variants:
        table = precision_table(ranked, data.wild_found, np.concatenate([[0], levels.n_wild]))
    for point, one in zip(points, thresholds, strict=True):
        if not point.total.n_true + point.total.n_false:
            continue
        n_open = np.array([row.n_open for row in point.classes.values()])
        for name in variants:
            if name == IN_FILE_ORDER:
                counts = open_in_file_order(data.wild_found, one, levels)
            else:
                counts = open_at_levels(n_open, levels, data.wild.n_images)
            yield summarise(point, name, levels, counts, np.isfinite(one), table)


def _with_intervals(
    rows: list[Wilderness],
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    chosen: Sequence[tuple[float | None, Floats]],
    *,
    n: int,
    seed: int,
) -> list[Wilderness]:
    """AWI with bias-corrected intervals over draws of images, over the same classes in every draw."""
    drawn = awi_draws(data, ranked, levels, chosen, sorted({row.variant for row in rows}), n=n, seed=seed)
    recalls = [recall for recall, _ in chosen]
    out = []
    for row in rows:
        low, high = interval(drawn[row.variant][:, recalls.index(row.recall)], value=row.awi)
        out.append(replace(row, awi_low=low, awi_high=high))
    return out


def awi_draws(
    data: OpenSetData,
    ranked: Ranked,
    levels: Levels,
    chosen: Sequence[tuple[float | None, Floats]],
    variants: Sequence[str],
    *,
    n: int,
    seed: int,
) -> dict[str, Floats]:
    """AWI of each variant in `n` draws (rows) at each operating point (columns)."""
    classes: Bools = np.isfinite([one for _, one in chosen])
    recalls = [recall for recall, _ in chosen if recall is not None]
    count = AtRecalls(data, ranked, recalls) if recalls else AtThresholds(data, ranked, [one for _, one in chosen])
    interpolated = Interpolated(data, ranked, recalls, levels) if "official" in variants else None
    share = float(levels.n_wild.mean()) / data.wild.n_images
    out: dict[str, Floats] = {name: np.full((n, len(chosen)), np.nan) for name in variants}
    for i, draw in enumerate(draws(data.known.n_images, data.wild.n_images, n, seed)):
        counts = count(draw) if set(variants) != {"official"} else None
        for name in variants:
            if name == "official":
                assert interpolated is not None
                out[name][i] = pooled_precision(interpolated.at_recalls(draw), classes)
            else:
                assert counts is not None
                out[name][i] = pooled(counts, name, classes, share)
    return out


_PARTS = ("known", "known_found", "wild", "wild_found")
_FIELDS = ("image", "category", "box", "score", "ignore", "crowd")


def data_fingerprint(data: OpenSetData) -> str:
    """Of all that is measured."""
    return fingerprint([getattr(getattr(data, part), name, None) for part in _PARTS for name in _FIELDS])


def part_fingerprints(data: OpenSetData) -> dict[str, str]:
    """Of what is measured of each file."""
    return {part: fingerprint([getattr(getattr(data, part), name, None) for name in _FIELDS]) for part in _PARTS}


def matched(data: OpenSetData, *, matching: str = "voc", iou: float = 0.5) -> tuple[Matches, Ranked]:
    """Match and sort the detections on the known images."""
    matches = match(data.known, data.known_found, matching=matching, iou=iou)
    return matches, rank(data.known, data.known_found, matches)


def _background(data: OpenSetData, matches: Matches) -> dict[str, ObjectVersusBackground] | None:
    if data.known_found.background_score is None:
        return None
    return object_versus_background(data.known.class_names, data.known_found, matches)


def _mean_average_precision(
    data: OpenSetData, ranked: Ranked, levels: Levels, matching: str, iou: float
) -> MeanAveragePrecision:
    table = precision_table(ranked, data.wild_found, np.array([0, levels.reference_n]))
    has_objects = ranked.n_objects > 0
    names = data.known.class_names
    precision = average_precision(table)
    means = {name: values[has_objects].mean(axis=0) for name, values in precision.items()}
    return MeanAveragePrecision(
        matching=matching,
        iou=iou,
        known={name: float(values[0]) for name, values in means.items()},
        wild={name: float(values[1]) for name, values in means.items()},
        ratio=levels.reference_ratio,
        per_class={names[c]: float(precision["all_point"][c, 0]) for c in np.flatnonzero(has_objects)},
        without_objects=tuple(names[c] for c in np.flatnonzero(~has_objects)),
    )
