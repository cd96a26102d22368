"""How often 95 % intervals of OpenAUC contain the true value: python benchmarks/coverage.py."""

from statistics import NormalDist

import numpy as np

from openset import Scores, delong

CASES = ((0.6, 0.8), (0.8, 0.9), (0.95, 0.97), (0.95, 1.0), (0.99, 1.0), (0.99, 0.995))


def coverage(theta, accuracy, n=200, repeats=2000):
    """Knowns are right with probability `accuracy`, scores normal with the gap that makes the true OpenAUC `theta`."""
    rng = np.random.default_rng(0)
    gap = 2**0.5 * NormalDist().inv_cdf(theta / accuracy)
    labels = np.r_[np.zeros(n, int), np.full(n, -2)]
    covered = 0
    for _ in range(repeats):
        predictions = np.r_[(rng.random(n) >= accuracy).astype(int), np.zeros(n, int)]
        score = np.r_[rng.standard_normal(n), rng.standard_normal(n) + gap]
        found = delong(Scores(labels, predictions, score))
        covered += found.low <= theta <= found.high
    return covered / repeats


def main():
    for theta, accuracy in CASES:
        print(f"| {theta:g} | {accuracy:.1%} | {coverage(theta, accuracy):.1%} |")


if __name__ == "__main__":
    main()
