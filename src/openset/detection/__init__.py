"""Open-set object detection: what the open world does to any detector, from its COCO results."""

from openset.detection.coco import Detections as Detections
from openset.detection.coco import GroundTruth as GroundTruth
from openset.detection.coco import read_ground_truth as read_ground_truth
from openset.detection.evaluation import OpenSetEvaluation as OpenSetEvaluation
from openset.detection.evaluation import evaluate_open_set as evaluate_open_set
from openset.detection.matching import match as match
from openset.detection.results import read_detections as read_detections
