"""Metrics of probabilities: calibration error and Brier score."""

from conformance.card import Call, Case
from conformance.data import Sample, untied
from conformance.peers import OSR_METRICS, SCIKIT_LEARN, TORCHMETRICS


def _knowns(s):
    known = s.labels >= 0
    return s.labels[known], s.probabilities[known]


def _ours(bins):
    return Call(
        "openset.metrics.expected_calibration_error",
        lambda ours, s: ours(s.labels, s.probabilities, bins=bins),
    )


def _torchmetrics(bins):
    def use(theirs, s):
        import torch

        labels, probabilities = (torch.as_tensor(values) for values in _knowns(s))
        return float(theirs(probabilities, labels, num_classes=probabilities.shape[1], n_bins=bins))

    return Call("torchmetrics.functional.classification.multiclass_calibration_error", use)


def _osr_metrics(bins):
    return Call(
        "osr_metrics.expected_calibration_error_multiclass",
        lambda theirs, s: theirs(*reversed(_knowns(s)), n_bins=bins),
    )


TWO = Sample([0, 0], probabilities=[[0.9, 0.1], [0.4, 0.6]])
ON_AN_EDGE = Sample([0, 0], probabilities=[[0.5, 0.5], [0.1, 0.9]])
EDGE = (
    "A confidence on the edge of two bins belongs to the lower one in Guo et al., 2017, as in ours, and to the upper "
    "one there. It matters for confidences of exactly 1/2, 1/3, ... only."
)

CALIBRATION = [
    Case(
        "Expected calibration error",
        _ours(15),
        TORCHMETRICS,
        _torchmetrics(15),
        TWO,
        (0.35, 0.35),
        "Bins of equal width, absolute gaps, knowns alone.",
        draw=untied,
        rounding=1e-6,  # their sums are float32
    ),
    Case(
        "Expected calibration error",
        _ours(15),
        OSR_METRICS,
        _osr_metrics(15),
        TWO,
        (0.35, 0.35),
        "Bins of equal width, absolute gaps, knowns alone.",
        draw=untied,
    ),
    Case(
        "Calibration error, a confidence on an edge",
        _ours(2),
        OSR_METRICS,
        _osr_metrics(2),
        ON_AN_EDGE,
        (0.7, 0.2),
        EDGE,
        "another convention",
        draw=untied,
        same_if="no confidence is on an edge",
    ),
    Case(
        "Calibration error, a confidence on an edge",
        _ours(2),
        TORCHMETRICS,
        _torchmetrics(2),
        ON_AN_EDGE,
        (0.7, 0.2),
        EDGE,
        "another convention",
        draw=untied,
        same_if="no confidence is on an edge",
        rounding=1e-6,  # their sums are float32
    ),
]

OUR_BRIER = Call("openset.metrics.brier_score", lambda ours, s: ours(s.labels, s.probabilities))


def _sklearn_brier(brier_score_loss, s):
    labels, probabilities = _knowns(s)
    return brier_score_loss(labels, probabilities, labels=range(probabilities.shape[1]), scale_by_half=False)


BRIER = [
    Case(
        "Brier score",
        OUR_BRIER,
        SCIKIT_LEARN,
        Call("sklearn.metrics.brier_score_loss", _sklearn_brier),
        TWO,
        (0.37, 0.37),
        "Squared errors are summed over classes (`scale_by_half=False`), knowns alone.",
        draw=untied,
    ),
    Case(
        "Brier score",
        OUR_BRIER,
        OSR_METRICS,
        Call("osr_metrics.brier_score_multiclass", lambda theirs, s: theirs(*reversed(_knowns(s)))),
        TWO,
        (0.37, 0.37),
        "Squared errors are summed over classes, knowns alone.",
        draw=untied,
    ),
]

CASES = [*CALIBRATION, *BRIER]
