"""Real data where it is at hand; hand-written and random sets are in `detection_sets`."""

import pytest


@pytest.fixture(scope="session")
def voc2007():
    """The same as `voc`, for tests that have a fixture of that name."""
    return _voc()


@pytest.fixture(scope="session")
def voc():
    """PASCAL VOC 2007 test with the detections of a real YOLOv2."""
    return _voc()


def _voc():
    from detection_sets import data_file
    from openset.detection.read.coco import read_ground_truth
    from openset.detection.read.results import read_detections

    truth = read_ground_truth(data_file("voc2007_test.json.gz"))
    return truth, read_detections(data_file("voc2007_test_yolov2.json.gz"), truth)
