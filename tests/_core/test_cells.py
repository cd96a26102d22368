"""Resamples of counts: sizes that stay, the distribution of resampled rows, and intervals that agree with these."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openset import Scores, evaluate, evaluation
from openset._core.cells import cell_ends, cells_of, draw_sizes
from openset._core.resampling import Request, bootstrap_values, cell_values, evaluator
from openset.metrics import METRICS
from samples import random_dataset


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(sum), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
def test_every_run_has_the_sum_that_is_wanted_and_no_sample_where_there_was_none(runs, seed):
    rng = np.random.default_rng(seed)
    amounts = np.concatenate(runs).astype(float)
    lengths = np.array([len(run) for run in runs])
    starts = np.cumsum(lengths) - lengths
    sizes = np.array([sum(run) for run in runs])
    wanted = rng.integers(0, 60, len(runs))
    drawn = draw_sizes(rng, amounts, starts, sizes, wanted)
    assert np.add.reduceat(drawn, starts).tolist() == wanted.tolist()
    assert drawn.min() >= 0
    assert not drawn[amounts == 0].any()


def test_the_numbers_drawn_are_multinomial():
    rng = np.random.default_rng(0)
    amounts = np.array([10.0, 20.0, 70.0, 5.0, 5.0])
    starts, sizes = np.array([0, 3]), np.array([100, 10])
    drawn = np.array([draw_sizes(rng, amounts, starts, sizes, sizes) for _ in range(20_000)])
    share = amounts / np.repeat(sizes, [3, 2])
    n = np.repeat(sizes, [3, 2])
    assert drawn.mean(axis=0) == pytest.approx(n * share, rel=0.02)
    assert drawn.var(axis=0) == pytest.approx(n * share * (1 - share), rel=0.05)
    assert np.cov(drawn[:, 0], drawn[:, 2])[0, 1] == pytest.approx(-100 * 0.1 * 0.7, rel=0.1)


def test_each_class_and_kind_keeps_its_size():
    labels, predictions, score = random_dataset(500)
    groups = np.where(labels < 0, np.array(["far", "near"])[np.arange(500) % 2], "")
    scores = Scores(labels, predictions, score, groups=groups)
    cells = cells_of(scores.ranking, scores.groups)
    assert cells.counts.sum() == 500
    made = cells.resample(np.random.default_rng(0))
    assert not np.array_equal(made.counts, cells.counts)
    assert made.counts[:, 2:].sum(axis=(0, 2)).tolist() == cells.counts[:, 2:].sum(axis=(0, 2)).tolist()
    assert made.counts[:, :2].sum() == cells.counts[:, :2].sum()
    assert (made.counts[:, 0].sum(axis=0) <= cells.class_totals).all()


def test_cells_are_finer_at_the_ends_and_end_with_the_last_sample():
    ends = cell_ends(10**9, 128)
    assert ends[:4].tolist() == [1, 2, 3, 4]
    assert ends[-1] == 10**9
    assert (10**9 - ends[-4:]).tolist() == [3, 2, 1, 0]
    assert np.diff(ends).max() <= 10**9 // 128 + 1
    assert len(ends) < 700


@pytest.mark.slow
def test_spreads_agree_with_those_of_resampled_rows():
    scores = Scores(*random_dataset(20_000, n_classes=10, dtype=np.float32))
    requests = [
        Request(card, params, against)
        for card in METRICS.values()
        if card.fold is not None
        for params in card.variants
        for against in ("all", "unknown")
    ]
    rows = bootstrap_values([evaluator(scores, requests)], scores, n_resamples=400, seed=0)[0].std(axis=0)
    asked = [(r.metric.fold(**r.params), r.against) for r in requests]
    cells = cell_values(cells_of(scores.ranking, None), asked, n_resamples=400, seed=1).std(axis=0)
    for request, one, other in zip(requests, rows, cells, strict=True):
        if one > 1e-3:  # what differs in the third decimal; 400 resamples tell a spread to 5 % or so
            assert other == pytest.approx(one, rel=0.2), (request.metric.name, request.params)


def test_the_change_is_at_a_million_rows_and_both_sides_agree(monkeypatch):
    assert evaluation.LARGE == 1_000_000
    scores = Scores(*random_dataset(3000, dtype=np.float32))
    few = evaluate(scores, against="all", n_resamples=300)
    monkeypatch.setattr(evaluation, "LARGE", 3000)
    many = evaluate(scores, against="all", n_resamples=300)
    assert [one.value for one in many.results] == [one.value for one in few.results]
    assert [one.low for one in many.results] != [one.low for one in few.results]
    for one, other in zip(few.results, many.results, strict=True):
        assert other.low == pytest.approx(one.low, abs=0.25 * (one.high - one.low) + 1e-3)
        assert other.high == pytest.approx(one.high, abs=0.25 * (one.high - one.low) + 1e-3)


def test_a_metric_that_counts_cannot_tell_is_resampled_by_rows(monkeypatch):
    labels, predictions, score = random_dataset(400)
    probabilities = np.full((400, 5), 0.1) + 0.5 * np.eye(5)[predictions]
    scores = Scores(labels, predictions, score, probabilities)
    by_rows = evaluate(scores, n_resamples=10)
    monkeypatch.setattr(evaluation, "LARGE", 0)
    found = evaluate(scores, n_resamples=10)
    assert found.find("brier_score") == by_rows.find("brier_score")
    assert found.find("ccr_at_fpr") != by_rows.find("ccr_at_fpr")
