"""Rates and fractions: by hand, against textbook intervals, and their coverage in simulation."""

import numpy as np
import pytest
from scipy import stats

from openset.detection.measure.rates import Estimate, event_rate, fraction, images_for_rate, open_precision


@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_rare_single_events_have_the_exact_poisson_interval(n):
    found = event_rate(np.ones(n, dtype=int), 10**7)
    low = stats.chi2.ppf(0.025, 2 * n) / 2 if n else 0.0
    high = stats.chi2.ppf(0.975, 2 * n + 2) / 2
    assert np.array(found) * 10**4 == pytest.approx([n, low, high], rel=1e-4)


def test_several_events_on_one_image_say_less_than_on_several():
    together, apart = event_rate(np.array([6]), 1000), event_rate(np.ones(6, dtype=int), 1000)
    assert together.value == apart.value == 6
    assert together.low < apart.low < apart.high < together.high


def test_no_event_is_not_a_rate_of_zero():
    """The rule of three, two-sided: 3.69 events at most."""
    assert event_rate(np.zeros(0, dtype=int), 1000).high == pytest.approx(3.69, abs=0.01)
    assert event_rate(np.zeros(0, dtype=int), images_for_rate(2)).high <= 2
    assert event_rate(np.zeros(0, dtype=int), images_for_rate(2) - 1).high > 2


@pytest.mark.parametrize(
    ("n_images", "chance", "most"), [(200, 0.02, 1), (1000, 0.05, 6), (500, 0.5, 5), (100, 0.9, 3)]
)
def test_rates_cover_the_truth(n_images, chance, most):
    """Images with events at random, 1 to `most` each: the truth is inside in 93 % of simulations or more."""
    random = np.random.default_rng(1)
    truth = 1000 * chance * (1 + most) / 2
    inside = 0
    for _ in range(600):
        sizes = np.where(random.random(n_images) < chance, random.integers(1, most + 1, n_images), 0)
        found = event_rate(sizes[sizes > 0], n_images)
        inside += found.low <= truth <= found.high
    assert inside / 600 >= 0.93


def test_fractions_of_single_units_are_those_of_clopper_and_pearson():
    hits = np.array([1.0] * 7 + [0.0] * 3)
    found = fraction(hits, np.ones(10))
    exact = stats.binomtest(7, 10).proportion_ci(method="exact")
    assert (found.value, found.low) == (0.7, pytest.approx(exact.low, abs=0.03))
    assert found.high == pytest.approx(exact.high, abs=0.03)
    assert fraction(np.ones(10), np.ones(10)).low == pytest.approx(stats.binomtest(10, 10).proportion_ci().low)


def test_three_correct_detections_on_one_image_are_no_proof():
    assert fraction(np.array([3.0]), np.array([3.0])).low < 0.05
    assert fraction(np.zeros(0), np.zeros(0)) == Estimate(None, None, None)


@pytest.mark.parametrize(("n_images", "mean", "most"), [(40, 0.9, 1), (40, 0.9, 4), (200, 0.8, 5)])
def test_fractions_cover_the_truth(n_images, mean, most):
    """Images differ in how hard they are, so units of one image are alike."""
    random = np.random.default_rng(2)
    inside = 0
    for _ in range(600):
        units = random.integers(1, most + 1, n_images)
        hits = random.binomial(units, random.beta(5 * mean, 5 * (1 - mean), n_images))
        found = fraction(hits.astype(float), units.astype(float))
        inside += found.low <= mean <= found.high
    assert inside / 600 >= 0.93


def test_open_precision_joins_both_uncertainties():
    """1 / (1 / .5 + 2) = .25; each end is nearer than the two far ends together."""
    precision, per_true = Estimate(0.5, 0.4, 0.6), Estimate(2.0, 1.0, 4.0)
    found = open_precision(precision, per_true)
    assert found.value == 0.25
    assert 1 / (1 / 0.4 + 4) < found.low < min(1 / (1 / 0.4 + 2), 1 / (1 / 0.5 + 4))
    assert max(1 / (1 / 0.6 + 2), 1 / (1 / 0.5 + 1)) < found.high < 1 / (1 / 0.6 + 1)
    assert open_precision(Estimate(None, None, None), per_true) == Estimate(None, None, None)


def test_open_precision_covers_the_truth():
    random = np.random.default_rng(3)
    n_known, n_wild, inside = 300, 400, 0
    truth = 0.8 / (1 + 0.05 * n_known / (n_known * 1.0))  # one detection an image, .8 correct; .05 false a wild image
    for _ in range(600):
        hits = (random.random(n_known) < 0.8).astype(float)
        rate = event_rate(np.ones(random.binomial(n_wild, 0.05), dtype=int), n_wild)
        scale = n_known / (1000 * hits.sum())
        found = open_precision(fraction(hits, np.ones(n_known)), Estimate(*(scale * one for one in rate)))
        inside += found.low <= truth <= found.high
    assert inside / 600 >= 0.93
