"""Which samples are worth looking at: against a slow search, and the limits."""

import numpy as np
import pytest

from openset.results.views import class_texts, score_histogram, steps_of, worst_samples
from openset.scores import Scores


def test_few_samples_are_all_there_in_order(make_scores):
    scores = make_scores(n=80)
    found = worst_samples(scores)
    known = scores.labels >= 0
    slow = sorted(np.flatnonzero(~known), key=lambda row: scores.unknown_score[row])
    assert found.slipped.tolist() == slow
    assert found.lost.tolist() == sorted(np.flatnonzero(known), key=lambda row: -scores.unknown_score[row])


@pytest.mark.parametrize("most", [10, 30, 100])
def test_the_worst_of_all_and_the_worst_of_each_class_and_group(make_scores, most):
    scores = make_scores(n=2000, n_classes=5, groups=True, seed=3)
    found = worst_samples(scores, most=most, per_class=1)
    known = scores.labels >= 0
    for rows, mask, sign in ((found.slipped, ~known, 1), (found.lost, known, -1)):
        assert len(rows) == len(set(rows.tolist())) == most
        assert mask[rows].all()
        badness = sign * scores.unknown_score
        assert (np.diff(badness[rows]) >= 0).all()
        order = sorted(np.flatnonzero(mask), key=lambda row: badness[row])
        assert set(order[: most // 2]) <= set(rows.tolist())
        if most == 100:
            names = class_texts(scores)
            for name in set(names[mask].tolist()):
                worst = min(np.flatnonzero(mask & (names == name)), key=lambda row: badness[row])
                assert worst in rows
    if most == 100:
        for group in ("easy", "hard"):
            assert (
                min(np.flatnonzero(scores.groups == group), key=lambda row: scores.unknown_score[row]) in found.slipped
            )


def test_a_class_that_is_never_among_the_worst_is_there_all_the_same():
    labels = [-2] * 100
    scores = Scores([0, *labels], [0] * 101, np.arange(101.0), open_classes=["", *(["cat"] * 97), "dog", "dog", "dog"])
    assert worst_samples(scores, most=10, per_class=2).slipped.tolist() == [*range(1, 9), 98, 99]


def test_equal_scores_come_in_the_order_of_rows():
    scores = Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5])
    found = worst_samples(scores, most=1)
    assert (found.slipped.tolist(), found.lost.tolist()) == ([2], [0])


def test_a_frozen_threshold_is_the_step_that_accepts_the_same(make_scores):
    scores = make_scores(n=5000)
    for value in (-100.0, 0.123456, 1.5, 100.0):
        steps = steps_of(scores, n_steps=101, frozen=value)
        at = steps.marks["frozen"]
        known = scores.unknown_score[scores.labels >= 0]
        assert steps.acceptance[at] == pytest.approx((known <= value).mean(), abs=1e-12)
        assert steps.fpr["all"][at] == pytest.approx(
            (scores.unknown_score[scores.labels < 0] <= value).mean(), abs=1e-12
        )
    assert "frozen" not in steps_of(scores).marks


def test_histograms_of_groups_add_up_to_the_open_set(make_scores):
    scores = make_scores(groups=True)
    made = score_histogram(scores)
    assert list(made.groups) == ["easy", "hard"]
    n_open = (scores.labels < 0).sum()
    together = sum(made.groups[name] * (scores.groups == name).sum() for name in made.groups)
    kinds = sum(
        made.shares[kind] * (scores.labels == label).sum() for kind, label in (("negative", -1), ("unknown", -2))
    )
    np.testing.assert_allclose(together, kinds)
    assert together.sum() == pytest.approx(n_open)
    assert score_histogram(make_scores()).groups == {}
