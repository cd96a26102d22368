"""Metrics of the decision: accuracy, F-score, openness."""

import numpy as np

from conformance.card import Call, Case
from conformance.data import Classes, Sample, classes, mixed
from conformance.peers import OOSA, PYTORCH_OOD, SCIKIT_LEARN

OUR_ACCURACY = Call("openset.metrics.closed_set_accuracy", lambda ours, s: ours(s.labels, s.predictions))
OUR_BALANCED = Call("openset.metrics.closed_set_accuracy", lambda ours, s: ours(s.labels, s.predictions, balanced=True))
UNEVEN = Sample([0, 0, 0, 1, -2], [0, 0, 0, 0, 1])


def _knowns(s):
    known = s.labels >= 0
    return s.labels[known], s.predictions[known]


ACCURACY = [
    Case(
        "Closed-set accuracy",
        OUR_ACCURACY,
        SCIKIT_LEARN,
        Call("sklearn.metrics.accuracy_score", lambda theirs, s: theirs(*_knowns(s))),
        UNEVEN,
        (0.75, 0.75),
        "On the knowns alone, nothing rejected.",
        draw=mixed,
    ),
    Case(
        "Closed-set accuracy, class-balanced",
        OUR_BALANCED,
        SCIKIT_LEARN,
        Call("sklearn.metrics.balanced_accuracy_score", lambda theirs, s: theirs(*_knowns(s))),
        UNEVEN,
        (0.5, 0.5),
        "Mean over the known classes, each of which has samples.",
        draw=mixed,
    ),
]


# ---- F-score ---------------------------------------------------------------------------------------------------------

FOUR = Sample([0, 0, 1, -2], [0, 1, 1, 1], [0.1, 0.1, 0.1, 0.1])


def _ours(average):
    return Call(
        "openset.metrics.open_set_f_score",
        lambda ours, s: ours(s.labels, s.predictions, s.unknown_score, threshold=0.5, average=average),
    )


def _decisions(s):
    """True and decided class; both are -1 for the open set."""
    return np.maximum(s.labels, -1), np.where(s.unknown_score > 0.5, -1, s.predictions)


def _macro(precision_recall_fscore_support, s):
    known = list(range(s.labels.max() + 1))
    precision, recall, _, _ = precision_recall_fscore_support(
        *_decisions(s), labels=known, average="macro", zero_division=0
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _f1(average, *, unknown_too=False):
    def use(f1_score, s):
        wanted = [*range(s.labels.max() + 1), *([-1] if unknown_too else [])]
        return f1_score(*_decisions(s), labels=wanted, average=average, zero_division=0)

    return Call("sklearn.metrics.f1_score", use)


MEAN_OF_CLASSES = (
    "The mean of the classes' F-scores; eq. 2 of the OpenAUC paper is the harmonic mean of mean precision and mean "
    "recall, which is what we call macro. Both are in use: name the one you report."
)

F_SCORE = [
    Case(
        "Open-set F-score, macro",
        _ours("macro"),
        SCIKIT_LEARN,
        Call("sklearn.metrics.precision_recall_fscore_support", _macro),
        FOUR,
        (12 / 17, 12 / 17),
        "The harmonic mean of macro precision and macro recall over the K known classes, at threshold 0.5.",
        draw=mixed,
    ),
    Case(
        "Open-set F-score, micro",
        _ours("micro"),
        SCIKIT_LEARN,
        _f1("micro"),
        FOUR,
        (4 / 7, 4 / 7),
        "Counts of the K known classes are added first, at threshold 0.5.",
        draw=mixed,
    ),
    Case(
        "Macro F1 over the K known classes",
        _ours("macro"),
        SCIKIT_LEARN,
        _f1("macro"),
        FOUR,
        (12 / 17, 7 / 12),
        MEAN_OF_CLASSES,
        "another convention",
    ),
    Case(
        "Macro F1 over K + 1 classes",
        _ours("macro"),
        SCIKIT_LEARN,
        _f1("macro", unknown_too=True),
        FOUR,
        (12 / 17, 7 / 18),
        'With "unknown" as one more class. Eq. 2 runs over the known classes; unknowns count there as false positives.',
        "another convention",
    ),
]

OPENNESS = [
    Case(
        "Openness",
        Call("openset.metrics.openness", lambda ours, c: ours(n_train=c.n_train, n_test=c.n_test)),
        PYTORCH_OOD,
        Call(
            "pytorch_ood.metrics.functional.calc_openness",
            lambda theirs, c: theirs(c.n_train, c.n_test, c.n_train),
        ),
        Classes(6, 10),
        (1 - np.sqrt(0.75), 1 - np.sqrt(0.75)),
        "Scheirer et al., 2013; the classes to recognise are those of training.",
        draw=classes,
    )
]

# ---- operational accuracy --------------------------------------------------------------------------------------------

FROZEN = 0.5
FIVE = Sample([0, 1, 1, -2, -2], [0, 1, 0, 0, 1], [0.1, 0.2, 0.6, 0.7, 0.9])


def _operational(ours, s, threshold):
    return ours(s.labels, s.predictions, s.unknown_score, threshold=threshold)


def _their_accuracy(**options):
    return Call(
        "conformance.programs.open_set_accuracy",
        lambda theirs, s: theirs(-s.unknown_score, s.correct, s.is_open, **options),
    )


def _accepting_one_more(ours, s):
    return _operational(ours, s, min(s.unknown_score[s.unknown_score > FROZEN]))


OPERATIONAL = [
    Case(
        "Operational accuracy (OOSA), at the best threshold of a file",
        Call(
            "openset.metrics.operational_accuracy",
            lambda ours, s: max(_operational(ours, s, at) for at in np.unique(s.unknown_score)),
        ),
        OOSA,
        _their_accuracy(),
        FIVE,
        (0.8, 0.8),
        "Knowns that are accepted and correct and open-set samples that are rejected, of all samples: every sample "
        "counts alike. The threshold of validation data is the one that is best there.",
        draw=mixed,
    ),
    Case(
        "Operational accuracy (OOSA), at a threshold of other data",
        Call("openset.metrics.operational_accuracy", lambda ours, s: _operational(ours, s, FROZEN)),
        OOSA,
        _their_accuracy(threshold=-FROZEN),
        Sample([0, -2], [0, 0], [0.1, 0.9]),
        (1.0, 0.5),
        "At the threshold 0.5 the known is accepted and the unknown rejected. The program reads its curve at the first "
        "confidence below the threshold, and so accepts the samples that have it.",
        "theirs is wrong",
        like_theirs=Call("openset.metrics.operational_accuracy", _accepting_one_more),
        draw=mixed,
        same_if="the threshold is the next score of a sample above it",
    ),
]

CASES = [*ACCURACY, *F_SCORE, *OPENNESS, *OPERATIONAL]
