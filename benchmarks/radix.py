"""Does a radix sort, by digits of the scores, beat NumPy's? What `open_auc` sorts, sorted in three ways in one run.

    python benchmarks/radix.py [--rows 1000000 10000000]

Each way gets the same packed 32-bit keys (`openset._core.pairs`) and must give the same order. "NumPy digits" sorts by
two digits of 16 bits with NumPy's own radix sort; "compiled digits" by three of 11 bits, in C, compiled here by `cc`
where there is one. CPU seconds, the best of five.
"""

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from openset._core.processor import prefer_avx2, sorting_with

prefer_avx2()  # before NumPy is imported

import numpy as np  # noqa: E402

_C = r"""
#include <stdint.h>
#include <string.h>
#define BITS 11
#define SIZE (1 << BITS)
void sort(uint32_t *keys, uint32_t *other, int64_t n) {
    static _Thread_local int64_t counts[3][SIZE];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) counts[d][(keys[i] >> (BITS * d)) & (SIZE - 1)]++;
    for (int d = 0; d < 3; d++) {
        int64_t at = 0;
        for (int v = 0; v < SIZE; v++) { int64_t c = counts[d][v]; counts[d][v] = at; at += c; }
        for (int64_t i = 0; i < n; i++) other[counts[d][(keys[i] >> (BITS * d)) & (SIZE - 1)]++] = keys[i];
        uint32_t *swap = keys; keys = other; other = swap;
    }
}
"""


def keys_of(n):
    """Packed keys of n samples, half of them known, as `open_auc` sorts them."""
    from openset._core.pairs import _pack

    rng = np.random.default_rng(0)
    known = rng.random(n) < 0.5
    label = np.where(known, rng.integers(0, 10, n), -2)
    prediction = np.where(rng.random(n) < 0.85, np.maximum(label, 0), rng.integers(0, 10, n))
    score = (rng.standard_normal(n) * 3 - np.where(known, 12, 9)).astype(np.float32)
    packed = _pack(label, prediction, score, None, None)
    assert packed is not None
    return packed[0].view(np.uint32) ^ np.uint32(1 << 31)


def by_numpy_sort(keys):
    keys.sort()
    return keys


def by_numpy_digits(keys):
    for shift in (0, 16):
        keys = keys[np.argsort((keys >> np.uint32(shift)).astype(np.uint16), kind="stable")]
    return keys


def compiled(folder):
    """The sort in C, if there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "digits.c", folder / "digits.so"
    source.write_text(_C)
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    call = ctypes.CDLL(str(library)).sort
    call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]

    def by_compiled_digits(keys):
        other = np.empty_like(keys)
        call(keys.ctypes.data, other.ctypes.data, len(keys))
        return other

    return by_compiled_digits, library.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    arguments = parser.parse_args()
    ways = {"np.sort": by_numpy_sort, "NumPy digits": by_numpy_digits}
    with tempfile.TemporaryDirectory() as name:
        found = compiled(Path(name))
        if found is not None:
            ways["compiled digits"] = found[0]
            print(f"compiled: {found[1] / 1000:.0f} kB")
        print(f"NumPy sorts with {sorting_with()}")
        for n in arguments.rows:
            keys = keys_of(n)
            taken, results = dict.fromkeys(ways, np.inf), {}
            for _ in range(5):
                for way, run in ways.items():
                    own = keys.copy()
                    start = time.process_time()
                    results[way] = run(own)
                    taken[way] = min(taken[way], time.process_time() - start)
            assert all(np.array_equal(one, results["np.sort"]) for one in results.values())
            for way, seconds in taken.items():
                times = seconds / taken["np.sort"]
                print(f"{n:>11,}  {way:16} {seconds / n * 1e9:6.1f} ns per row {times:6.2f} x np.sort")


if __name__ == "__main__":
    main()
