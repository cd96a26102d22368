"""One backbone, several heads: do families of detectors differ in how unknown objects affect them?

Every cell is one training (a head and a seed) on scenes of the demo; its results file makes the study resumable.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from openset._io.folder_lock import hold
from openset._io.json_files import read_json, write_json
from openset.detection.measure.evaluation import evaluate_open_set
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.scenes import KNOWN, UNKNOWN, Scene, coco_scenes, draw_scenes, labels, pixels
from openset.errors import needing
from openset.results.provenance import provenance
from openset.studies.detector_demo import as_results
from openset.studies.grid import Shard
from openset.studies.key import Key
from openset.studies.plan import Plan, Step
from openset.train.loop import Watch

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
    """Of every training and test; results of other settings are not used.

    Chosen before any result of theirs was known: so many steps that the heads come near each other in average precision
    (after 3,500 objectness, the slowest, has .99 on scenes of seed 777) and that five seeds take some twenty minutes.
    """

    steps: int = 2000
    batch: int = 16
    n_train: int = 3000
    n_known: int = 400
    n_wild: int = 1840
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


@dataclass(frozen=True)
class DetectorCell:
    """One training of a detector, in the grid of heads and seeds."""

    head: str
    seed: int
    settings: Settings
    results: Path
    """Folder of the results files."""
    out: Path
    """Where its lock is, and logs of jobs."""
    protocol: str = "drawn scenes"
    beginnings: tuple["DetectorCell", ...] = ()
    plain_epochs: int = 0

    @property
    def key(self) -> Key:
        """Every seed draws its own scenes: there are no splits."""
        return Key(self.protocol, self.head, 0, self.seed)

    @property
    def training(self) -> str:
        """No two cells share one."""
        return f"{self.head}-seed{self.seed}"

    @property
    def folder(self) -> Path:
        """Where it is run; nothing stays there."""
        return self.out / self.training

    @property
    def content(self) -> Mapping[str, Any] | None:
        """Of its results file, if that was made with the same settings."""
        file = self._file
        content = read_json(file) if file.is_file() else {}
        return content if content.get("settings") == asdict(self.settings) else None

    @property
    def is_finished(self) -> bool:
        """Whether its results are there."""
        return self.content is not None

    def run(self, *, on_corrupt: str = "stop", watch: Watch | None = None, wait: bool = False) -> Mapping[str, Any]:
        """Its results: read, or trained, tested and kept."""
        content = self.content
        if content is None:
            with hold(self.folder, wait=wait):
                content = self.content  # of the process that was waited for
                if content is None:
                    content = _train(self.head, self.seed, self.settings)
                    write_json(self._file, content)
        return content

    @property
    def _file(self) -> Path:
        return self.results / f"{self.training}.json"


def families_grid(results: Path, out: Path, seeds: Sequence[int], settings: Settings) -> list[DetectorCell]:
    """All heads with all seeds, those that see the same scenes one after the other."""
    heads = dict.fromkeys(one.head for one in FAMILIES)
    return [DetectorCell(head, seed, settings, results, out) for seed in seeds for head in heads]


def families_plan(cells: Sequence[DetectorCell], shard: Shard) -> Plan:
    """What a run would do."""
    contents = {cell: cell.content for cell in cells}
    known = [found["seconds"] for found in contents.values() if found and "seconds" in found]
    seconds = fmean(known) if known else None
    return Plan(
        [
            Step(cell, "train", 1, seconds) if contents[cell] is None else Step(cell, "done")
            for task in shard.tasks(cells)
            for cell in task
        ]
    )


def trained_families(cells: Sequence[DetectorCell]) -> list[Trained]:
    """Of the cells that are finished."""
    contents = [cell.content for cell in cells]
    return [Trained(**one) for content in contents if content is not None for one in content["families"]]


def _train(head: str, seed: int, settings: Settings) -> dict[str, Any]:
    with needing("Comparing families of detectors, which trains them,"):
        from openset.detection.adapters.yolo import detect, train
    start = time.perf_counter()
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
    return {
        "settings": asdict(settings),
        "families": rows,
        "seconds": round(time.perf_counter() - start, 1),
        "provenance": provenance("torch"),
    }


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
