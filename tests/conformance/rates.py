"""A rate where another rate is reached: FPR and error at a TPR, CCR at an FPR."""

import numpy as np

from conformance.card import Call, Case
from conformance.data import Sample, mixed, tensors, untied
from conformance.peers import COMPARISON, OPENOOD, OSR_METRICS, PYTORCH_OOD, VAZE


def _ours_at_tpr(positive, tpr=0.95):
    return Call(
        "openset.metrics.fpr_at_tpr",
        lambda ours, s: ours(s.labels, s.unknown_score, positive=positive, tpr=tpr),
    )


FEW = Sample([0, 0, 0, -2, -2], unknown_score=[0.1, 0.3, 0.1, 0.2, 0.9])
TEN_UNKNOWNS = Sample(
    [0, 0, 0] + [-2] * 10,
    [0] * 13,
    [0.1, 0.25, 0.5, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2],
)
OUR_CCR = Call("openset.metrics.ccr_at_fpr", lambda ours, s: ours(s.labels, s.predictions, s.unknown_score, fpr=0.1))


def _their_ccr(name):
    return Call(name, lambda theirs, s: theirs(-s.known_score, -s.open_score, s.correct[~s.is_open], 0.1))


def _ccr_with_one_unknown_less(ccr_at_fpr, s):
    n_open = int(s.is_open.sum())
    allowed = int(np.ceil(0.1 * n_open)) - 1
    return ccr_at_fpr(s.labels, s.predictions, s.unknown_score, fpr=allowed / n_open)


CASES = [
    Case(
        "FPR at 95 % TPR, unknown positive",
        _ours_at_tpr("unknown"),
        PYTORCH_OOD,
        Call(
            "pytorch_ood.metrics.functional.fpr_at_tpr",
            lambda theirs, s: float(theirs(*tensors(s.unknown_score, s.labels))),
        ),
        FEW,
        (1 / 3, 1 / 3),
        "Fraction of knowns rejected where at least 95 % of the unknowns are rejected.",
        draw=mixed,
    ),
    Case(
        "FPR at 95 % TPR: which class is positive",
        _ours_at_tpr("known"),
        OSR_METRICS,
        Call("osr_metrics.fpr_at_95tpr", lambda theirs, s: theirs(s.unknown_score, s.is_open.astype(int))),
        FEW,
        (0.5, 1 / 3),
        "Under the same name some tools take the unknown (osr-metrics, pytorch-ood), others the known as positive "
        "(OpenOOD, our default). Our output always names it.",
        "another convention",
        draw=untied,
        like_theirs=_ours_at_tpr("unknown"),
        same_if="`positive='unknown'` and no two scores are equal",
    ),
    Case(
        "FPR at 50 % TPR of equal scores",
        _ours_at_tpr("unknown", 0.5),
        OSR_METRICS,
        Call("osr_metrics.fpr_at_tpr", lambda theirs, s: theirs(s.unknown_score, s.is_open.astype(int), 0.5)),
        Sample([0, 0, 0, -2, -2], unknown_score=[0.25, 0.5, 0.75, 0.25, 0.5]),
        (2 / 3, 1.0),
        "It searches a ROC curve from which scikit-learn has dropped the points that lie on a straight line, so the "
        "threshold that reaches the TPR may be missing and a later one is taken.",
        "theirs is wrong",
        draw=untied,
        same_if="no two scores are equal",
    ),
    Case(
        "Error at 95 % TPR",
        Call("openset.metrics.error_at_tpr", lambda ours, s: ours(s.labels, s.unknown_score)),
        VAZE,
        Call("conformance.programs.error_at_nearest_tpr", lambda theirs, s: theirs(s.is_open, s.unknown_score)),
        Sample([0, 0, -2, -2], unknown_score=[0.1, 0.2, 0.8, 0.9]),
        (0.0, 0.25),
        "It takes the TPR *nearest* to 95 %, which may lie below it, and then calls samples at the threshold known "
        "that the curve had counted as rejected. Separable data must give 0.",
        "theirs is wrong",
    ),
    Case(
        "CCR at FPR 0.1",
        OUR_CCR,
        OPENOOD,
        _their_ccr("conformance.programs.ccr_above_an_unknown"),
        TEN_UNKNOWNS,
        (2 / 3, 1 / 3),
        "One of ten unknowns may pass at FPR 0.1, but it asks knowns to be above that very unknown, so none passes.",
        "theirs is wrong",
        draw=untied,
        like_theirs=Call("openset.metrics.ccr_at_fpr", _ccr_with_one_unknown_less),
        same_if="our FPR allows one unknown less, and no two scores are equal",
    ),
    Case(
        "CCR at FPR 0.1",
        OUR_CCR,
        COMPARISON,
        _their_ccr("conformance.programs.ccr_below_the_rate"),
        TEN_UNKNOWNS,
        (2 / 3, None),
        "It wants an FPR *below* 0.1 and tries only scores of unknowns as thresholds; with ten unknowns the lowest FPR "
        "there is 0.1 itself, and the answer is none.",
        "theirs is wrong",
    ),
]
