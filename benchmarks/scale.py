"""Rows that do not fit into memory: bounds and exact values beside a scan of the same columns, all in one run.

    python benchmarks/scale.py [--rows 10000000 100000000] [--folder DIR] [--classes 10] [--memory 10000000]
                               [--singly 100000000] [--engine ray] [--workers 2] [--no-intervals] [--keep]

Each size is made once (float32 score, int16 label and prediction, 10,000,000 rows in a file), then measured in
processes of their own: CPU seconds, peak memory, and ratios to a scan by polars that reads every value of the three
columns. Up to --memory rows the values are also computed in memory, and must be the same bits. "growth" is against the
first size.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

FILE_ROWS = 10_000_000
COLUMNS = ("label", "prediction", "unknown_score")

_MEASURED = """
import json, resource, sys, time
start = time.perf_counter()
{work}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({{"cpu": usage.ru_utime + usage.ru_stime, "wall": time.perf_counter() - start,
                   "memory": usage.ru_maxrss * 1024, "found": found}}))
"""
_SCAN = """
import polars as pl
columns = [pl.col(name).max() for name in ("label", "prediction", "unknown_score")]
frame = pl.scan_parquet({folder!r} + "/*.parquet").select(*columns).collect(engine="streaming")
found = [float(value) for value in frame.row(0)]
"""
_EVALUATE = """
from openset._core.memory import keep_memory
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
keep_memory()
made = evaluate_source(
    open_source({folder!r}), mode={mode!r}, intervals={intervals}, engine={engine!r}, workers={workers},
    temp=__import__("pathlib").Path({folder!r}).parent
)
found = [one.as_json() for one in made.results]
"""
_MEMORY = """
import polars as pl
from openset import Scores, evaluate
from openset._core.memory import keep_memory
keep_memory()
frame = pl.read_parquet({folder!r} + "/*.parquet")
made = evaluate(Scores(*(frame[name].to_numpy() for name in ("label", "prediction", "unknown_score"))),
                intervals={intervals})
found = [one.as_json() for one in made.results]
"""

_SINGLY = """
import json, sys
from dataclasses import replace
import polars as pl
from openset import Scores
from openset.metrics import METRICS
frame = pl.read_parquet({folder!r} + "/*.parquet")
counts = Scores(*(frame[name].to_numpy() for name in ("label", "prediction", "unknown_score"))).counts("all")
found = [METRICS[name].of(replace(counts), **params) for name, params in json.loads({asked!r})]
"""


def make_files(folder, n, n_classes):
    """Half knowns, 85 % of them right, a fifth of the open set negatives, logit-like scores that overlap."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [(number, min(FILE_ROWS, n - start)) for number, start in enumerate(range(0, n, FILE_ROWS))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: make_file(folder / f"part-{one[0]:04d}.parquet", *one, n_classes), files))


def make_file(file, number, rows, n_classes):
    """Some of the rows, the same ones whenever they are made."""
    import polars as pl

    if file.exists():
        return
    rng = np.random.default_rng([7, number])
    known = rng.random(rows, dtype=np.float32) < 0.5
    classes = rng.integers(0, n_classes, rows, dtype=np.int16)
    opened = np.where(rng.random(rows, dtype=np.float32) < 0.2, -1, -2).astype(np.int16)
    label = np.where(known, classes, opened)
    right = rng.random(rows, dtype=np.float32) < 0.85
    prediction = np.where(known & right, label, rng.integers(0, n_classes, rows, dtype=np.int16))
    score = rng.standard_normal(rows, dtype=np.float32) * 3 - np.where(known, 12, 9).astype(np.float32)
    table = pl.DataFrame(dict(zip(COLUMNS, (label, prediction, score), strict=True)))
    table.write_parquet(file.with_suffix(".part"), row_group_size=1_000_000)
    file.with_suffix(".part").rename(file)


def measured(work, **values):
    """Run in a process of its own."""
    code = _MEASURED.format(work=work.format(**values))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1])


def width(results):
    """How far apart the bounds of OpenAUC are, at most."""
    return max(one["most"] - one["least"] for one in results if one["name"] == "open_auc" and not one["params"])


def without_bounds(results):
    return [{name: one[name] for name in ("name", "params", "against", "value", "low", "high")} for one in results]


def measure(folder, n, arguments):
    """Rows of the table for one size."""
    options = {"folder": str(folder), "engine": arguments.engine, "workers": arguments.workers, "intervals": False}
    runs = {"scan by polars": measured(_SCAN, folder=str(folder))}
    runs["bounds"] = measured(_EVALUATE, mode="bounds", **options)
    runs["exact"] = measured(_EVALUATE, mode="exact", **options)
    if not arguments.no_intervals:
        runs["exact, all intervals"] = measured(_EVALUATE, mode="exact", **{**options, "intervals": True})
    notes = [f"OpenAUC bounds {width(runs['bounds']['found']):.1e} apart"]
    if n <= arguments.memory:
        for name in [name for name in runs if name.startswith("exact")]:
            memory = name.replace("exact", "in memory")
            runs[memory] = measured(_MEMORY, folder=str(folder), intervals="intervals" in name)
            same = without_bounds(runs[name]["found"]) == without_bounds(runs[memory]["found"])
            notes.append(f"{name}: {'the same bits as' if same else 'NOT the same as'} in memory")
    elif n <= arguments.singly:  # all at once would not fit
        wanted = [one for one in runs["exact"]["found"] if one["against"] == "all"]
        asked = json.dumps([[one["name"], one["params"]] for one in wanted])
        runs["in memory, one by one"] = singly = measured(_SINGLY, folder=str(folder), asked=asked)
        same = [one["value"] for one in wanted] == singly["found"]
        notes.append(
            f"{len(wanted)} metrics against all: {'the same bits as' if same else 'NOT the same as'} in memory"
        )
    held = all(
        bound["least"] <= value["value"] <= bound["most"]
        for bound, value in zip(runs["bounds"]["found"], runs["exact"]["found"], strict=True)
    )
    notes.append(f"every exact value {'lies' if held else 'does NOT lie'} between its bounds")
    return runs, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**7])
    parser.add_argument("--folder", type=Path, default=Path("scale-benchmark"))
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--memory", type=int, default=10**7)
    parser.add_argument("--singly", type=int, default=0, help="also compare up to so many rows, one metric at a time")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--no-intervals", action="store_true")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    console = Console(width=110)
    before = {}
    for n in arguments.rows:
        folder = arguments.folder / f"rows-{n}"
        start = time.perf_counter()
        make_files(folder, n, arguments.classes)
        print(f"{n:,} rows made in {time.perf_counter() - start:.0f} s")
        try:
            runs, notes = measure(folder, n, arguments)
        finally:
            if not arguments.keep:
                shutil.rmtree(folder)
        table = Table(title=f"{n:,} rows, {arguments.classes} classes", title_justify="left")
        for column in ("", "CPU s", "x scan", "ns per row", "wall s", "peak MB", "growth"):
            table.add_column(column, justify="left" if not column else "right")
        base = runs["scan by polars"]["cpu"]
        for name, run in runs.items():
            growth = f"{run['cpu'] / before[name]:.1f}x" if name in before else ""
            cells = [f"{run['cpu']:.1f}", f"{run['cpu'] / base:.1f}", f"{run['cpu'] / n * 1e9:.0f}"]
            table.add_row(name, *cells, f"{run['wall']:.1f}", f"{run['memory'] / 1e6:.0f}", growth)
        before = before or {name: run["cpu"] for name, run in runs.items()}
        console.print(table)
        for note in notes:
            print(f"  {note}")


if __name__ == "__main__":
    main()
