"""Bounds where many scores share a bin: they hold for every metric, whatever the order inside is."""

import numpy as np
import pytest

from openset import Scores
from openset._core.folds import Best
from openset._core.sorting import order_keys
from openset.metrics import METRICS
from openset.scale.bins import Bins
from openset.scale.counting import Plan, count_rows
from openset.scale.orders import Orders, live_ranges
from openset.scale.rows import Rows

CASES = [(card, params) for card in METRICS.values() if card.fold is not None for params in card.variants]


@pytest.mark.parametrize(("card", "params"), CASES, ids=lambda one: getattr(one, "name", str(one)))
def test_bounds_hold_in_coarse_bins(card, params):
    bins = Bins(np.zeros(1 << 16, dtype=np.uint8), 32)
    first = int(bins.place(order_keys(np.ones(1, dtype=np.float32)))[0][0])
    plan = Plan(bins, np.clip(np.arange(bins.n) - first, 0, 15))
    rng = np.random.default_rng(3)
    fold = card.fold(**params)
    for _ in range(30):
        n = int(rng.integers(4, 60))
        labels = np.append([0, -2], rng.integers(-2, 3, n))
        predictions = np.where((rng.random(n + 2) < 0.8) & (labels >= 0), labels, rng.integers(0, 3, n + 2))
        tied = rng.integers(1, 60)
        score = (1 + rng.integers(0, 3, n + 2) / 64 + rng.integers(0, tied, n + 2) / 2**14).astype(np.float32)
        counted = count_rows(Rows(labels, predictions, score), plan).settled(3)
        orders = Orders.of(counted, plan, per_class=fold.per_class, predicted=card.uses_predictions)
        least, most = fold.within(*orders.against("all"))
        value = fold(Scores(labels, predictions, score, class_names=["a", "b", "c"]).counts())
        assert least - 1e-14 <= value <= most + 1e-14, (least, value, most)


BEST = [(card, params) for card, params in CASES if isinstance(card.fold(**params), Best)]


@pytest.mark.parametrize(("card", "params"), BEST, ids=lambda one: getattr(one, "name", str(one)))
def test_the_best_value_lies_in_a_bin_that_is_called_live(card, params):
    """In bins that are not, every threshold has a smaller value."""
    bins = Bins(np.zeros(1 << 16, dtype=np.uint8), 32)
    first = int(bins.place(order_keys(np.ones(1, dtype=np.float32)))[0][0])
    plan = Plan(bins, np.clip(np.arange(bins.n) - first, 0, 15))
    rng = np.random.default_rng(4)
    fold, left_out = card.fold(**params), 0
    for _ in range(30):
        n = int(rng.integers(30, 90))
        labels = np.append([0, -2], rng.integers(-2, 3, n))
        predictions = np.where((rng.random(n + 2) < 0.7) & (labels >= 0), labels, rng.integers(0, 3, n + 2))
        score = (1 + (rng.integers(0, 640, n + 2) + 300 * (labels < 0)) / 2**13).astype(np.float32)
        counted = count_rows(Rows(labels, predictions, score), plan).settled(3)
        live = live_ranges(counted, plan, [(fold, "all")], np.arange(bins.n + 1))[:, 0]
        counts = Scores(labels, predictions, score, class_names=["a", "b", "c"]).counts()
        number = bins.place(order_keys(counts.thresholds[1:]))[0]
        values = fold.curve(counts)
        best = max(values[0], values[1:][live[number]].max())
        assert best == values.max()
        left_out += int((~live[number]).sum())
    assert left_out > 100


def test_error_at_tpr_may_accept_open_set_samples_of_a_bin_one_by_one():
    """40 unknowns below 10 knowns, all in one bin: 95 % of the unknowns are caught where two are accepted."""
    bins = Bins(np.zeros(1 << 16, dtype=np.uint8), 32)
    labels = np.repeat([-2, 0], [40, 10])
    score = (1 + np.arange(50) / 2**14).astype(np.float32)
    plan = Plan(bins, np.zeros(bins.n, dtype=np.int64))
    counted = count_rows(Rows(labels, np.zeros(50, dtype=np.int64), score), plan).settled(1)
    fold = METRICS["error_at_tpr"].fold(tpr=0.95)
    least, most = fold.within(*Orders.of(counted, plan, per_class=False, predicted=False).against("all"))
    assert most == pytest.approx((2 + 10) / 50)
    assert fold(Scores(labels, labels * 0, score).counts()) == pytest.approx(most)
    assert least == 0
