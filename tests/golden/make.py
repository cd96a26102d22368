"""Write the inputs and the figures that `test_golden.py` holds fast: python tests/golden/make.py.

Only when values are meant to change; then CHANGELOG.md says so under a heading of its own.
"""

import contextlib
import json
from pathlib import Path

import numpy as np

from openset import Scores
from openset.cli import main

HERE = Path(__file__).parent
DETECTORS = ("--known-gt", "known.json", "--wild-gt", "wild.json")
COMMANDS = {
    "evaluate": ("evaluate", "a.csv", "--resamples", "50"),
    "compare": ("compare", "a.csv", "b.csv", "--resamples", "50"),
    "threshold": ("threshold", "a.csv", "--rule", "at_fpr=0.1", "--apply", "b.csv"),
    "audit": ("audit", "a.csv"),
    "detect-evaluate": ("detect", "evaluate", *DETECTORS, "--dt", "found.json", "--bootstrap", "20"),
}
PASSING = {"provenance", "meta", "made"}
"""What changes with the machine and the version."""


def values(name: str, folder: Path) -> object:
    """What a command writes as JSON, without what may change."""
    words = [str(HERE / word) if (HERE / word).is_file() else word for word in COMMANDS[name]]
    with contextlib.suppress(SystemExit):
        main([*words, "--json", str(folder / f"{name}.json")])
    return _lasting(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))


def _lasting(content: object) -> object:
    if isinstance(content, dict):
        return {key: _lasting(value) for key, value in content.items() if key not in PASSING}
    if isinstance(content, list):
        return [_lasting(one) for one in content]
    return Path(content).name if isinstance(content, str) and str(HERE) in content else content


def write_inputs() -> None:
    """Two models on the same 120 samples, and a detector on a few known and wild images."""
    random = np.random.default_rng(0)
    labels = np.concatenate([np.arange(60) % 3, np.full(20, -1), np.full(40, -2)])
    groups = np.where(labels == -2, np.where(np.arange(120) % 2, "near", "far"), "")
    for name, skill in (("a", 1.5), ("b", 1.0)):
        logits = random.normal(size=(120, 3)).round(2)
        logits[np.arange(60), labels[:60]] += skill
        scores = Scores.from_logits(labels, logits, score="max_logit", class_names=("cat", "dog", "owl"))
        ids = [f"s{place}" for place in range(120)]
        made = Scores(
            labels,
            scores.predictions,
            scores.unknown_score,
            scores.probabilities,
            ("cat", "dog", "owl"),
            ids=ids,
            groups=groups,
        )
        made.write(HERE / f"{name}.csv")
    truths, found, first = {}, [], 1
    for part, n in (("known", 12), ("wild", 16)):
        names = {1: "cat", 2: "dog"} if part == "known" else {7: "zebra"}
        images = [
            {"id": first + place, "file_name": f"{part}{place}.jpg", "width": 100, "height": 80} for place in range(n)
        ]
        objects = []
        for image in images:
            for _ in range(int(random.integers(1, 3))):
                corner, size = random.integers(0, 50, 2), random.integers(15, 30, 2)
                box = [int(one) for one in (*corner, *size)]
                kind = int(random.choice(list(names)))
                objects.append({"id": len(objects) + 1, "image_id": image["id"], "category_id": kind, "bbox": box})
                seen = int(random.choice([1, 2])) if part == "wild" or random.random() < 0.2 else kind
                if random.random() < (0.9 if part == "known" else 0.5):
                    moved = [int(one) for one in np.add(box, random.integers(-3, 4, 4))]
                    score = round(float(random.random()), 3)
                    found.append({"image_id": image["id"], "category_id": seen, "bbox": moved, "score": score})
        kinds = [{"id": number, "name": word} for number, word in names.items()]
        for one in objects:
            one.update(area=one["bbox"][2] * one["bbox"][3], iscrowd=0)
        truths[part] = {"images": images, "annotations": objects, "categories": kinds}
        first += n
    for part, truth in truths.items():
        (HERE / f"{part}.json").write_text(json.dumps(truth), encoding="utf-8")
    (HERE / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    write_inputs()
    for one in COMMANDS:
        with tempfile.TemporaryDirectory() as place:
            content = values(one, Path(place))
        (HERE / f"{one}.values.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
