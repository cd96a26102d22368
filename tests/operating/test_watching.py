"""The alarm on the share of unknowns."""

import math

import numpy as np
import pytest

from openset import Scores, choose
from openset.errors import OpenSetError
from openset.intervals import clopper_pearson
from openset.operating import Threshold
from openset.operating.alarm import N_ALTERNATIVES, Evidence
from openset.operating.watching import Promise, Watch


def textbook_stake(windows, p):
    """Sample by sample, one bet for each alternative and beginning."""
    total = 0.0
    for begin in range(len(windows)):
        part = 1 / ((begin + 1) * (begin + 2) * N_ALTERNATIVES)
        for q in Evidence(p).alternatives:
            stake = part
            for n, rejected in windows[begin:]:
                for sample in range(n):
                    stake *= q / p if sample < rejected else (1 - q) / (1 - p)
            total += stake
    return total + sum(1 / ((j + 1) * (j + 2)) for j in range(len(windows), 100_000)) + 1 / 100_001


def evidence_of(windows, promised):
    """The stake after each window, (samples, rejected)."""
    evidence = Evidence(promised)
    return [evidence.add(n, rejected) for n, rejected in windows]


@pytest.mark.parametrize("p", [0.01, 0.05, 0.6])
def test_the_stake_is_that_of_betting_sample_by_sample(p):
    windows = [(20, 1), (5, 0), (30, 9), (10, 10)]
    found = evidence_of(windows, p)
    for end in range(1, len(windows) + 1):
        assert found[end - 1] == pytest.approx(textbook_stake(windows[:end], p), rel=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.3])
def test_the_expected_stake_does_not_grow_while_the_promise_holds(p):
    """Exactly: the mean over all outcomes of the next window, at a rate of p and below."""
    for rate in (p, p / 2):
        total = 0.0
        for rejected in range(13):
            evidence = Evidence(p)
            before = evidence.add(10, 3)
            chance = math.comb(12, rejected) * rate**rejected * (1 - rate) ** (12 - rejected)
            total += chance * evidence.add(12, rejected)
        assert total <= before * (1 + 1e-9)
        if rate == p:
            assert total == pytest.approx(before)


def test_bets_are_on_more_than_was_promised():
    for p in (1e-4, 0.05, 0.5, 0.999):
        q = Evidence(p).alternatives
        assert (q > p).all()
        assert (q < 1).all()
    for p in (0.0, 1.0):
        with pytest.raises(OpenSetError, match="must be between 0 and 1"):
            Evidence(p)


def test_false_alarms_are_rare_however_often_one_looks():
    """Right at the most that was promised, 400 streams of 100 looks each: at most alpha of them raise the alarm."""
    rng = np.random.default_rng(0)
    false = sum(max(evidence_of([(50, rng.binomial(50, 0.06)) for _ in range(100)], 0.06)) >= 20 for _ in range(400))
    assert false <= 0.05 * 400


def test_a_change_is_noticed_also_after_a_long_time():
    quiet, change = [(200, 8)] * 300, [(200, 40)] * 3
    found = evidence_of([*quiet, *change], 0.06)
    assert max(found[:300]) < 1
    assert found[-1] > 1000


def test_what_validation_promises():
    frozen = choose(Scores([0] * 100, [0] * 100, np.arange(100)), "at_acceptance=0.95")
    found = Promise.of(frozen, risk=0.005)
    assert found.expected == pytest.approx(0.05)
    assert found.largest == clopper_pearson(5, 100, level=0.99).high
    some = Promise.of(frozen, unknown_share=0.1)
    assert some.largest == pytest.approx(0.9 * found.largest + 0.1)
    with pytest.raises(OpenSetError, match="does not tell on how many knowns"):
        Promise.of(Threshold(0.5, "by hand", {}, 0))


def test_the_upper_end_holds_for_the_threshold_that_was_chosen():
    """The fraction of new knowns rejected exceeds it in about `risk` of all validation sets."""
    rng = np.random.default_rng(1)
    exceeded = 0
    for _ in range(1000):
        score = rng.random(60)  # a threshold t rejects a fraction 1 - t of new ones
        frozen = choose(Scores(np.zeros(60, int), np.zeros(60, int), score), "at_acceptance=0.9")
        exceeded += 1 - frozen.value > Promise.of(frozen, risk=0.1).largest
    assert 0.06 < exceeded / 1000 < 0.13


def test_an_alarm_stays():
    watch = Watch(Promise(0.05, 0.06, 0.0, 0.005, 1000), alpha=0.01)
    for name, rejected in (("a", 5), ("b", 60), ("c", 0), ("d", 0)):
        watch.add(name, 100, rejected)
    found = watch.result()
    assert [one.alarm for one in found.windows] == [False, True, True, True]
    assert found.alarm.name == "b"
    assert found.as_json()["alarm"] == "b"
    assert found.limit == 200
