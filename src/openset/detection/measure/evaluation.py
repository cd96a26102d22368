"""`evaluate_open_set`: everything the open world does to a detector, from its results on known and wild images."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openset.detection.measure.background import ObjectVersusBackground, object_versus_background
from openset.detection.measure.details import details_of
from openset.detection.measure.errors import confusion, count_errors, diagnose
from openset.detection.measure.intervals import with_intervals
from openset.detection.measure.matching import Matches, match, overlaps
from openset.detection.measure.notes import notes_on
from openset.detection.measure.operating import operate
from openset.detection.measure.owod import owod
from openset.detection.measure.ranking import Ranked, at_recall, average_precision, precision_table, rank
from openset.detection.measure.resampling import check_draws
from openset.detection.measure.result import MeanAveragePrecision, OpenSetEvaluation, headline_place
from openset.detection.measure.sets import (
    Levels,
    OpenSetData,
    data_fingerprint,
    input_files,
    limited,
    load,
    part_fingerprints,
    silence,
    wilderness_levels,
)
from openset.detection.measure.wilderness import (
    IN_FILE_ORDER,
    VARIANTS,
    wilderness_rows,
)
from openset.detection.read.coco import Floats
from openset.detection.read.names import similar_classes
from openset.errors import OpenSetError, check_choice, check_share

RECALLS = (0.1, 0.3, 0.5)
"""The recalls of the paper's Table 2."""


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
        thresholds=None
        if thresholds is None
        else frozen_for(data, thresholds, matching=matching, iou=iou, max_detections=max_detections),
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
    rows = list(wilderness_rows(data, ranked, levels, points, [one for _, one in chosen], variants))
    if bootstrap:
        rows = with_intervals(rows, data, ranked, levels, chosen, n=bootstrap, seed=seed)
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
        files=input_files(data),
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


def _check_variants(variant: str | Sequence[str], *, frozen: bool) -> list[str]:
    variants = [variant] if isinstance(variant, str) else list(variant)
    for name in variants:
        check_choice("evaluate_open_set", "variant", name, VARIANTS)
    if not variants:
        raise OpenSetError("evaluate_open_set: give at least one variant.")
    if frozen and IN_FILE_ORDER in variants:
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
