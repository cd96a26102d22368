"""A release gate on a CSV of predictions: exit code 1 when the model is not good enough.

Run it as it is, or on a file of your own: python examples/csv_gate.py scores.csv
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from openset import Scores


def write_example(path: Path) -> None:
    """Predictions of a model that knows three animals, on 400 photos of these and 200 of others."""
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(0, 3, 400), np.full(200, -2)])
    logits = rng.normal(size=(600, 3))
    logits[np.arange(400), labels[:400]] += 4
    Scores.from_logits(labels, logits, class_names=["cat", "dog", "horse"]).write(path)


def main(file: Path) -> int:
    """Evaluate the file; the lower end of the interval must reach the bar, so that luck does not pass."""
    command = [
        *("openset", "evaluate", str(file)),
        *("--require", "open_auc.low>=0.85"),
        *("--require", "ccr_at_fpr(fpr=0.1)>=0.7"),
    ]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    write_example(Path("scores.csv"))
    sys.exit(main(Path("scores.csv")))
