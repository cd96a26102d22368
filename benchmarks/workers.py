"""How much faster two Ray workers of this machine are than one: exact values of the rows of `benchmarks/scale.py`.

    python benchmarks/workers.py [--rows 10000000] [--folder DIR]

Seconds by the clock from the moment when Ray has started. Both must give the same values.
"""

import argparse
import shutil
import time
from pathlib import Path

from openset.scale.engines import ENGINES
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
from scale import make_files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--folder", type=Path, default=Path("workers-benchmark"))
    arguments = parser.parse_args()
    began = [0.0]

    class Timed(ENGINES["ray"]):
        def __enter__(self):
            found = super().__enter__()
            began[0] = time.perf_counter()
            return found

    ENGINES.add("timed ray", Timed)
    options = {"mode": "exact", "intervals": False, "engine": "timed ray", "range_rows": 1 << 19}
    found = {}
    try:
        make_files(arguments.folder / "rows", arguments.rows, 10)
        for workers in (1, 2):
            source = open_source(str(arguments.folder / "rows"), part_rows=1 << 20)
            made = evaluate_source(source, workers=workers, temp=arguments.folder, **options)
            found[workers] = time.perf_counter() - began[0], made.results
            print(f"{workers} workers: {found[workers][0]:.1f} s", flush=True)
    finally:
        shutil.rmtree(arguments.folder)
    same = "the same values" if found[1][1] == found[2][1] else "OTHER values"
    print(f"{found[1][0] / found[2][0]:.2f} times as fast, {same}")


if __name__ == "__main__":
    main()
