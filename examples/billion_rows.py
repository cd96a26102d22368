"""Evaluate a log of any number of rows, in many Parquet files, in little memory.

python examples/billion_rows.py 1_000_000_000 writes and evaluates a billion rows (8 GB); the default is a million.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

ROWS_PER_FILE = 5_000_000


def write_log(folder: Path, rows: int, per_file: int = ROWS_PER_FILE) -> None:
    """What a production classifier of 1,000 classes may log: float32 scores, int16 labels and predictions."""
    folder.mkdir(exist_ok=True)
    for part, start in enumerate(range(0, rows, per_file)):
        rng = np.random.default_rng(part)
        n = min(per_file, rows - start)
        labels = np.where(rng.random(n) < 0.8, rng.integers(0, 1000, n), -2).astype(np.int16)
        guess = rng.integers(0, 1000, n).astype(np.int16)
        predictions = np.where((labels >= 0) & (rng.random(n) < 0.9), labels, guess)
        score = (rng.standard_normal(n) + 2 * (labels < 0)).astype(np.float32)
        table = pl.DataFrame({"label": labels, "prediction": predictions, "unknown_score": score})
        table.write_parquet(folder / f"part{part:05}.parquet")


def main(folder: Path) -> int:
    """A folder is one model; bounds need one pass over the rows and no disk."""
    command = ["openset", "evaluate", str(folder), "--bounds", "--json", str(folder.parent / "log.json")]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    log = Path("log")
    write_log(log, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, per_file=ROWS_PER_FILE)
    sys.exit(main(log))
