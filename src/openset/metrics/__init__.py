"""Every score-level metric: plain functions of arrays, data first, options by name."""

# The order in which the modules are loaded is the order in which reports list their metrics.
from openset.metrics import ranking, decisions, probabilities  # noqa: F401, I001
from openset.metrics._card import METRICS as METRICS
from openset.metrics._card import Metric as Metric
from openset.metrics._card import describe as describe
from openset.metrics._card import metric as metric
from openset.metrics._card import titled as titled
from openset.metrics.probabilities import Confidence as Confidence
from openset.metrics.probabilities import Confidences as Confidences
from openset.metrics.probabilities import brier_score as brier_score
from openset.metrics.probabilities import confidence as confidence
from openset.metrics.probabilities import expected_calibration_error as expected_calibration_error
from openset.metrics.decisions import ConfusionMatrix as ConfusionMatrix
from openset.metrics.decisions import AcceptedOpenClass as AcceptedOpenClass
from openset.metrics.decisions import closed_set_accuracy as closed_set_accuracy
from openset.metrics.decisions import normalized_accuracy as normalized_accuracy
from openset.metrics.decisions import open_set_confusion_matrix as open_set_confusion_matrix
from openset.metrics.decisions import open_set_f_score as open_set_f_score
from openset.metrics.decisions import openness as openness
from openset.metrics.decisions import operational_accuracy as operational_accuracy
from openset.metrics.decisions import youden_index as youden_index
from openset.metrics.ranking import accuracy_auroc as accuracy_auroc
from openset.metrics.ranking import augrc as augrc
from openset.metrics.ranking import aupr as aupr
from openset.metrics.ranking import aupr_trapezoid as aupr_trapezoid
from openset.metrics.ranking import aurc as aurc
from openset.metrics.ranking import auroc as auroc
from openset.metrics.ranking import ccr_at_fpr as ccr_at_fpr
from openset.metrics.ranking import error_at_tpr as error_at_tpr
from openset.metrics.ranking import fpr_at_tpr as fpr_at_tpr
from openset.metrics.ranking import known_precision as known_precision
from openset.metrics.ranking import open_auc as open_auc
from openset.metrics.ranking import partial_open_auc as partial_open_auc

__all__ = [
    "METRICS", "AcceptedOpenClass", "Confidence", "Confidences", "ConfusionMatrix", "Metric", "accuracy_auroc",
    "augrc", "aupr", "aupr_trapezoid", "aurc", "auroc",
    "brier_score", "ccr_at_fpr", "closed_set_accuracy", "confidence", "describe",
    "error_at_tpr", "expected_calibration_error", "fpr_at_tpr", "known_precision", "metric", "normalized_accuracy",
    "open_auc", "open_set_confusion_matrix", "open_set_f_score", "openness",
    "operational_accuracy", "partial_open_auc", "titled",
    "youden_index",
]  # fmt: skip
