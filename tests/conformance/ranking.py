"""Metrics of the ranking alone: AUROC, AUPR, AURC."""

import numpy as np

from conformance.card import Call, Case
from conformance.data import Sample, mixed, tensors, untied, within_unit
from conformance.peers import ARPL, OSR_METRICS, PYTORCH_OOD, SCIKIT_LEARN, TORCHMETRICS

OUR_AUROC = Call("openset.metrics.auroc", lambda auroc, s: auroc(s.labels, s.unknown_score))
ONE_TIE = Sample([0, 1, -2, -2], unknown_score=[0.3, 0.1, 0.3, 0.9])

AUROC = [
    Case(
        "AUROC",
        OUR_AUROC,
        SCIKIT_LEARN,
        Call("sklearn.metrics.roc_auc_score", lambda theirs, s: theirs(s.is_open, s.unknown_score)),
        ONE_TIE,
        (0.875, 0.875),
        "Unknown is the positive class, equal scores count half.",
        draw=mixed,
    ),
    Case(
        "AUROC",
        OUR_AUROC,
        PYTORCH_OOD,
        Call(
            "pytorch_ood.metrics.functional.auroc",
            lambda theirs, s: float(theirs(*tensors(s.unknown_score, s.labels))),
        ),
        ONE_TIE,
        (0.875, 0.875),
        "Labels below 0 are the positive class, equal scores count half.",
        draw=mixed,
    ),
    Case(
        "AUROC of scores outside [0, 1]",
        OUR_AUROC,
        TORCHMETRICS,
        Call(
            "torchmetrics.functional.classification.binary_auroc",
            lambda theirs, s: float(theirs(*tensors(s.unknown_score.astype(np.float32), s.is_open.astype(int)))),
        ),
        Sample([0, -2], unknown_score=[20.0, 30.0]),
        (1.0, 0.5),
        "Scores outside [0, 1] pass through a sigmoid without a word; in float32 it is 1 for both, so they become "
        "equal. AUROC depends on the order alone, and 30 is above 20.",
        "theirs is wrong",
        draw=within_unit,
        same_if="every score lies in [0, 1]",
        rounding=1e-6,  # their result is float32
    ),
    Case(
        "AUROC of equal scores",
        OUR_AUROC,
        ARPL,
        Call("conformance.programs.auroc_by_merging", lambda theirs, s: theirs(-s.known_score, -s.open_score)),
        Sample([0, -2], unknown_score=[0.5, 0.5]),
        (0.5, 0.0),
        "In its walk over both sorted lists a known always comes before an equal unknown, so equal pairs get no "
        "credit: a constant score has AUROC 0 instead of 0.5.",
        "theirs is wrong",
        draw=untied,
        same_if="no two scores are equal",
    ),
]


# ---- AUPR ------------------------------------------------------------------------------------------------------------

OUR_AUPR = Call("openset.metrics.aupr", lambda aupr, s: aupr(s.labels, s.unknown_score))
OUR_AUPR_KNOWN = Call("openset.metrics.aupr", lambda aupr, s: aupr(s.labels, s.unknown_score, positive="known"))
FIVE = Sample([0, 0, 0, -2, -2], unknown_score=[0.1, 0.4, 0.35, 0.8, 0.3])


def _trapezoid(precision_recall_curve, s):
    """Area under our precision-recall points by straight joints, from recall 0 at precision 1."""
    curve = precision_recall_curve(s.labels, s.unknown_score)
    recall, precision = curve.recall.copy(), curve.precision.copy()
    recall[-1], precision[-1] = 0.0, 1.0  # the last threshold rejects nothing
    return float(-np.trapezoid(precision, recall))


AUPR = [
    Case(
        "AUPR, unknown positive",
        OUR_AUPR,
        SCIKIT_LEARN,
        Call("sklearn.metrics.average_precision_score", lambda theirs, s: theirs(s.is_open, s.unknown_score)),
        FIVE,
        (0.75, 0.75),
        "Average precision: gain in recall times precision, step by step.",
        draw=mixed,
    ),
    Case(
        "AUPR, known positive",
        OUR_AUPR_KNOWN,
        OSR_METRICS,
        Call("osr_metrics.aupr_in", lambda theirs, s: theirs(s.unknown_score, s.is_open.astype(int))),
        FIVE,
        (2 / 3 + 1 / 3 * 3 / 4 - 1 / 3 * 1 / 3, 2 / 3 + 1 / 3 * 3 / 4 - 1 / 3 * 1 / 3),
        "Average precision: gain in recall times precision, step by step.",
        draw=mixed,
    ),
    Case(
        "AUPR, unknown positive",
        OUR_AUPR,
        PYTORCH_OOD,
        Call(
            "pytorch_ood.metrics.functional.aupr",
            lambda theirs, s: float(theirs(*tensors(s.unknown_score, s.labels))),
        ),
        FIVE,
        (0.75, 0.75 - 1 / 24),
        "Straight joints between precision-recall points (as in OpenOOD) instead of steps. Precision is not linear in "
        "recall between two points, so the straight joint is no achievable curve; we use steps and say so.",
        "another convention",
        draw=mixed,
        like_theirs=Call("openset.curves.precision_recall_curve", _trapezoid),
        same_if="our own points are joined by straight lines",
    ),
]


# ---- AURC ------------------------------------------------------------------------------------------------------------

OUR_AURC = Call("openset.metrics.aurc", lambda aurc, s: aurc(s.labels, s.predictions, s.unknown_score))
THEIR_AURC = Call("osr_metrics.aurc", lambda theirs, s: theirs(s.unknown_score, 1.0 - s.correct))
THEIR_AURRA = Call(
    "pytorch_ood.metrics.functional.aurra",
    lambda theirs, s: 1.0 - theirs(*tensors(-s.unknown_score, s.correct.astype(int))),
)

AURC = [
    Case(
        "AURC of equal scores",
        OUR_AURC,
        OSR_METRICS,
        THEIR_AURC,
        Sample([0, -2, -2], [0, 0, 0], [0.1, 0.5, 0.5]),
        (7 / 18, 7 / 18),
        "An accepted open-set sample is an error. Equal scores: the mean over all their orders.",
        draw=mixed,
    ),
    Case(
        "AURC",
        OUR_AURC,
        PYTORCH_OOD,
        THEIR_AURRA,
        Sample([0, -2, -2], [0, 0, 0], [0.1, 0.5, 0.9]),
        (7 / 18, 7 / 18),
        "`aurra` is 1 - AURC where every open-set sample counts as answered wrongly.",
        draw=untied,
    ),
    Case(
        "AURC of equal scores",
        OUR_AURC,
        PYTORCH_OOD,
        THEIR_AURRA,
        Sample([0, -2], [0, 0], [0.5, 0.5]),
        (0.5, 0.25),
        "Equal scores are taken in whatever order the sort leaves them: 0.25 or 0.75 for the same two samples. The "
        "mean over the orders is 0.5.",
        "theirs is wrong",
        draw=untied,
        same_if="no two scores are equal",
    ),
]

CASES = [*AUROC, *AUPR, *AURC]
