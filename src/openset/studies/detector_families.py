"""One backbone, several heads: do families of detectors differ in how unknown objects affect them?

Every cell is one training (a head and a seed) on scenes of the demo; its results file makes the study resumable.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json, write_json
from openset.detection.measure.evaluation import evaluate_open_set
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.scenes import KNOWN, UNKNOWN, Scene, coco_scenes, draw_scenes, labels, pixels
from openset.errors import needing
from openset.results.provenance import provenance
from openset.studies.detector_demo import as_results

RECALLS = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Family:
    """A way to detect: a head, and how many passes with dropout are averaged."""

    title: str
    head: str
    published: str
    """The paper's detector of this family."""
    passes: int = 1


FAMILIES = (
    Family("background class", "background", "faster-rcnn"),
    Family("one versus rest", "one_versus_rest", "retinanet"),
    Family("objectness", "objectness", "yolov2"),
    Family("dropout sampling", "background", "dropout", passes=10),
)
"""Dropout sampling looks at the same scenes with the same weights as the background class, ten times."""


@dataclass(frozen=True)
class Settings:
    """Of every training and test; results of other settings are not used."""

    steps: int = 700
    batch: int = 16
    n_train: int = 2000
    n_known: int = 200
    n_wild: int = 920
    """With the known ones, the paper's largest wilderness ratio: 4.6."""


@dataclass(frozen=True)
class Trained:
    """What one family is like, trained with one seed."""

    family: str
    seed: int
    average_precision: float
    awi: dict[str, float]
    """By recall; one that no class reaches is not there."""
    fp_per_1000: dict[str, float]
    unreached: dict[str, list[str]]


def run_families(
    folder: Path,
    seeds: Sequence[int],
    settings: Settings,
    *,
    show: bool = False,
    tell: Callable[[str], object] = str,
) -> list[Trained]:
    """Results of all families and seeds; what is missing in `folder` is trained, or left out with `show`."""
    heads = list(dict.fromkeys(one.head for one in FAMILIES))
    found = []
    for seed in seeds:
        for head in heads:
            file = folder / f"{head}-seed{seed}.json"
            content = _read(file, settings)
            if content is None:
                if show:
                    continue
                start = time.perf_counter()
                content = _train(head, seed, settings)
                write_json(file, content)
                tell(f"{head}, seed {seed}: {(time.perf_counter() - start) / 60:.1f} minutes")
            found += [Trained(**one) for one in content["families"]]
    return found


def _read(file: Path, settings: Settings) -> Any:
    """A finished cell, if it was made with the same settings."""
    content = read_json(file) if file.is_file() else {}
    return content if content.get("settings") == asdict(settings) else None


def _train(head: str, seed: int, settings: Settings) -> dict[str, Any]:
    with needing("Comparing families of detectors, which trains them,"):
        from openset.detection.adapters.yolo import detect, train
    training, known, wild = _scenes(seed, settings)
    model = train(
        pixels(training),
        [scene.boxes for scene in training],
        labels(training, KNOWN),
        len(KNOWN),
        head=head,
        steps=settings.steps,
        batch=settings.batch,
        seed=seed,
    )
    truth = coco_scenes(known, KNOWN, prefix="known", first_id=1)
    wild_truth = coco_scenes(wild, UNKNOWN, prefix="wild", first_id=len(known) + 1)
    rows = []
    for family in FAMILIES:
        if family.head == head:
            results = as_results(detect(model, pixels(known), passes=family.passes, seed=seed), 1)
            wild_results = as_results(detect(model, pixels(wild), passes=family.passes), len(known) + 1)
            found = evaluate_open_set(truth, results, wild_truth, wild_results, recalls=RECALLS, bootstrap=0)
            rows.append(asdict(_summary(family, seed, found)))
    return {"settings": asdict(settings), "families": rows, "provenance": provenance("torch")}


@lru_cache(maxsize=1)
def _scenes(seed: int, settings: Settings) -> tuple[list[Scene], list[Scene], list[Scene]]:
    """To learn from, known and wild ones, the same for every head; no two seeds share any."""
    numbers = (settings.n_train, KNOWN), (settings.n_known, KNOWN), (settings.n_wild, UNKNOWN)
    training, known, wild = (draw_scenes(n, shapes, seed=1000 * seed + i) for i, (n, shapes) in enumerate(numbers))
    return training, known, wild


def _summary(family: Family, seed: int, found: OpenSetEvaluation) -> Trained:
    points = {f"{point.recall:g}": point for point in found.operating}
    return Trained(
        family.title,
        seed,
        found.mean_average_precision.known["all_point"],
        {f"{row.recall:g}": row.awi for row in found.wilderness},
        {name: point.total.fp_per_1000.value or 0.0 for name, point in points.items()},
        {name: list(point.unreached) for name, point in points.items() if point.unreached},
    )
