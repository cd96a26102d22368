"""Speed and memory of the metrics, beside a plain sort and other libraries, all in one run.

    python benchmarks/metrics.py [--largest 10000000] [--fresh-memory]

The benchmark keeps memory that it has once got, as the `openset` command does (`openset.keep_memory`). With
--fresh-memory, as in any other process, large arrays get new pages each time, which on a virtual machine can take
longer than the work.
Peers are used where they import: pip install osr-metrics; pip install --no-deps pytorch-ood
"""

import argparse
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from rich.console import Console
from rich.table import Table

from openset import Scores
from openset import curves as curve_module
from openset._core.memory import keep_memory
from openset._core.processor import sorting_with
from openset._core.resampling import Request, bootstrap_values, evaluator
from openset.intervals import delong_of
from openset.metrics import METRICS, open_auc


def make_data(n, dtype, n_classes=10):
    """Half knowns, 90 % of them right, scores overlapping."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(n) < 0.5, rng.integers(0, n_classes, n), -2)
    predictions = np.where(rng.random(n) < 0.9, np.maximum(labels, 0), rng.integers(0, n_classes, n))
    return labels, predictions, (rng.standard_normal(n) + (labels < 0)).astype(dtype)


def seconds(function, repeats):
    """Best of several runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def peak_bytes(function):
    """Largest amount of memory allocated while the function runs, beyond what was there before."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


# ---- peers -----------------------------------------------------------------------------------------------------------


def sklearn_rank_move(labels, predictions, score):
    """OpenAUC as the AUROC of ranks in which wrong knowns are moved above all unknowns."""
    from sklearn.metrics import roc_auc_score

    ranks = np.unique(score, return_inverse=True)[1]
    ranks[(labels >= 0) & (labels != predictions)] = len(score)
    return roc_auc_score(labels < 0, ranks)


def osr_metrics(labels, predictions, score):
    import osr_metrics as package

    return package.compute_aoscr_multiclass(score, (labels < 0).astype(int), predictions, labels)


def pytorch_ood(labels, predictions, score):
    import torch
    from pytorch_ood.metrics import oscr_score

    return oscr_score(torch.from_numpy(score), torch.from_numpy(predictions), torch.from_numpy(labels))


def oscr_loop(labels, predictions, score):
    """The area as a first try would write it: one pass over the data per threshold."""
    known, right = labels >= 0, labels == predictions
    points = [(0.0, 0.0)]
    for threshold in np.unique(score):
        accepted = score <= threshold
        points.append((accepted[~known].mean(), (accepted & right)[known].mean()))
    fpr, ccr = np.array(points).T
    return float(np.trapezoid(ccr, fpr))


PEERS = {
    "scikit-learn, rank move": (sklearn_rank_move, 10**7),
    "osr-metrics": (osr_metrics, 10**7),
    "pytorch-ood": (pytorch_ood, 10**7),
    "plain OSCR loop": (oscr_loop, 10**4),  # quadratic
}


# ---- everything at once ----------------------------------------------------------------------------------------------


def everything(labels, predictions, score):
    """Every metric of scores, every curve and both DeLong intervals, from one sort."""
    counts = Scores(labels, predictions, score).counts()
    for card in METRICS.values():
        if card.source == "counts":
            for params in card.variants:
                card.of(counts, **params)
    for name in ("roc_of", "oscr_of", "unknown_recall_of", "risk_coverage_of"):
        getattr(curve_module, name)(counts)
    for positive in ("known", "unknown"):
        curve_module.precision_recall_of(counts, positive)
    for average in ("macro", "micro"):
        curve_module.f_score_of(counts, average)
    for card in METRICS.values():
        if card.has_delong({}):
            delong_of(card, counts)


def bootstrap_everything(scores, n_resamples):
    requests = [
        Request(card, params) for card in METRICS.values() if card.source == "counts" for params in card.variants
    ]
    bootstrap_values([evaluator(scores, requests)], scores, n_resamples=n_resamples, seed=0)


def import_seconds(statement):
    def run():
        subprocess.run([sys.executable, "-c", statement], check=True)

    return seconds(run, 10) - seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True), 10)


# ---- tables ----------------------------------------------------------------------------------------------------------


def single_metric_table(n, dtype):
    data = make_data(n, dtype)
    repeats = 7 if n <= 10**6 else 3
    base = seconds(lambda: np.sort(data[2]), repeats)
    rows = {
        "np.sort of the scores": (base, 0.0, None),
        "np.argsort": (seconds(lambda: np.argsort(data[2]), repeats), 0, None),
    }
    value = open_auc(*data)
    rows["openset open_auc"] = (seconds(lambda: open_auc(*data), repeats), peak_bytes(lambda: open_auc(*data)), value)
    for name, (function, limit) in PEERS.items():
        if n > limit:
            continue
        try:
            found = function(*data)
        except ImportError as error:
            print(f"  {name} left out: {error}")
            continue
        rows[name] = (
            seconds(lambda f=function: f(*data), min(repeats, 3)),
            peak_bytes(lambda f=function: f(*data)),
            found,
        )
    table = Table(title=f"OpenAUC, n = {n:,}, {np.dtype(dtype).name}", title_justify="left")
    for column in ("", "seconds", "x np.sort", "peak memory / input", "value"):
        table.add_column(column, justify="left" if not column else "right")
    size = sum(part.nbytes for part in data)
    for name, (time_taken, memory, found) in rows.items():
        table.add_row(
            name,
            f"{time_taken:.4f}",
            f"{time_taken / base:.2f}",
            f"{memory / size:.2f}" if memory else "",
            "" if found is None else f"{found:.6f}",
        )
    return table


def everything_table(sizes):
    table = Table(title="All metrics, curves and DeLong intervals from one sort", title_justify="left")
    for column in ("n", "dtype", "seconds", "x np.argsort", "peak memory / input", "growth"):
        table.add_column(column, justify="right")
    for dtype in (np.float32, np.float64):
        before = None
        for n in sizes:
            data = make_data(n, dtype)
            base = seconds(lambda d=data: np.argsort(d[2]), 5)
            taken = seconds(lambda d=data: everything(*d), 5)
            memory = peak_bytes(lambda d=data: everything(*d)) / sum(part.nbytes for part in data)
            growth = "" if before is None else f"{taken / before:.1f}x"
            table.add_row(
                f"{n:,}", np.dtype(dtype).name, f"{taken:.3f}", f"{taken / base:.1f}", f"{memory:.1f}", growth
            )
            before = taken
    return table


def small_table():
    table = Table(title="Bootstrap and start", title_justify="left")
    table.add_column("")
    table.add_column("seconds", justify="right")
    scores = Scores(*make_data(10**4, np.float32))
    table.add_row(
        "1,000 resamples of all metrics, n = 10,000", f"{seconds(lambda: bootstrap_everything(scores, 1000), 1):.2f}"
    )
    table.add_row("import numpy", f"{import_seconds('import numpy'):.3f}")
    table.add_row("import openset", f"{import_seconds('import openset'):.3f}")
    table.add_row("from openset import Scores", f"{import_seconds('from openset import Scores'):.3f}")
    line = "import sys; from openset.cli import main; sys.stdout = open('/dev/null', 'w'); main(['--help'])"
    table.add_row("openset --help", f"{import_seconds(line):.3f}")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10**7)
    parser.add_argument("--fresh-memory", action="store_true")
    arguments = parser.parse_args()
    largest = arguments.largest
    if not arguments.fresh_memory:
        keep_memory()
    console = Console(width=110)
    console.print(f"NumPy {np.__version__} sorts with {sorting_with()}.")
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= largest]
    for n in sizes:
        for dtype in (np.float32, np.float64):
            console.print(single_metric_table(n, dtype))
    console.print(everything_table([n for n in sizes if n >= 10**5]))
    console.print(small_table())


if __name__ == "__main__":
    main()
