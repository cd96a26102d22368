"""OpenAUC, the area under the OSCR curve."""

from conformance.card import Call, Case
from conformance.data import Sample, mixed, tensors, untied
from conformance.peers import OPENAUC_PAPER, OPENAUC_PROGRAM, OSCR_LOOP, OSR_METRICS, PYTORCH_OOD

OUR_OPEN_AUC = Call("openset.metrics.open_auc", lambda ours, s: ours(s.labels, s.predictions, s.unknown_score))
ONE_WRONG = Sample([0, 1, -2, -2], [0, 0, 1, 1], [0.3, 0.1, 0.3, 0.9])
AOSCR = Call(
    "osr_metrics.compute_aoscr",
    lambda theirs, s: theirs(s.unknown_score, s.is_open.astype(int), s.predictions, s.labels),
)

ORDERED = Sample([0, 0, -2], [0, 1, 0], [0.1, 0.1, 0.2])

CASES = [
    Case(
        "OpenAUC (area under OSCR)",
        OUR_OPEN_AUC,
        OSR_METRICS,
        AOSCR,
        ONE_WRONG,
        (0.375, 0.375),
        "Straight joints of the OSCR curve are half credit for equal scores.",
        draw=mixed,
    ),
    Case(
        "OpenAUC (area under OSCR)",
        OUR_OPEN_AUC,
        PYTORCH_OOD,
        Call(
            "pytorch_ood.metrics.functional.oscr_score",
            lambda theirs, s: theirs(*tensors(s.unknown_score, s.predictions, s.labels)),
        ),
        ONE_WRONG,
        (0.375, 0.375),
        "Straight joints of the OSCR curve are half credit for equal scores.",
        draw=mixed,
    ),
    Case(
        "OpenAUC of a constant score",
        OUR_OPEN_AUC,
        OSR_METRICS,
        AOSCR,
        Sample([0, 0, -2], [0, 1, 0], [7.0, 7.0, 7.0]),
        (0.25, 0.0),
        "Constant scores are a special case there that returns 0. By the same half credit as everywhere else the area "
        "is half the closed-set accuracy.",
        "theirs is wrong",
        draw=mixed,
        same_if="not all scores are equal",
    ),
    Case(
        "OpenAUC of equal scores",
        OUR_OPEN_AUC,
        OPENAUC_PAPER,
        Call(
            "conformance.programs.strict_pairs",
            lambda theirs, s: theirs(s.known_score, s.open_score, s.correct[~s.is_open]),
        ),
        Sample([0, 0, 0, 0, -2, -2, -2, -2], [0] * 8, [0.0, 0.1, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1]),
        (0.75, 0.5),
        "Eq. 12 asks for a strictly higher score; the authors' program and the area under the curve give half credit, "
        "which is our default. `ties='strict'` and `ties='full'` are the other two.",
        "another convention",
        draw=mixed,
        like_theirs=Call(
            "openset.metrics.open_auc",
            lambda ours, s: ours(s.labels, s.predictions, s.unknown_score, ties="strict"),
        ),
        same_if="`ties='strict'`",
    ),
    Case(
        "OpenAUC of large scores",
        OUR_OPEN_AUC,
        OPENAUC_PROGRAM,
        Call(
            "conformance.programs.open_auc_with_epsilon",
            lambda theirs, s: theirs(s.known_score, s.open_score, s.correct[~s.is_open]),
        ),
        Sample([0, -2], [1, 0], [1e12, 2e12]),
        (0.0, 0.5),
        "It moves misclassified knowns to the highest unknown score plus a small number, which float64 cannot hold "
        "beside 2e12, so they stay equal and get half credit. We count pairs, which needs no such number.",
        "theirs is wrong",
        draw=mixed,
        same_if="scores are small",
    ),
    Case(
        "OSCR, separable scores",
        OUR_OPEN_AUC,
        OSCR_LOOP,
        Call(
            "conformance.programs.oscr_loop",
            lambda theirs, s: theirs(-s.known_score, -s.open_score, s.correct[~s.is_open]),
        ),
        Sample([0, -2], [0, 0], [-0.9, -0.1]),
        (1.0, 0.5),
        "The loop counts unknowns from a place on but knowns only behind it, so at some thresholds one known is "
        "missing. Its number is too low by up to half of 1 / number of knowns, the most where data are few.",
        "theirs is wrong",
        draw=untied,
        same_if="1 / (2 * number of knowns) does not matter, and no two scores are equal",
        too_low_by=lambda s: 0.5 / len(s.known_score),
    ),
    Case(
        "OSCR, equal scores",
        OUR_OPEN_AUC,
        OSCR_LOOP,
        Call(
            "conformance.programs.oscr_loop",
            lambda theirs, s: theirs(-s.known_score, -s.open_score, s.correct[~s.is_open]),
        ),
        ORDERED,
        (0.5, 0.25),
        "Equal scores are taken one by one in the order of the file: with the two knowns exchanged it says 0.5. "
        "Samples with equal scores are accepted together, so the order must not matter.",
        "theirs is wrong",
    ),
]
