"""Object detection: average precision as COCO has it, and the quantities of open-world detection."""

import contextlib
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.card import Call, Case
from conformance.peers import FASTER_COCO_EVAL, OWOD, PYCOCOTOOLS
from detection_sets import make_found, make_truth, random_set
from detection_textbook import coco_objects


@dataclass(frozen=True, eq=False)
class Detected:
    """Objects and detections."""

    truth: Any
    found: Any
    text: str = ""

    def __str__(self) -> str:
        return self.text


def detected(seed: int) -> Detected:
    """Many equal scores and overlaps, some crowds; detections in the order of images, by which COCO breaks ties."""
    truth, found = random_set(seed, soft=0.0, n_detections=200)
    truth.crowd[:] = np.random.default_rng(seed).random(len(truth.crowd)) < 0.2
    return Detected(truth, found.select(np.argsort(found.image, kind="stable")))


def _average_precision(evaluate_open_set, d):
    """101-point AP at IoU .5 by COCO's matching; one wild image without detections."""
    wild = make_truth([], classes=("elk",))
    nothing = d.found.select(np.zeros(0, dtype=int))
    result = evaluate_open_set(d.truth, d.found, wild, nothing, recalls=[0.5], matching="coco", bootstrap=0)
    return result.mean_average_precision.known["coco_101_point"]


def _their_average_precision(coco):
    def use(evaluator, d):
        with contextlib.redirect_stdout(io.StringIO()):
            found = evaluator(*coco_objects(d.truth, d.found, coco()), "bbox")
            found.params.iouThrs = np.array([0.5])
            found.evaluate()
            found.accumulate()
        precision = found.eval["precision"][0, :, :, 0, 2]  # all areas, maxDets 100
        return float(precision[:, precision[0] > -1].mean())

    return use


def _pycocotools():
    from pycocotools.coco import COCO

    return COCO


def _faster_coco_eval():
    from faster_coco_eval import COCO

    return COCO


HALF_FOUND = Detected(
    make_truth([(0, "a", [0, 0, 10, 10]), (0, "a", [50, 50, 10, 10])], classes=("a",)),
    make_found([(0, "a", [0, 0, 10, 10], 0.9), (0, "a", [20, 20, 10, 10], 0.8)], classes=("a",)),
    "two objects; one correct detection at score 0.9, one false one at 0.8",
)
CROWDED = Detected(
    make_truth([(0, "a", [0, 0, 10, 10])], classes=("a",)),
    make_found([*((0, "a", [50, 50, 10, 10], 0.9) for _ in range(100)), (0, "a", [0, 0, 10, 10], 0.5)], classes=("a",)),
    "one object; 100 false detections at score 0.9 on its image, then the correct one at 0.5",
)
OUR_AP = Call("openset.detection.evaluate_open_set", _average_precision)
COCO_AP = Call("pycocotools.cocoeval.COCOeval", _their_average_precision(_pycocotools))

AVERAGE_PRECISION = [
    Case(
        "Average precision, COCO rule",
        OUR_AP,
        PYCOCOTOOLS,
        COCO_AP,
        HALF_FOUND,
        (51 / 101, 51 / 101),
        "IoU 0.5, mean of the interpolated precision at 101 recalls, over classes with objects.",
        draw=detected,
        draws=30,
    ),
    Case(
        "Average precision, COCO rule",
        OUR_AP,
        FASTER_COCO_EVAL,
        Call("faster_coco_eval.COCOeval_faster", _their_average_precision(_faster_coco_eval)),
        HALF_FOUND,
        (51 / 101, 51 / 101),
        "IoU 0.5, mean of the interpolated precision at 101 recalls, over classes with objects.",
        draw=detected,
        draws=30,
    ),
    Case(
        "Average precision with more than 100 detections",
        OUR_AP,
        PYCOCOTOOLS,
        COCO_AP,
        CROWDED,
        (1 / 101, 0.0),
        "COCO looks at the best 100 detections per image and class (maxDets); we look at all, since false detections "
        "are what wild images are about. `match(..., max_detections=100)` does as COCO.",
        "another convention",
        draw=detected,
        draws=30,
        same_if="no image has more than 100 detections of a class",
    ),
]


# ---- open-world detection --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WildImage:
    """Boxes (x, y, width, height) of unknown objects and of detections on a wild image, all of class `called`."""

    objects: list[list[float]]
    detections: list[list[float]]
    called: str = "a"

    def __str__(self) -> str:
        return f"unknown objects {self.objects}; detections of class '{self.called}' {self.detections}"


def wild_image(seed: int) -> WildImage:
    """Boxes of whole pixels on a small image."""
    rng = np.random.default_rng(seed)
    objects, found = (
        np.column_stack([rng.integers(0, 6, (n, 2)), rng.integers(2, 12, (n, 2))]).tolist() for n in (5, 12)
    )
    return WildImage(objects, found)


def _owod(evaluate_open_set, w, *, pixel=0):
    """OWOD's quantities with one known image beside; `pixel` is added to widths and heights."""
    boxes, found = ([[x, y, a + pixel, b + pixel] for x, y, a, b in rows] for rows in (w.objects, w.detections))
    names = ("a", "unknown")
    known = {
        "images": [{"id": 0}],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names)],
        "annotations": [{"id": 1, "image_id": 0, "category_id": 0, "bbox": [0, 0, 10, 10]}],
    }
    wild = {
        "images": [{"id": 0}],
        "categories": [{"id": 0, "name": "elk"}],
        "annotations": [{"id": n, "image_id": 0, "category_id": 0, "bbox": box} for n, box in enumerate(boxes, 1)],
    }
    on_known = [{"image_id": 0, "category_id": 0, "bbox": [0, 0, 10, 10], "score": 0.9}]
    on_wild = [{"image_id": 0, "category_id": names.index(w.called), "bbox": box, "score": 0.5} for box in found]
    return evaluate_open_set(known, on_known, wild, on_wild, recalls=[0.5], bootstrap=0).owod


def _corners(rows):
    return [[x, y, x + width, y + height] for x, y, width, height in rows]


def _far_apart(seed: int) -> WildImage:
    """Large nested pairs, so that a pixel more decides nothing; boxes near one of them or near none."""
    rng = np.random.default_rng(seed)
    objects = [[0, 0, 1000, 1000], [0, 0, 1000, 880], [3000, 0, 900, 900], [3000, 0, 700, 900]]
    choice = [[0, 0, 1000, 990], [0, 0, 1000, 900], [3000, 0, 850, 900], [3000, 0, 710, 900], [6000, 0, 500, 500]]
    return WildImage(objects, [choice[i] for i in rng.integers(0, 5, 3)], "unknown")


OPEN_WORLD = [
    Case(
        "A-OSE: which pixels a box has",
        Call("openset.detection.evaluate_open_set", lambda ours, w: _owod(ours, w).a_ose),
        OWOD,
        Call(
            "conformance.programs.pixels_on_unknowns",
            lambda theirs, w: theirs(_corners(w.detections), _corners(w.objects)),
        ),
        WildImage([[0, 0, 10, 10]], [[0, 0, 10, 5]]),
        (0, 1),
        "OWOD counts the last row and column of pixels as part of a box (+1, as the VOC devkit): IoU 0.545 instead of "
        "0.5. COCO's boxes, and ours, are continuous. Small boxes gain the most.",
        "another convention",
        draw=wild_image,
        like_theirs=Call("openset.detection.evaluate_open_set", lambda ours, w: _owod(ours, w, pixel=1).a_ose),
        same_if="our boxes are one pixel wider and higher",
    ),
    Case(
        "U-Recall of nested objects",
        Call("openset.detection.evaluate_open_set", lambda ours, w: _owod(ours, w).u_recall),
        OWOD,
        Call(
            "conformance.programs.unknown_recall",
            lambda theirs, w: theirs(_corners(w.detections), _corners(w.objects)),
        ),
        WildImage([[0, 0, 100, 100], [0, 0, 100, 90]], [[0, 0, 100, 95]], "unknown"),
        (0.5, 0.5),
        "A detection finds at most one object, the one it overlaps most.",
        draw=_far_apart,
    ),
]


CASES = [*AVERAGE_PRECISION, *OPEN_WORLD]
