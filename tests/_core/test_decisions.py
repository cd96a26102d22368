from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset import Scores
from openset._core import decisions
from openset.errors import OpenSetError
from openset.metrics import open_set_confusion_matrix
from openset.results.views import class_rates

running = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(lambda steps: np.cumsum([0, *steps]))
shares = st.integers(0, 40).flatmap(lambda top: st.integers(max(top, 1), 40).map(lambda bottom: top / bottom))


def test_a_sample_on_the_threshold_is_accepted():
    assert decisions.is_rejected(np.array([0.1, 0.2, 0.3]), 0.2).tolist() == [False, False, True]


def test_a_stored_threshold_means_the_float32_that_it_was():
    score = np.array([0.1, 0.2], dtype=np.float32)  # 0.1 as float32 is above 0.1 as float64
    assert decisions.is_rejected(score, 0.1).tolist() == [False, True]
    assert decisions.first_acceptance(score, [0.1]).tolist() == [0, 1]
    assert decisions.index_at(np.array([-np.inf, *score], dtype=np.float32), 0.1) == 1


@pytest.mark.filterwarnings("error")
def test_the_largest_float64_rejects_no_float32():
    assert not decisions.is_rejected(np.array([3e38], dtype=np.float32), np.finfo(np.float64).max).any()


def test_classes_and_the_confusion_matrix_agree_on_who_is_rejected():
    labels, predictions, score = [0, 0, -2], [0, 0, 0], np.array([0.1, 0.3, 0.1], dtype=np.float32)
    matrix = open_set_confusion_matrix(labels, predictions, score, threshold=0.1)
    assert matrix.counts.tolist() == [[1, 1], [1, 0]]
    assert class_rates(Scores(labels, predictions, score), 0.1).ccr.tolist() == [0.5]


@given(running, shares)
def test_indices_are_those_of_a_plain_search(accepted, share):
    total = int(accepted[-1])
    if total:
        rates = [taken / total for taken in accepted]
        caught = [(total - taken) / total for taken in accepted]
        assert decisions.last_within(accepted, total, share) == max(i for i, rate in enumerate(rates) if rate <= share)
        assert decisions.first_reaching(accepted, total, share) == min(
            i for i, rate in enumerate(rates) if rate >= share
        )
        assert decisions.last_catching(accepted, total, share) == max(
            i for i, rate in enumerate(caught) if rate >= share
        )


def test_nine_of_ten_caught_are_nine_tenths():
    assert decisions.last_catching(np.arange(11), 10, 0.9) == 1  # although 1 - 0.9 is a little less than 0.1


@given(st.integers(0, 200), st.integers(1, 200))
def test_whole_numbers_of_a_share_are_exact(top, total):
    share = min(top, total) / total
    assert decisions.whole_number_for(share, total) == decisions.allowed_by(share, total) == min(top, total)


@given(running, st.lists(st.integers(0, 3), min_size=13, max_size=13))
def test_the_area_counts_pairs_with_the_credit_of_a_tie(heights, open_samples):
    steps = np.array(open_samples[: len(heights) - 1])
    higher = sum(int(n) * int(h) for n, h in zip(steps, heights[:-1], strict=True))
    tied = sum(int(n) * int(h) for n, h in zip(steps, np.diff(heights), strict=True))
    for ties, credit in (("strict", Fraction(0)), ("half", Fraction(1, 2)), ("full", Fraction(1))):
        found = decisions.area(steps.astype(float), heights.astype(float), decisions.tie_credit("f", ties))
        assert found == higher + credit * tied
    seen = decisions.amid_ties(heights.astype(float), 0.1)
    np.testing.assert_allclose(seen, 0.1 * (heights[:-1] + np.diff(heights) / 2))


def test_another_credit_is_refused():
    with pytest.raises(OpenSetError, match="open_auc: 'ties' cannot be 'none'"):
        decisions.tie_credit("open_auc", "none")


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_precision_is_that_of_a_population_of_the_assumed_mix(accepted, right, passed, share):
    # 5 of 5 knowns and 5 of 5 unknowns stand for the mix: count what is accepted among 1,000 that arrive.
    right = min(right, accepted)
    known, unknown = 1000 * (1 - share) * accepted / 5, 1000 * share * passed / 5
    for hits, counted in ((None, known), (right / 5, 1000 * (1 - share) * right / 5)):
        expected = counted / (known + unknown) if known + unknown else 0.25
        found = decisions.precision_at_share(accepted / 5, passed / 5, share, hits=hits, zero_division=0.25)
        assert float(found) == pytest.approx(expected, abs=1e-15)


def test_rows_and_counts_of_several_thresholds_are_those_of_each():
    rng = np.random.default_rng(0)
    label, prediction = rng.integers(-2, 3, 60), rng.integers(0, 3, 60)
    score, open_classes = rng.integers(0, 5, 60) / 4, rng.choice(["", "cat", "dog"], 60)
    names, row = decisions.confusion_rows(label, open_classes, 3)
    for place, (kind, own) in enumerate(zip(label, open_classes, strict=True)):
        called = own or ("negative" if kind == -1 else "unknown")
        assert row[place] == (kind if kind >= 0 else 3 + names.index(called))
    thresholds = [-1.0, 0.25, 0.3, 2.0]
    level = decisions.first_acceptance(score, thresholds)
    counts = decisions.confusion_counts(
        row, prediction, level, n_rows=3 + len(names), n_classes=3, n_levels=len(thresholds)
    )
    for place, threshold in enumerate(thresholds):
        slow = np.zeros((3 + len(names), 4), dtype=int)
        for r, p, s in zip(row, prediction, score, strict=True):
            slow[r, 3 if s > threshold else p] += 1
        assert counts[place].tolist() == slow.tolist()
