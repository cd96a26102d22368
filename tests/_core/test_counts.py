import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset._core import counts as module
from openset._core import pairs
from openset._core.counts import count, rank
from openset._core.pairs import rank_pairs
from openset._core.sorting import CHUNK, sort
from openset.errors import OpenSetError
from samples import datasets, random_dataset


def check_sort(score):
    ordered, order, cargo = sort(score, np.arange(len(score), dtype=np.int32) - 7)
    np.testing.assert_array_equal(cargo, order - 7)
    np.testing.assert_array_equal(order, np.argsort(score, kind="stable"))
    np.testing.assert_array_equal(ordered, score[order])
    assert ordered.dtype == score.dtype


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
def test_the_sort_is_the_stable_order(values):
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            score = np.array(values, dtype=dtype)
        score = score[np.isfinite(score)]
        if len(score):
            check_sort(score)


def test_the_sort_tells_apart_scores_that_differ_in_the_last_bit():
    score = np.repeat([1.0, 2.0, -3.0], 300)
    score[::2] = np.nextafter(score[::2], np.inf)
    check_sort(score)


def test_the_sort_tells_them_apart_across_the_runs_it_works_in():
    rng = np.random.default_rng(0)
    n = 2 * CHUNK + 1
    score = rng.integers(-5, 5, n) + rng.integers(0, 3, n) * 2.0**-50
    score[rng.random(n) < 0.5] = rng.standard_normal(n)[:1]  # half are ties
    check_sort(score)
    check_sort(score.astype(np.float32))


def test_very_many_classes_are_ranked_like_few():
    labels, predictions, score = random_dataset(500, decimals=1)
    few, many = (rank(labels, predictions, score, n_classes=k) for k in (None, 2**15))
    for name in ("score", "label", "prediction", "order"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))


def test_negative_zero_ties_with_zero():
    assert len(count([0, -2], [0, 0], [0.0, -0.0]).thresholds) == 2
    assert rank_pairs([0, -2], [0, 0], np.array([0.0, -0.0])).tied == 1


def test_pairs_are_whole_numbers():
    found = rank_pairs([0, 0, -2, -2, -2], [0, 0, 0, 0, 0], [0.1, 0.5, 0.5, 0.6, 0.2])
    assert [type(one) for one in vars(found).values()] == [int] * 4


@given(datasets())
def test_fast_pairs_equal_the_pairs_of_the_counts(data):
    labels, predictions, score = data
    for dtype in (np.float32, np.float64):
        array = np.array(score, dtype=dtype)
        slow = pairs._pairs_of_counts(count(labels, predictions, array))
        assert rank_pairs(labels, predictions, array) == slow


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [None, 1, 3])
def test_fast_pairs_across_many_chunks(dtype, decimals):
    data = random_dataset(3 * CHUNK + 17, decimals=decimals, dtype=dtype)
    for against in ("all", "negative", "unknown"):
        assert rank_pairs(*data, against=against) == pairs._pairs_of_counts(count(*data, against))


@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1.0, 1e12, 1e30])
def test_fast_pairs_at_any_magnitude(scale):
    labels, predictions, score = random_dataset(500)
    for dtype in (np.float32, np.float64):
        array = (score * scale).astype(dtype)
        assert rank_pairs(labels, predictions, array) == pairs._pairs_of_counts(count(labels, predictions, array))


def test_strided_scores_are_read_right():
    labels, predictions, score = random_dataset(400)
    wide = np.stack([score, -score], axis=1)
    assert rank_pairs(labels, predictions, wide[:, 0]) == rank_pairs(labels, predictions, score)


def test_counts_start_with_nothing_accepted_and_end_with_everything():
    labels, predictions, score = random_dataset(200, decimals=1)
    made = count(labels, predictions, score)
    assert made.thresholds[0] == -np.inf
    assert (made.known[0], made.open[0], made.right[0]) == (0, 0, 0)
    assert made.known[-1] == (labels >= 0).sum()
    assert made.open[-1] == (labels < 0).sum()
    assert made.right[-1] == (labels == predictions).sum()
    assert (np.diff(made.thresholds) > 0).all()


@given(datasets())
def test_counts_of_two_parts_add_up(data):
    labels, predictions, score = (np.array(part) for part in data)
    whole = count(labels, predictions, score)
    half = np.arange(len(labels)) % 2 == 0
    ranking = rank(labels, predictions, score)
    weights = [np.where(part, 1.0, 0.0)[ranking.order] for part in (half, ~half)]
    parts = [module.Counts(ranking, weights=w) for w in weights]
    np.testing.assert_array_equal(parts[0].known + parts[1].known, whole.known)
    np.testing.assert_array_equal(parts[0].open + parts[1].open, whole.open)


@pytest.mark.parametrize(
    ("labels", "predictions", "score", "message"),
    [
        ([0, -3], [0, 0], [0.1, 0.2], "Label -3 in row 1 is not defined"),
        ([0, -2], [0, -1], [0.1, 0.2], "Prediction -1 in row 1 is not a known class"),
        ([0, -2], [0, 0], [0.1, np.nan], "unknown_score is nan in row 1"),
        ([0, -2], [0, 0], [np.inf, 0.1], "unknown_score is inf in row 0"),
        ([0, 1], [0, 0], [0.1, 0.2], "Found 2 known samples and 0 open-set samples"),
        ([-2, -1], [0, 0], [0.1, 0.2], "Found 0 known samples and 2 open-set samples"),
        ([0, -2], [0, 0, 0], [0.1, 0.2], "differ in length (labels 2, predictions 3, unknown_score 2)"),
        ([], [], [], "'labels' is empty"),
        ([0.5, -2], [0, 0], [0.1, 0.2], "'labels' must be whole numbers, got 0.5 in row 0"),
        (["cat", "dog"], [0, 0], [0.1, 0.2], "'labels' must be whole numbers"),
        ([0, -2], [0, 0], ["a", "b"], "'unknown_score' must be numbers"),
        ([[0], [-2]], [0, 0], [0.1, 0.2], "'labels' must have one dimension"),
    ],
)
def test_bad_input_is_one_sentence_everywhere(labels, predictions, score, message):
    for function in (lambda: count(labels, predictions, score), lambda: rank_pairs(labels, predictions, score)):
        with pytest.raises(OpenSetError) as caught:
            function()
        assert message in str(caught.value)


def test_classes_out_of_range_are_named():
    with pytest.raises(OpenSetError, match="Prediction 5 in row 0 is out of range: there are 3 known classes, 0 to 2"):
        count([0, -2], [5, 0], [0.1, 0.2], n_classes=3)
    with pytest.raises(OpenSetError, match="Label 4 in row 0 is out of range"):
        rank_pairs([4, -2], [0, 0], [0.1, 0.2], n_classes=3)


def test_against_selects_open_set_samples_and_keeps_all_knowns():
    labels, groups = [0, 0, -1, -2, -2], ["", "", "", "easy", "hard"]
    score = [0.1, 0.2, 0.3, 0.4, 0.5]
    for against, expected in (("all", 3), ("negative", 1), ("unknown", 2), ("hard", 1)):
        made = count(labels, [0] * 5, score, against, groups)
        assert (made.n_known, made.n_open) == (2, expected)
    with pytest.raises(OpenSetError, match="Did you mean 'hard'"):
        count(labels, [0] * 5, score, "hrad", groups)
    with pytest.raises(OpenSetError, match="no groups are given"):
        count(labels, [0] * 5, score, "hard")


def test_weights_count_samples_as_often_as_they_say():
    rng = np.random.default_rng(3)
    labels, predictions, score = random_dataset(60, seed=3, decimals=1)
    often = rng.integers(0, 4, 60)
    often[[int(np.flatnonzero(labels >= 0)[0]), int(np.flatnonzero(labels < 0)[0])]] = 1
    n_classes = int(max(labels.max(), predictions.max())) + 1
    ranking = rank(labels, predictions, score, n_classes=n_classes)
    weighted = module.Counts(ranking, weights=often[ranking.order].astype(float), zero_division=0.5)
    repeated = count(*(np.repeat(values, often) for values in (labels, predictions, score)), n_classes=n_classes)
    repeated = module.Counts(repeated.ranking, zero_division=0.5)
    at = [weighted.at(threshold) for threshold in repeated.thresholds[1:]]
    for name in ("accepted", "open", "right", "macro_recall", "macro_precision", "macro_specificity"):
        np.testing.assert_allclose(getattr(weighted, name)[at], getattr(repeated, name)[1:], atol=1e-12, err_msg=name)
