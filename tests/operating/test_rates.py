import math

import numpy as np
import pytest
from hypothesis import given

from openset import Scores
from openset.errors import OpenSetError
from openset.intervals import clopper_pearson
from openset.operating import Threshold
from samples import datasets


def binomial(n, k, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 30), (7, 30), (29, 30), (30, 30)])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_ends_are_where_so_many_or_so_few_have_half_the_rest(count, n, level):
    found = clopper_pearson(count, n, level=level)
    tail = (1 - level) / 2
    if count:
        assert sum(binomial(n, k, found.low) for k in range(count, n + 1)) == pytest.approx(tail)
    else:
        assert found.low == 0.0
    if count < n:
        assert sum(binomial(n, k, found.high) for k in range(count + 1)) == pytest.approx(tail)
    else:
        assert found.high == 1.0
    assert (found.value, found.level, found.method) == (count / n, level, "exact")


def test_it_is_scipys():
    from scipy.stats import binomtest

    for count, n in ((0, 5), (3, 9), (500, 1000), (99_999, 100_000)):
        expected = binomtest(count, n).proportion_ci(0.95, method="exact")
        found = clopper_pearson(count, n)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_it_covers_at_every_true_fraction():
    n = 20
    ends = [clopper_pearson(count, n) for count in range(n + 1)]
    for p in np.linspace(0.01, 0.99, 99):
        covered = sum(binomial(n, k, p) for k, end in enumerate(ends) if end.low <= p <= end.high)
        assert covered >= 0.95


@pytest.mark.parametrize(("count", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_what_is_no_fraction_is_refused(count, n):
    with pytest.raises(OpenSetError, match="is no fraction"):
        clopper_pearson(count, n)


@given(datasets())
def test_every_rate_is_a_plain_count(data):
    labels, predictions, score = data
    threshold = sorted(score)[len(score) // 2]
    rates = Threshold(threshold, "", {}, 0).apply(Scores(*data))
    accepted = [s <= threshold for s in score]
    counts = {
        "acceptance": [a for a, label in zip(accepted, labels, strict=True) if label >= 0],
        "ccr": [a and p == y for a, p, y in zip(accepted, predictions, labels, strict=True) if y >= 0],
        "accuracy_on_accepted": [p == y for a, p, y in zip(accepted, predictions, labels, strict=True) if y >= 0 and a],
        "fpr": [a for a, label in zip(accepted, labels, strict=True) if label < 0],
    }
    if {-1, -2} <= set(labels):
        counts["fpr_negative"] = [a for a, label in zip(accepted, labels, strict=True) if label == -1]
        counts["fpr_unknown"] = [a for a, label in zip(accepted, labels, strict=True) if label == -2]
    counts["operational_accuracy"] = [
        a and p == y if y >= 0 else not a for a, p, y in zip(accepted, predictions, labels, strict=True)
    ]
    counts = {name: found for name, found in counts.items() if found}
    assert list(rates) == list(counts)
    for name, found in counts.items():
        rate = rates.rates[name]
        assert (rate.count, rate.n, rates[name]) == (sum(found), len(found), sum(found) / len(found))
        assert rate.interval == clopper_pearson(sum(found), len(found))


GROUPED = Scores(
    [0, 0, -1, -2, -2, -2],
    [0, 0, 0, 0, 0, 0],
    [0.1, 0.9, 0.2, 0.3, 0.8, 0.7],
    groups=["", "", "far", "near", "far", "far"],
)


def test_there_is_a_row_for_each_kind_and_group():
    rates = Threshold(0.5, "", {}, 0).apply(GROUPED)
    assert dict(rates) == {
        "acceptance": 0.5,
        "ccr": 0.5,
        "accuracy_on_accepted": 1.0,
        "fpr": 0.5,
        "fpr_negative": 1.0,
        "fpr_unknown": 1 / 3,
        "fpr@far": 1 / 3,
        "fpr@near": 1.0,
        "operational_accuracy": 0.5,
    }
    assert [rate.against for rate in rates.rates.values()][3:] == ["all", "negative", "unknown", "far", "near", "all"]
    only = Threshold(0.5, "", {}, 0).apply(GROUPED, against="far")
    assert (only["fpr"], only.rates["fpr"].against, only.rates["fpr"].n) == (1 / 3, "far", 3)
    assert "fpr_negative" not in only
    assert (only["operational_accuracy"], only.rates["operational_accuracy"].n) == (3 / 5, 5)
    knowns = Threshold(0.5, "", {}, 0).apply(Scores([0, 0], [0, 0], [0.1, 0.9]))
    assert "operational_accuracy" not in knowns


def test_json_has_the_fractions_by_name_and_each_with_its_interval():
    rates = Threshold(0.5, "", {}, 0).apply(GROUPED, level=0.9)
    content = rates.as_json()
    assert {name: content[name] for name in rates} == dict(rates)
    assert (content["level"], content["interval"]) == (0.9, "exact (Clopper-Pearson)")
    interval = clopper_pearson(1, 3, level=0.9)
    assert content["rates"][5] == {
        "name": "fpr",
        "params": {},
        "against": "unknown",
        "value": 1 / 3,
        "low": interval.low,
        "high": interval.high,
        "count": 1,
        "n": 3,
    }


def test_scores_of_one_kind_have_the_rates_of_that_kind():
    assert list(Threshold(0.5, "", {}, 0).apply(Scores([-2, -2], [0, 0], [0.1, 0.9]))) == ["fpr"]
    assert list(Threshold(0.0, "", {}, 0).apply(Scores([0, 0], [0, 0], [0.1, 0.9]))) == ["acceptance", "ccr"]
