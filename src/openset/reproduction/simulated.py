"""Simulated detectors: files of made-up objects and detections, so that every step of a study runs without data."""

from pathlib import Path
from typing import Any

import numpy as np

from openset._io.json_files import write_json
from openset.reproduction.options import Detector

KNOWN = ("dog", "cow", "bus", "chair")
WILD = ("elephant", "zebra", "truck", "bench")
NAMES = ("simulated A", "simulated B")
_SIDE = 100.0


def simulate(folder: Path, *, n_known: int = 300, n_wild: int = 450, seed: int = 0) -> dict[str, Detector]:
    """Two detectors on known and wild images; the second one is surer of unknown objects."""
    random = np.random.default_rng(seed)
    truth = {"known": _truth(random, n_known, KNOWN, 1), "wild": _truth(random, n_wild, WILD, n_known + 1)}
    for part, content in truth.items():
        write_json(folder / f"{part}.json", content)
    found = {}
    for name, boldness in zip(NAMES, (0.0, 0.15), strict=True):
        files = {part: folder / f"{name.replace(' ', '-')}-{part}.json" for part in truth}
        for part, content in truth.items():
            write_json(files[part], _results(random, content, part, boldness))
        found[name] = Detector(folder / "known.json", folder / "wild.json", files["known"], files["wild"])
    return found


def _truth(random: np.random.Generator, n: int, names: tuple[str, ...], first: int) -> dict[str, Any]:
    images = [{"id": i, "file_name": f"{i}.png", "width": 200, "height": 200} for i in range(first, first + n)]
    annotations: list[dict[str, Any]] = []
    for image in images:
        for _ in range(int(random.integers(1, 3))):
            x, y = random.uniform(0, _SIDE, 2)
            box = [round(float(number), 2) for number in (x, y, random.uniform(30, 80), random.uniform(30, 80))]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image["id"],
                    "category_id": int(random.integers(1, len(names) + 1)),
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                }
            )
    categories = [{"id": i, "name": name} for i, name in enumerate(names, 1)]
    return {"images": images, "annotations": annotations, "categories": categories}


def _results(random: np.random.Generator, truth: dict[str, Any], part: str, boldness: float) -> list[dict[str, Any]]:
    """Most known objects are found, some wrongly; unknown ones are mostly taken for their own kind, less surely."""
    rows = []
    for one in truth["annotations"]:
        if part == "wild" and random.random() > 0.5:
            continue
        centre = 0.7 if part == "known" else 0.45 + boldness
        score = float(np.clip(random.normal(centre, 0.18), 0.01, 0.999))
        shift = random.normal(0, 4, 2)
        box = [round(one["bbox"][0] + float(shift[0]), 2), round(one["bbox"][1] + float(shift[1]), 2), *one["bbox"][2:]]
        right = random.random() < 0.85
        category = one["category_id"] if right else int(random.integers(1, len(KNOWN) + 1))
        rest = 1 - score
        rows.append(
            {
                "image_id": one["image_id"],
                "category_id": category,
                "bbox": box,
                "score": round(score, 4),
                "background_score": round(float(rest * random.uniform(0.5, 1.0)), 4),
            }
        )
    for image in truth["images"]:
        if random.random() < 0.3:  # on nothing at all
            x, y = random.uniform(0, _SIDE, 2)
            score = float(np.clip(random.normal(0.3 + boldness / 2, 0.15), 0.01, 0.999))
            rows.append(
                {
                    "image_id": image["id"],
                    "category_id": int(random.integers(1, len(KNOWN) + 1)),
                    "bbox": [round(float(x), 2), round(float(y), 2), 15.0, 15.0],
                    "score": round(score, 4),
                    "background_score": round(0.9 * (1 - score), 4),
                }
            )
    return rows
