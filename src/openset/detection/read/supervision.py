"""Detections of the supervision library, and whatever else has boxes, scores and classes as arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from openset.errors import OpenSetError


def from_supervision(
    found: Mapping[Any, Any], classes: Sequence[str] | Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """COCO results, which `evaluate_open_set` takes, from `supervision.Detections` by image.

    Args:
        found: detections of each image, by its id or file name: anything with `xyxy` (corners), `confidence` and
            `class_id`, as `supervision.Detections` has them.
        classes: names of the model's classes, by their numbers; without them the detections must bring names, in
            `data["class_name"]`.

    The rows name their classes, and results are matched to the names of the ground truth where they hold names.

    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(xyxy=[[0, 0, 10, 20]], confidence=[0.9], class_id=[1], data={})
    >>> from_supervision({"a.jpg": one}, ["cat", "dog"])
    [{'image_id': 'a.jpg', 'category_id': 'dog', 'bbox': [0.0, 0.0, 10.0, 20.0], 'score': 0.9}]
    """
    rows = []
    for image, detections in found.items():
        corners = np.asarray(detections.xyxy, dtype=np.float64).reshape(-1, 4)
        if not len(corners):
            continue
        if detections.confidence is None:
            raise OpenSetError(f"The detections of image {image!r} have no confidence, so nothing ranks them.")
        scores = np.asarray(detections.confidence, dtype=np.float64)
        names = _names(image, detections, classes)
        if not len(corners) == len(scores) == len(names):
            raise OpenSetError(
                f"Image {image!r} has {len(corners)} boxes, {len(scores)} confidences and {len(names)} classes."
            )
        sizes = corners[:, 2:] - corners[:, :2]
        for box, score, name in zip(
            np.column_stack([corners[:, :2], sizes]).tolist(), scores.tolist(), names, strict=True
        ):
            rows.append({"image_id": image, "category_id": name, "bbox": box, "score": score})
    return rows


def _names(image: Any, detections: Any, classes: Sequence[str] | Mapping[int, str] | None) -> list[str]:
    if classes is None:
        names = (getattr(detections, "data", None) or {}).get("class_name")
        if names is None:
            raise OpenSetError(
                f"The detections of image {image!r} do not name their classes: give the names of the model's classes."
            )
        return [str(name) for name in names]
    if detections.class_id is None:
        raise OpenSetError(f"The detections of image {image!r} have no class_id.")
    numbers = [int(number) for number in detections.class_id]
    known = classes if isinstance(classes, Mapping) else dict(enumerate(classes))
    missing = [number for number in numbers if number not in known]
    if missing:
        raise OpenSetError(f"Image {image!r} has class {missing[0]}, but {len(known)} classes are named.")
    return [str(known[number]) for number in numbers]
