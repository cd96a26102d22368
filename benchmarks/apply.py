"""Decisions by a frozen threshold on Parquet of scores: rows a second, memory, and time beside polars.

Deciding is compared with polars reading the file, deciding and writing Parquet also with polars reading the file and
writing five such columns.

Seconds are those of the processor, which other programs do not change much, the fewest of several runs in one process.
Memory is the most that a fresh process held.

python benchmarks/apply.py [--rows 5000000] [--repeats 5]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from openset.operating import Threshold
from openset.operating.applying import apply_to_files
from openset.operating.decisions import Decider


def write(file, n):
    """What a service logs: an id, the best class, the unknown score in single precision."""
    rng = np.random.default_rng(0)
    ids = pl.select(pl.format("image-{}.jpg", pl.int_range(n))).to_series()
    scores = {"prediction": rng.integers(0, 100, n), "unknown_score": rng.standard_normal(n, dtype=np.float32)}
    pl.DataFrame({"id": ids, **scores}).write_parquet(file)


def apply(file, out):
    """Every row decided and written."""
    return apply_to_files(Decider(Threshold(1.0, "by hand", {}, 0)), [file], out)


def best(action, repeats):
    """Fewest processor seconds of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return min(seconds)


def memory(file, out):
    """Megabytes of a fresh process that applies a threshold to the file."""
    words = [sys.executable, __file__, "--one", str(file), str(out)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", nargs=2)
    given = parser.parse_args()
    if given.one:
        apply(*given.one)
        lines = Path("/proc/self/status").read_text().splitlines()
        print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.parquet"
        write(file, given.rows)
        reading = best(lambda: pl.read_parquet(file), given.repeats)
        print(f"{given.rows:,} rows, {file.stat().st_size / 2**20:.0f} MB; polars reads it in {reading:.3f} s")
        columns = pl.read_parquet(file).with_columns(
            pl.col("prediction").cast(pl.String).cast(pl.Categorical), margin=pl.col("unknown_score") * -1
        )
        columns = columns.with_columns(decision=pl.col("prediction"))
        writing = best(
            lambda columns=columns: columns.lazy().sink_parquet(
                Path(folder) / "w.parquet", compression="snappy", statistics=False
            ),
            given.repeats,
        )
        print(f"polars writes five such columns in {writing:.3f} s")
        for name, out in (("decide", None), ("decide, write Parquet", "d.parquet"), ("decide, write CSV", "d.csv")):
            path = None if out is None else Path(folder) / out
            seconds = best(lambda path=path: apply(file, path), given.repeats)
            rate = given.rows / seconds / 1e6
            beside = f", {seconds / (reading + writing):.2f} x reading and writing" if out == "d.parquet" else ""
            print(f"{name:<24} {seconds:.3f} s, {rate:.1f} million rows/s, {seconds / reading:.2f} x reading{beside}")
        few = Path(folder) / "few.parquet"
        write(few, 1000)
        used = {n: memory(one, Path(folder) / "d.parquet") for n, one in ((1000, few), (given.rows, file))}
        print(", ".join(f"{n:,} rows: {size:.0f} MB" for n, size in used.items()))


if __name__ == "__main__":
    main()
