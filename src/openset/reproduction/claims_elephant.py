"""What the paper on open-set object detection says in words, put to the test."""

from collections.abc import Mapping, Sequence

from openset.reproduction.findings import Claim, Value

TWO_STAGE, ONE_STAGE = "faster-rcnn", ("retinanet", "yolov2")


def wild_images_cost_precision(means: Mapping[str, tuple[float, float]]) -> Claim:
    """The mAP of every detector falls; `means`: mAP on known images and with wild ones."""
    drops = {name: known - wild for name, (known, wild) in means.items()}
    return Claim(
        "Tested along with as many images without known objects, the mAP drops",
        "section 5.1, Table 1",
        all(drop > 0 for drop in drops.values()) if drops else None,
        {f"drop of {name}": 100 * drop for name, drop in drops.items()},
    )


def impact_grows_with_recall(impact: Mapping[str, Sequence[float]]) -> Claim:
    """AWI rises from the lowest to the highest recall; `impact`: AWI at rising recalls, by detector."""
    known = {name: values for name, values in impact.items() if len(values) > 1}
    return Claim(
        "Detectors are more significantly impacted when operating on higher recalls",
        "section 4.2, Fig. 5, Table 2",
        all(values[-1] > values[0] for values in known.values()) if known else None,
        {f"{name}, lowest and highest recall": f"{values[0]:.4f}, {values[-1]:.4f}" for name, values in known.items()},
        "from the lowest to the highest recall; the published YOLOv2 dips in between",
    )


def one_stage_is_hit_harder(impact: Mapping[str, Sequence[float]]) -> Claim:
    """RetinaNet and YOLOv2 have a larger AWI than Faster R-CNN at every recall."""
    others = [impact[name] for name in ONE_STAGE if name in impact]
    decidable = TWO_STAGE in impact and others
    return Claim(
        "Single shot detectors (RetinaNet, YOLOv2) are impacted more than the two stage detector (Faster R-CNN)",
        "section 4.2, Fig. 5, Table 2",
        all(a > b for one in others for a, b in zip(one, impact[TWO_STAGE], strict=True)) if decidable else None,
        {},
        "" if decidable else f"needs detectors named {TWO_STAGE} and {' or '.join(ONE_STAGE)}",
    )


def dropout_is_worse(impact: Mapping[str, Sequence[float]]) -> Claim:
    """Dropout sampling has a larger AWI than the same detector without."""
    decidable = TWO_STAGE in impact and "dropout" in impact
    return Claim(
        "The dropout sampling approach leads to much worse results",
        "section 4.2, Table 2",
        all(a > b for a, b in zip(impact["dropout"], impact[TWO_STAGE], strict=True)) if decidable else None,
        {},
        "" if decidable else f"needs detectors named {TWO_STAGE} and dropout",
    )


def impact_grows_with_wilderness(curves: Mapping[str, Sequence[float]]) -> Claim:
    """Wilderness Impact at the largest ratio is above that at the smallest."""
    known = {name: values for name, values in curves.items() if len(values) > 1}
    return Claim(
        "The frequency with which unknown samples are presented can greatly impact the detector's performance",
        "section 4.2, Fig. 5",
        all(values[-1] > values[0] for values in known.values()) if known else None,
        {f"{name}, first and last ratio": f"{values[0]:.4f}, {values[-1]:.4f}" for name, values in known.items()},
    )


def errors_rise(shares: Mapping[str, tuple[float, float]]) -> Claim:
    """The share of wrong detections rises with wild images; `shares`: on known images, and with wild ones."""
    return Claim(
        "Unknown objects can have a very significant impact: the share of false detections rises",
        "section 4.1, Fig. 3",
        all(opened > closed for closed, opened in shares.values()) if shares else None,
        {f"wrong, {name}, percent": f"{100 * a:.1f} to {100 * b:.1f}" for name, (a, b) in shares.items()},
        "the paper: almost doubles for Faster R-CNN at wilderness ratio 1",
    )


def yolo_is_worst(shares: Mapping[str, tuple[float, float]]) -> Claim:
    """YOLOv2 has the largest share of wrong detections with wild images."""
    decidable = "yolov2" in shares and len(shares) > 1
    return Claim(
        "YOLOv2 is the worst performer under the open-set protocol",
        "section 4.1, Fig. 3",
        max(shares, key=lambda name: shares[name][1]) == "yolov2" if decidable else None,
        {},
        "" if decidable else "needs a detector named yolov2 and another one",
    )


def confused_within_family(detector: str, within: int, total: int, expected: float) -> Claim:
    """Detections on unknown objects claim a class of the same family more often than by chance."""
    return Claim(
        "Most of the confusion is present among objects from the same parent family",
        "section 4.1, Fig. 4",
        within / total > max(expected, 0.5) if total else None,
        {f"{detector}: within the family": within, "of": total, "by chance, fraction": expected},
        "most: more than half, and more than by chance",
    )


def background_often_wins(shares: Mapping[str, float]) -> Claim:
    """Of correct detections, at least a twentieth have a higher background than object probability."""
    return Claim(
        "For a significant number of correct detections the background probability is the higher one",
        "supplement, Fig. 8, Table 3",
        sum(shares.values()) / len(shares) >= 0.05 if shares else None,
        {"mean share over classes": sum(shares.values()) / len(shares)} if shares else {},
        "significant: at least 5 %, mean over classes" if shares else "needs results with a background_score",
    )


def thresholds_do_not_carry_over(detector: str, thresholds: Mapping[float, Sequence[float]]) -> Claim:
    """For some beta the best threshold differs between wilderness ratios; `thresholds`: by beta, at rising ratios."""
    known = {beta: values for beta, values in thresholds.items() if len(values) > 1}
    return Claim(
        "Thresholds selected at a certain wilderness ratio do not generalize to other levels of wilderness",
        "supplement, Table 4",
        any(max(values) > min(values) for values in known.values()) if known else None,
        {f"{detector}, beta {beta:g}, lowest and highest": f"{min(v):.3f}, {max(v):.3f}" for beta, v in known.items()},
    )


def unknowns_grow_with_recall(shares: Mapping[str, Sequence[float]]) -> Claim:
    """The share of detections on unknown objects rises from the lowest to the highest recall."""
    known = {name: values for name, values in shares.items() if len(values) > 1}
    return Claim(
        "Detectors rapidly confuse objects they were not trained to identify with known objects",
        "supplement, Figs. 9-11",
        all(values[-1] > values[0] for values in known.values()) if known else None,
        {f"{name}, lowest and highest recall": f"{values[0]:.1%}, {values[-1]:.1%}" for name, values in known.items()},
        "the share of unknown and mixed unknown errors rises with recall",
    )


Differences = Mapping[tuple[str, str, float], Value | None]
"""AWI of the first family minus that of the second, at a recall."""


def heads_without_background_are_hit_harder(differences: Differences) -> Claim:
    """Heads of single shot detectors have a larger AWI than the one with a background class."""
    return _larger(
        "Single shot detectors (RetinaNet, YOLOv2) are impacted more than the two stage detector (Faster R-CNN)",
        "section 4.2, Table 2; here heads one versus rest and objectness against a background class",
        (("one versus rest", "background class"), ("objectness", "background class")),
        differences,
    )


def objectness_is_hit_most(differences: Differences) -> Claim:
    """The head of YOLOv2 has a larger AWI than that of RetinaNet."""
    return _larger(
        "YOLOv2 is impacted more than RetinaNet",
        "Table 2; here objectness against one versus rest",
        (("objectness", "one versus rest"),),
        differences,
    )


def sampling_is_worse(differences: Differences) -> Claim:
    """Dropout sampling has a larger AWI than the same head without."""
    return _larger(
        "The dropout sampling approach leads to much worse results",
        "section 4.2, Table 2",
        (("dropout sampling", "background class"),),
        differences,
    )


def _larger(
    text: str,
    source: str,
    pairs: Sequence[tuple[str, str]],
    differences: Differences,
) -> Claim:
    """Holds if every interval lies above 0, does not if one lies below; else the seeds do not tell.

    This rule was fixed before the trainings that it is applied to in the docs, of settings and seeds not used before.
    """
    keys = [(*pair, recall) for pair in pairs for recall in (0.1, 0.3, 0.5)]
    values = [value for key in keys if (value := differences.get(key)) is not None and value.low is not None]
    above = len(values) == len(keys) and all(value.low is not None and value.low > 0 for value in values)
    below = any(value.high is not None and value.high < 0 for value in values)
    return Claim(
        text,
        source,
        False if below else True if above else None,
        {
            f"{first} - {second} at {recall:g}": value.text(digits=3, sign=True)
            for first, second, recall in keys
            if (value := differences.get((first, second, recall))) is not None
        },
        "holds: every interval above 0; does not hold: one below 0",
    )
