"""Can this detector be released? Evaluate it in the wild, freeze thresholds, and gate on them.

The files may be your own: ground truth and results of images with known objects, and of wild images without any.
Here they are those of a simulated detector.
"""

import json
import subprocess
from pathlib import Path

import numpy as np


def write_example(folder: Path, *, n_known: int = 200, n_wild: int = 400) -> None:
    """COCO files of a detector that finds most cats and dogs, and sees some in images of other things."""
    rng = np.random.default_rng(0)
    classes = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    known, objects, found = [], [], []
    for image in range(n_known):
        known.append({"id": image, "width": 640, "height": 480, "file_name": f"known{image}.jpg"})
        box = [float(number) for number in (*rng.integers(0, 300, 2), *rng.integers(60, 160, 2))]
        label = int(rng.integers(1, 3))
        objects.append({"id": image, "image_id": image, "category_id": label, "bbox": box})
        if rng.random() < 0.9:
            score = float(rng.beta(5, 2))
            found.append({"image_id": image, "category_id": label, "bbox": box, "score": score})
    wild = [
        {"id": n_known + image, "width": 640, "height": 480, "file_name": f"wild{image}.jpg"} for image in range(n_wild)
    ]
    for image in wild:
        if rng.random() < 0.3:
            box = [float(number) for number in (*rng.integers(0, 300, 2), *rng.integers(60, 160, 2))]
            label, score = int(rng.integers(1, 3)), float(rng.beta(2, 5))
            found.append({"image_id": image["id"], "category_id": label, "bbox": box, "score": score})
    other = [{"id": 1, "name": "elephant"}]
    contents = {
        "known": {"images": known, "annotations": objects, "categories": classes},
        "wild": {"images": wild, "annotations": [], "categories": other},
        "found": found,
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def main(folder: Path) -> int:
    """Choose thresholds, then sign off at them; returns the exit code of the gate."""
    files = [
        *("--known-gt", str(folder / "known.json"), "--wild-gt", str(folder / "wild.json")),
        *("--dt", str(folder / "found.json")),
    ]
    frozen = str(folder / "thresholds.json")
    subprocess.run(
        ["openset", "detect", "threshold", *files, "--rule", "recall=0.7", "--out", frozen],
        check=True,
    )
    gate = ["--require", "recall>=0.6", "--require", "fp_per_1000.high<=200"]
    report = ["--report", str(folder / "sign-off.html"), "--name", "example detector"]
    command = ["openset", "detect", "evaluate", *files, "--thresholds", frozen, *gate, *report, "--bootstrap", "100"]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    here = Path("detector-example")
    here.mkdir(exist_ok=True)
    write_example(here)
    print("exit code of the gate:", main(here))
