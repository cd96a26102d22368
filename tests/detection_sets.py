"""Small data sets for the tests: written by hand, drawn at random, and real ones where they are at hand."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openset.detection.read.coco import Detections, GroundTruth


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
    category = np.where(
        random.random(n_detections) < 0.7, truth.category[like], random.integers(0, n_classes, n_detections)
    )
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


def random_wild(seed, *, n_images=20, n_classes=3, n_detections=80, levels=8):
    """Wild images with objects of other classes, and false detections on them."""
    truth, found = random_set(
        seed + 1000, n_images=n_images, n_classes=n_classes, n_detections=n_detections, levels=levels
    )
    return replace(truth, class_names=tuple(f"wild {i}" for i in range(n_classes)), source="wild"), found


def pencil_case():
    """The case that the tests work out on paper: four known and four wild images, classes a and b.

    a has 4 objects. Its detections by falling score: correct, too loose, correct, a duplicate with an equal score,
    correct. b has 2 objects and one detection, which is wrong, so b reaches no recall.
    """
    known = make_truth(
        [
            *((i, "a", [0, 0, 10, 10]) for i in range(4)),
            (0, "b", [50, 50, 10, 10]),
            (1, "b", [50, 50, 10, 10]),
        ],
        n_images=4,
    )
    known_found = make_found(
        [
            (0, "a", [0, 0, 10, 10], 0.9),
            (3, "a", [0, 0, 10, 30], 0.8),
            (1, "a", [0, 0, 10, 10], 0.7),
            (1, "a", [0, 0, 10, 9], 0.7),
            (2, "a", [0, 0, 10, 10], 0.6),
            (2, "b", [90, 90, 5, 5], 0.9),
        ]
    )
    animals = ("elephant", "zebra")
    wild = make_truth(
        [(0, "elephant", [0, 0, 10, 10]), (2, "zebra", [0, 0, 10, 10])],
        n_images=4,
        classes=animals,
        source="wild",
    )
    wild_found = make_found(
        [
            (0, "a", [0, 0, 10, 20], 0.95),
            (0, "b", [0, 0, 10, 10], 0.99),
            (1, "a", [0, 0, 10, 10], 0.7),
            (2, "a", [0, 0, 10, 10], 0.8),
            (3, "a", [0, 0, 10, 10], 0.6),
        ]
    )
    return known, known_found, wild, wild_found
