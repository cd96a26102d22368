"""How often 95 % intervals contain the true value: python benchmarks/coverage.py.

OpenAUC by DeLong; CCR at FPR 0.1 and FPR at 95 % TPR by resamples of rows and by resamples of counts.
"""

from statistics import NormalDist

import numpy as np

from openset import Scores, delong
from openset._core.cells import cells_of
from openset._core.resampling import Request, bootstrap_values, cell_values, evaluator
from openset.intervals import percentile_intervals
from openset.metrics import METRICS

CASES = ((0.6, 0.8), (0.8, 0.9), (0.95, 0.97), (0.95, 1.0), (0.99, 1.0), (0.99, 0.995))
NORMAL = NormalDist()


def draw(rng, gap, accuracy, n):
    """Knowns are right with probability `accuracy`; scores are normal, those of unknowns higher by `gap`."""
    labels = np.r_[np.zeros(n, int), np.full(n, -2)]
    predictions = np.r_[(rng.random(n) >= accuracy).astype(int), np.zeros(n, int)]
    return Scores(labels, predictions, np.r_[rng.standard_normal(n), rng.standard_normal(n) + gap])


def coverage(theta, accuracy, n=200, repeats=2000):
    """Of DeLong's interval, where the true OpenAUC is `theta`."""
    rng = np.random.default_rng(0)
    gap = 2**0.5 * NORMAL.inv_cdf(theta / accuracy)
    covered = 0
    for _ in range(repeats):
        found = delong(draw(rng, gap, accuracy, n))
        covered += found.low <= theta <= found.high
    return covered / repeats


def bootstrap_coverage(gap=1.5, accuracy=0.9, n=1000, repeats=1000, n_resamples=200):
    """Of percentile intervals from rows and from counts: for each metric the fractions that cover its true value."""
    rng = np.random.default_rng(1)
    requests = [
        Request(METRICS["ccr_at_fpr"], {"fpr": 0.1}),
        Request(METRICS["fpr_at_tpr"], {"tpr": 0.95, "positive": "known"}),
    ]
    truth = np.array([accuracy * NORMAL.cdf(gap + NORMAL.inv_cdf(0.1)), NORMAL.cdf(NORMAL.inv_cdf(0.95) - gap)])
    asked = [(request.metric.fold(**request.params), "all") for request in requests]
    covered = np.zeros((2, len(requests)))
    for repeat in range(repeats):
        scores = draw(rng, gap, accuracy, n)
        compute = evaluator(scores, requests)
        values = compute(None)
        rows = bootstrap_values([compute], scores, n_resamples=n_resamples, seed=repeat)[0]
        counts = values + cell_values(cells_of(scores.ranking, None), asked, n_resamples=n_resamples, seed=repeat)
        for way, resampled in enumerate((rows, counts)):
            found = percentile_intervals(scores, requests, values, resampled, 0.95)
            covered[way] += [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
    return covered / repeats


def main():
    for theta, accuracy in CASES:
        print(f"| {theta:g} | {accuracy:.1%} | {coverage(theta, accuracy):.1%} |")
    rows, counts = bootstrap_coverage()
    for name, one, other in zip(("CCR at FPR 0.1", "FPR at 95 % TPR"), rows, counts, strict=True):
        print(f"| {name} | {one:.1%} | {other:.1%} |")


if __name__ == "__main__":
    main()
