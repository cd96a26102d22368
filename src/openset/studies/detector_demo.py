"""The demo: draw shapes, train a small detector on some of them, and see what it calls the others."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openset._io.atomic import replacing
from openset._io.json_files import write_json
from openset._io.npz import write_npz
from openset.detection.gallery import Gallery, draw_gallery
from openset.detection.measure.evaluation import evaluate_open_set
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.sets import load_wild
from openset.detection.scenes import KNOWN, UNKNOWN, Scene, coco_scenes, draw_scenes, labels, pixels
from openset.errors import is_installed, needing


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    result: OpenSetEvaluation
    gallery: Gallery | None
    """None if the detector is silent on every wild image."""
    figures: tuple[Path, ...]
    seconds_training: float
    n_train: int


def run_demo(
    out: str | Path,
    *,
    steps: int = 1500,
    n_train: int = 3000,
    n_known: int = 400,
    n_wild: int = 800,
    seed: int = 0,
    bootstrap: int = 1000,
    report: Callable[[str, float], None] | None = None,
) -> Demo:
    """Draw, train, predict, evaluate; all files are left in `out` for other commands to work with."""
    with needing("The demo, which trains a detector,"):
        from openset.detection.adapters.yolo import detect, train
    say = report or (lambda what, share: None)
    folder = Path(out)
    say("drawing scenes", 0.0)
    training = draw_scenes(n_train, KNOWN, seed=seed)
    known, wild = draw_scenes(n_known, KNOWN, seed=seed + 1), draw_scenes(n_wild, UNKNOWN, seed=seed + 2)
    write_json(folder / "known.json", coco_scenes(known, KNOWN, prefix="known", first_id=1))
    write_json(folder / "wild.json", coco_scenes(wild, UNKNOWN, prefix="wild", first_id=n_known + 1))
    _save_pictures(folder / "images", known, "known", 1)
    _save_pictures(folder / "images", wild, "wild", n_known + 1)

    start = time.perf_counter()
    model = train(
        pixels(training),
        [scene.boxes for scene in training],
        labels(training, KNOWN),
        len(KNOWN),
        steps=steps,
        seed=seed,
        report=lambda step, value: say(f"training, loss {value:.2f}", (step + 1) / steps),
    )
    seconds = time.perf_counter() - start
    write_npz(folder / "detector.npz", {name: value.numpy() for name, value in model.state_dict().items()})

    say("looking at the test scenes", 1.0)
    for name, scenes, first in (("known", known, 1), ("wild", wild, n_known + 1)):
        write_json(folder / f"{name}_dt.json", as_results(detect(model, pixels(scenes)), first))
    say("evaluating", 1.0)
    files = [folder / f"{name}.json" for name in ("known", "known_dt", "wild", "wild_dt")]
    result = evaluate_open_set(*files, bootstrap=bootstrap, seed=seed)
    write_json(folder / "result.json", result.to_json())
    truth, wild_truth, found = load_wild(files[0], files[2], files[3])
    gallery = None
    if len(found):
        gallery = draw_gallery(wild_truth, found, truth.class_names, folder / "images", folder / "gallery")
    return Demo(result, gallery, tuple(_figures(result, folder)), seconds, n_train)


def _figures(result: OpenSetEvaluation, folder: Path) -> list[Path]:
    """Figures, if matplotlib is there: the demo is complete without them."""
    if not is_installed("matplotlib"):
        return []
    from openset.present.plots import write_detection_figures

    return write_detection_figures(folder / "figures", "small YOLO", result)


def _save_pictures(folder: Path, scenes: list[Scene], prefix: str, first: int) -> None:
    for i, scene in enumerate(scenes, first):
        with replacing(folder / f"{prefix}-{i:05d}.png") as temporary:
            scene.picture.save(temporary, format="PNG")


def as_results(found: list[tuple[Any, Any, Any, Any]], first: int) -> list[dict[str, Any]]:
    """Detections as COCO results; class ids start at 1."""
    return [
        {
            "image_id": i,
            "category_id": int(label) + 1,
            "bbox": np.round(box, 2).tolist(),
            "score": round(float(score), 6),
            "background_score": round(float(background), 6),
        }
        for i, one in enumerate(found, first)
        for box, label, score, background in zip(*one, strict=True)
    ]
