"""Small valid files of every kind that a command reads: what the fuzz damages."""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from fuzz.folder_samples import write_folder_samples
from fuzz.model_samples import write_model_samples
from openset import Scores
from openset.operating import choose
from openset.posthoc import Outputs, fit

NAMES = ("cat", "dog", "owl")
PROTOCOL = """\
name: three animals
title: Three animals and two that are not
data: animals.parquet
known: [cat, dog, owl]
negative: [fox]
unknown: {near: [elk], far: {data: more.parquet}}
validation: 0.25
test: 0.5
notes: ["the first note", "the second"]
"""
RECIPE = """\
protocol: digits
split: 1
seed: 3
method: {name: openauc, weight: 0.1}
backbone: {name: fastnet}
train: {epochs: 2, threshold: at_acceptance=0.9}
data: {batch_size: 64}
optimizer: {lr: 0.01}
"""


@dataclass(frozen=True)
class Samples:
    """The folder of the valid files; every one has a fixed name in it."""

    folder: Path

    def content(self, name: str) -> bytes:
        """The bytes of one of them."""
        return (self.folder / name).read_bytes()


def make_samples(folder: Path) -> Samples:
    """Write them all; the training run takes a few seconds, the rest none."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_scores(folder)
    _write_outputs(folder)
    _write_detections(folder)
    _write_protocol(folder)
    (folder / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    _write_run(folder / "run")
    write_model_samples(folder)
    write_folder_samples(folder)
    return Samples(folder)


def _write_scores(folder: Path) -> None:
    random = np.random.default_rng(0)
    labels = np.array([0, 1, 2] * 6 + [-1] * 4 + [-2] * 6)
    logits = random.normal(size=(28, 3)).round(2)
    logits[np.arange(18), labels[:18]] += 1.5
    made = Scores.from_logits(labels, logits, score="msp", class_names=NAMES)
    ids = [f"s{row}" for row in range(28)]
    groups = np.where(labels == -2, np.where(np.arange(28) % 2, "near", "far"), "")
    full = Scores(
        labels, made.predictions, made.unknown_score, made.probabilities, NAMES, ids=ids, groups=groups, meta=made.meta
    )
    for kind in ("csv", "tsv", "parquet", "npz"):
        full.write(folder / f"scores.{kind}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choose(full, "at_acceptance=0.9").write(folder / "threshold.json")
    words = [NAMES[label] if label >= 0 else ("unknown", "negative")[label + 2] for label in labels]
    named = pl.DataFrame(
        {"id": ids, "label": words, "prediction": [NAMES[one] for one in made.predictions]}
        | {"unknown_score": made.unknown_score.round(3)}
        | {f"prob_{name}": column for name, column in zip(NAMES, full.probabilities.T.round(4), strict=True)}
    )
    named.write_csv(folder / "named.csv")
    named.drop([f"prob_{name}" for name in NAMES]).write_csv(folder / "short.csv")
    named.write_parquet(folder / "named.parquet", compression="uncompressed")
    np.savez(folder / "named.npz", labels=words, predictions=named["prediction"].to_numpy().astype(str),
             unknown_score=made.unknown_score)  # fmt: skip
    np.save(folder / "logits.npy", np.column_stack([labels, logits]))


def _write_outputs(folder: Path) -> None:
    random = np.random.default_rng(1)
    for name, labels in (("train", [0, 1, 2] * 6), ("test", [0, 1, 2] * 4 + [-2] * 6)):
        numbers = np.array(labels)
        features = random.normal(size=(len(numbers), 4)) + 2 * np.eye(4)[numbers.clip(-1)]
        weight, bias = np.eye(3, 4), np.zeros(3)
        np.savez(folder / f"outputs_{name}.npz", labels=numbers, logits=features @ weight.T + bias, features=features,
                 weight=weight, bias=bias)  # fmt: skip
    stored = np.load(folder / "outputs_train.npz")
    outputs = Outputs(stored["logits"], stored["features"], labels=stored["labels"])
    for name in ("knn(k=3)", "mahalanobis"):
        fit(name, outputs).save(folder / f"{name.partition('(')[0]}.safetensors")


def _write_detections(folder: Path) -> None:
    random = np.random.default_rng(2)
    boxes = iter(random.integers(1, 40, size=(200, 4)).tolist())
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    for name, first, kinds in (("known", 1, categories), ("wild", 9, [{"id": 7, "name": "zebra"}])):
        images = [
            {"id": first + place, "file_name": f"{name}{place}.jpg", "width": 100, "height": 80} for place in range(8)
        ]
        objects = [
            {"id": first * 100 + place, "image_id": first + place % 8, "category_id": kinds[place % len(kinds)]["id"],
             "bbox": next(boxes), "area": 100, "iscrowd": 0}
            for place in range(12)
        ]  # fmt: skip
        content = {"images": images, "annotations": objects, "categories": kinds}
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        found = [
            {"image_id": one["image_id"], "category_id": 1 + place % 2, "bbox": one["bbox"],
             "score": round(0.95 - 0.07 * place, 2)}
            for place, one in enumerate(objects)
        ]  # fmt: skip
        (folder / f"{name}_found.json").write_text(json.dumps(found), encoding="utf-8")


def _write_protocol(folder: Path) -> None:
    (folder / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    random = np.random.default_rng(3)
    for name, kinds in (("animals", [*NAMES, "fox", "elk"]), ("more", ["emu", "yak"])):
        labels = kinds * 8
        values = {f"feature_{place}": random.normal(size=len(labels)).round(2) for place in range(3)}
        pl.DataFrame({"label": labels, **values}).write_parquet(folder / f"{name}.parquet")


def _write_run(folder: Path) -> None:
    from openset.train.config import read_config
    from openset.train.run import begin, train

    settings = ["train.epochs=1", "data.batch_size=256", "backbone.width=2"]
    config = read_config(None, settings, **{"protocol": "digits", "method.name": "softmax"})
    train(begin(config, folder, resume=False), folder)
    from PIL import Image

    Image.fromarray((np.arange(64).reshape(8, 8) * 4).astype(np.uint8)).save(folder.parent / "digit.png")
