"""Open-set object detection: what the open world does to any detector, from its COCO results."""

from openset.detection.measure.evaluation import evaluate_open_set as evaluate_open_set
from openset.detection.measure.matching import match as match
from openset.detection.measure.result import OpenSetEvaluation as OpenSetEvaluation
from openset.detection.read.coco import Detections as Detections
from openset.detection.read.coco import GroundTruth as GroundTruth
from openset.detection.read.coco import read_ground_truth as read_ground_truth
from openset.detection.read.results import read_detections as read_detections
from openset.detection.read.supervision import from_supervision as from_supervision

__all__ = [
    "Detections", "GroundTruth", "OpenSetEvaluation", "evaluate_open_set", "from_supervision", "match",
    "read_detections", "read_ground_truth",
]  # fmt: skip
