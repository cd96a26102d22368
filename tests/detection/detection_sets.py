"""Small data sets for the tests: written by hand, drawn at random, and real ones where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from openset.detection.coco import Detections, GroundTruth


def make_truth(objects, *, n_images=1, classes=("a", "b"), source="truth", sizes=None):
    """Objects as (image, class, box[, "ignore" | "crowd"])."""
    flags = [one[3] if len(one) > 3 else "" for one in objects]
    return GroundTruth(
        source=source,
        image_ids=tuple(range(n_images)),
        file_names=tuple(f"{i}.png" for i in range(n_images)),
        class_ids=tuple(range(len(classes))),
        class_names=tuple(classes),
        image=np.array([one[0] for one in objects], dtype=np.int64),
        category=np.array([classes.index(one[1]) for one in objects], dtype=np.int64),
        box=np.array([one[2] for one in objects], dtype=float).reshape(-1, 4),
        ignore=np.array([flag == "ignore" for flag in flags], dtype=bool),
        crowd=np.array([flag == "crowd" for flag in flags], dtype=bool),
        sizes=sizes,
    )


def make_found(detections, *, classes=("a", "b"), background=None):
    """Detections as (image, class, box, score)."""
    return Detections(
        source="found",
        image=np.array([one[0] for one in detections], dtype=np.int64),
        category=np.array([classes.index(one[1]) for one in detections], dtype=np.int64),
        box=np.array([one[2] for one in detections], dtype=float).reshape(-1, 4),
        score=np.array([one[3] for one in detections], dtype=float),
        background_score=None if background is None else np.array(background, dtype=float),
    )


def random_set(seed, *, n_images=12, n_classes=3, n_objects=40, n_detections=120, levels=8, soft=0.2, classes=None):
    """Boxes on a coarse grid and few distinct scores, so that equal IoUs and equal scores are common."""
    random = np.random.default_rng(seed)
    names = tuple(classes or "abcdefgh"[:n_classes])

    def boxes(n):
        return np.column_stack([random.integers(0, 5, (n, 2)), random.integers(1, 5, (n, 2))]).astype(float)

    flag = random.random(n_objects)
    truth = GroundTruth(
        source="truth",
        image_ids=tuple(range(n_images)),
        file_names=tuple(f"{i}.png" for i in range(n_images)),
        class_ids=tuple(range(1, n_classes + 1)),
        class_names=names,
        image=random.integers(0, n_images, n_objects),
        category=random.integers(0, n_classes, n_objects),
        box=boxes(n_objects),
        ignore=flag < soft / 2,
        crowd=(flag >= soft / 2) & (flag < soft),
    )
    box = boxes(n_detections)
    near = random.random(n_detections) < 0.7
    like = random.integers(0, n_objects, n_detections)
    image = np.where(near, truth.image[like], random.integers(0, n_images, n_detections))
    category = np.where(random.random(n_detections) < 0.7, truth.category[like], random.integers(0, n_classes, n_detections))
    box[near] = truth.box[like[near]]
    box[near, 2:] += random.integers(0, 2, (int(near.sum()), 2))
    score = random.integers(1, levels + 1, n_detections) / levels
    return truth, Detections("found", image, category, box, score, random.random(n_detections))


def data_file(name):
    """A file of real detection data, from the folder that OPENSET_DATA names; the test is skipped without it."""
    folder = os.environ.get("OPENSET_DATA")
    if not folder:
        pytest.skip("OPENSET_DATA is not set: no real detection data")
    path = Path(folder) / "detection" / name
    if not path.exists():
        pytest.skip(f"there is no {name} in OPENSET_DATA/detection")
    return path
