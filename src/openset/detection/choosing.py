"""Choosing where to run a detector: per-class thresholds by a rule.

Thresholds accept equal scores together, and precision here is what the threshold really gives, not interpolated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openset.detection.measure.operating import operate
from openset.detection.measure.ranking import Ranked, at_recall, wild_above
from openset.detection.measure.sets import OpenSetData, data_fingerprint, input_files
from openset.detection.read.coco import Floats, Ints
from openset.detection.thresholds import Thresholds
from openset.errors import OpenSetError, check_share, did_you_mean

# ---- F-beta --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Choices:
    """Every threshold worth considering, one per score of a correct detection, with what it accepts."""

    threshold: Floats
    starts: Ints
    precision: Floats
    """Rows as `threshold`, one column per number of wild images."""
    recall: Floats


def _choices(ranked: Ranked, data: OpenSetData, levels: Ints) -> _Choices:
    """Lowering a threshold to the next correct detection is the only way to gain recall, so others need no look."""
    rows = np.flatnonzero(ranked.correct)
    rows = rows[np.unique(ranked.tie_end[rows], return_index=True)[1]]
    last = ranked.tie_end[rows]
    starts = np.searchsorted(rows, ranked.starts)
    sizes = np.diff(starts)
    total = np.concatenate([[0], np.cumsum(ranked.correct)])
    true = total[last + 1] - np.repeat(total[ranked.starts[:-1]], sizes)
    taken = last + 1 - np.repeat(ranked.starts[:-1], sizes)
    false_open = wild_above(ranked.score[rows], starts, data.wild_found, levels, ties=True)
    recall = true / np.repeat(np.maximum(ranked.n_objects, 1), sizes)
    return _Choices(ranked.score[rows], starts, true[:, None] / (taken[:, None] + false_open), recall)


@dataclass(frozen=True)
class FBetaRow:
    """The best F-beta of one class at one wilderness ratio (a row of the paper's Table 4)."""

    class_name: str
    ratio: float
    beta: float
    f_score: float
    precision: float
    recall: float
    threshold: float


def best_f_beta(
    data: OpenSetData, ranked: Ranked, *, beta: float = 1.0, ratios: Sequence[float] | None = None
) -> tuple[FBetaRow, ...]:
    """The threshold of the largest F-beta for each class and wilderness ratio; of equal ones the highest threshold.

    F-beta = (1 + beta^2) precision recall / (recall + beta^2 precision). Ratios: 0 and steps of .25, as in the paper.
    Classes without a correct detection have no such threshold and are left out.
    """
    if not 0 < beta <= 1e6:
        raise OpenSetError(f"best_f_beta: 'beta' must be a positive number of at most {1e6:g}, got {beta:g}.")
    n_known, n_wild = data.known.n_images, data.wild.n_images
    chosen = sorted(ratios) if ratios is not None else [k / 4 for k in range(4 * n_wild // n_known + 1)]
    levels = np.array([_images_at(ratio, n_known, n_wild) for ratio in chosen], dtype=np.int64)
    choices = _choices(ranked, data, levels)
    precision, recall = choices.precision, choices.recall[:, None]
    score = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    rows = []
    for c, name in enumerate(data.known.class_names):
        begin, end = choices.starts[c], choices.starts[c + 1]
        if begin == end:
            continue
        best = begin + np.argmax(score[begin:end], axis=0)
        for j, ratio in enumerate(chosen):
            i = best[j]
            values = (score[i, j], precision[i, j], choices.recall[i], choices.threshold[i])
            rows.append(FBetaRow(name, ratio, beta, *map(float, values)))
    return tuple(rows)


def _images_at(ratio: float, n_known: int, n_wild: int) -> int:
    if not 0 <= ratio < np.inf or round(ratio * n_known) > n_wild:
        raise OpenSetError(f"Wilderness ratio {ratio:g} is not possible with {n_known} known and {n_wild} wild images.")
    return round(ratio * n_known)


# ---- rules ---------------------------------------------------------------------------------------------------------


def _by_recall(data: OpenSetData, ranked: Ranked, value: float, ratio: float) -> Floats:
    return at_recall(ranked, check_share("threshold", "recall", value))


def _by_precision(data: OpenSetData, ranked: Ranked, value: float, ratio: float) -> Floats:
    """The largest recall whose precision, with wild images at `ratio`, is at least `value`."""
    check_share("threshold", "precision", value)
    level = np.array([_images_at(ratio, data.known.n_images, data.wild.n_images)])
    choices = _choices(ranked, data, level)
    thresholds = np.full(ranked.n_classes, np.inf)
    for c in range(ranked.n_classes):
        part = slice(choices.starts[c], choices.starts[c + 1])
        good = np.flatnonzero(choices.precision[part, 0] >= value)
        if len(good):
            thresholds[c] = choices.threshold[part][good[-1]]
    return thresholds


def _by_f_beta(data: OpenSetData, ranked: Ranked, value: float, ratio: float) -> Floats:
    thresholds = np.full(ranked.n_classes, np.inf)
    for row in best_f_beta(data, ranked, beta=value, ratios=[ratio]):
        thresholds[data.known.class_names.index(row.class_name)] = row.threshold
    return thresholds


def _by_wild_fp(data: OpenSetData, ranked: Ranked, value: float, ratio: float) -> Floats:
    """One threshold for all classes: the lowest with at most `value` accepted detections per 1,000 wild images."""
    return np.full(ranked.n_classes, _lowest_within(data.wild_found.score, _budget(data, value)))


def _by_wild_fp_per_class(data: OpenSetData, ranked: Ranked, value: float, ratio: float) -> Floats:
    """The same budget for each class on its own."""
    wild = data.wild_found
    budget = _budget(data, value)
    return np.array([_lowest_within(wild.score[wild.category == c], budget) for c in range(ranked.n_classes)])


def _budget(data: OpenSetData, value: float) -> int:
    if not (np.isfinite(value) and value >= 0):
        raise OpenSetError(f"threshold: 'wild_fp' must be 0 or more, got {value:g}.")
    if not data.wild.n_images:
        raise OpenSetError("The rule 'wild_fp' counts false positives on wild images: give wild images and detections.")
    return int(np.floor(min(value * data.wild.n_images / 1000, len(data.wild_found)) + 1e-9))


def _lowest_within(scores: Floats, budget: int) -> float:
    """The lowest threshold that accepts at most `budget` of the scores: just above the first one too many."""
    if len(scores) <= budget:
        return 0.0
    too_many = np.partition(scores, len(scores) - budget - 1)[len(scores) - budget - 1]
    return float(np.nextafter(too_many, np.inf))


_Rule = Callable[[OpenSetData, Ranked, float, float], Floats]
RULES: Mapping[str, _Rule] = {
    "recall": _by_recall,
    "precision": _by_precision,
    "f_beta": _by_f_beta,
    "wild_fp": _by_wild_fp,
    "wild_fp_per_class": _by_wild_fp_per_class,
}
_JUDGED_AT_A_RATIO = ("precision", "f_beta")


def parse_rule(rule: str) -> tuple[str, float]:
    """Name and number of a rule: `recall=0.3`.

    >>> parse_rule("f_beta=2")
    ('f_beta', 2.0)
    """
    name, _, text = (part.strip() for part in rule.partition("="))
    if name not in RULES:
        raise OpenSetError(f"There is no rule named {name!r}. {did_you_mean(name, RULES)}")
    try:
        return name, float(text)
    except ValueError:
        raise OpenSetError(f"The rule {rule!r} needs a number, as in '{name}=0.3'.") from None


def choose(
    data: OpenSetData,
    ranked: Ranked,
    rule: str,
    *,
    ratio: float = 0.0,
    matching: str = "voc",
    iou: float = 0.5,
    max_detections: int | None = None,
) -> Thresholds:
    """Per-class thresholds by a rule such as `recall=0.3`, `precision=0.9`, `f_beta=1` or `wild_fp=10`.

    `ratio` is the wilderness ratio at which `precision` and `f_beta` are judged. `wild_fp` is a budget of accepted
    detections per 1,000 wild images, all classes together under one threshold; `wild_fp_per_class`, each on its own.
    `matching` and `iou` say how `ranked` was matched, and `max_detections` how the data were `limited` before, which is
    written down with the thresholds.
    """
    name, value = parse_rule(rule)
    if ratio and name not in _JUDGED_AT_A_RATIO:
        raise OpenSetError(f"The rule {name!r} does not depend on a wilderness ratio: leave the ratio {ratio:g} out.")
    thresholds = RULES[name](data, ranked, value, ratio)
    if not np.isfinite(thresholds).any():
        raise OpenSetError(f"No class satisfies the rule {rule!r}: choose a milder one.")
    return Thresholds(
        rule=rule if not ratio else f"{rule} at wilderness ratio {ratio:g}",
        thresholds={
            name: float(value) if np.isfinite(value) else None
            for name, value in zip(data.known.class_names, thresholds, strict=True)
        },
        achieved=operate(data, ranked, thresholds).total,
        n={"known": data.known.n_images, "wild": data.wild.n_images, "objects": int(ranked.n_objects.sum())},
        matching=matching,
        iou=iou,
        max_detections=max_detections,
        files={
            part: name for part, name in input_files(data).items() if part.startswith("known") or data.wild.n_images
        },
        fingerprint=data_fingerprint(data),
    )
