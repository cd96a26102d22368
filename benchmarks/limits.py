"""What large files cost: memory for ten million rows, time for pages of many classes. `python benchmarks/limits.py`."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl


def scores(path, n, n_classes, n_open_classes, *, open_class):
    """A file of scores, half known, half unknown, of a model that is right three times in four."""
    random = np.random.default_rng(0)
    known = random.random(n) < 0.5
    classes = random.integers(0, n_classes, n)
    classes[:n_classes] = np.arange(n_classes)
    known[:n_classes] = True
    predictions = np.where(known & (random.random(n) < 0.75), classes, random.integers(0, n_classes, n))
    columns = {
        "label": np.where(known, classes, -2),
        "prediction": predictions,
        "unknown_score": random.normal(size=n) + 1.5 * ~known,
    }
    if open_class:
        names = np.char.add("class ", random.integers(0, n_open_classes, n).astype(str))
        names[n_classes : n_classes + n_open_classes] = [f"class {one}" for one in range(n_open_classes)]
        known[n_classes : n_classes + n_open_classes] = False
        columns["label"] = np.where(known, classes, -2)
        columns["open_class"] = np.where(known, "", names)
    pl.DataFrame(columns).write_parquet(path)
    return path


def measured(*words):
    """Seconds and gigabytes of a command in a process of its own."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", "from openset.cli import main; main()", *map(str, words)],
                               stdout=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, words
    seconds = used.ru_utime + used.ru_stime
    return time.perf_counter() - began, seconds, used.ru_maxrss * 1024 / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["rows", "classes", "open"], help="one of them alone")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cases = {
            "rows": ("10,000,000 rows, --no-intervals", (10_000_000, 100, 0), False, ["--no-intervals"]),
            "classes": ("5,000 classes, --report", (50_000, 5_000, 0), False, ["--report", folder / "c.html"]),
            "open": ("100,000 open classes, --report", (300_000, 100, 100_000), True, ["--report", folder / "o.html"]),
        }
        for name, (title, sizes, open_class, options) in cases.items():
            if only in (None, name):
                path = scores(folder / f"{name}.parquet", *sizes, open_class=open_class)
                wall, seconds, memory = measured("evaluate", path, *options)
                print(f"{title}: {wall:.0f} s ({seconds:.0f} s of processor time), {memory:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
