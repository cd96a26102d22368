import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textbook
from openset import Scores
from openset.errors import OpenSetError
from openset.operating import (
    RULES,
    Threshold,
    at_acceptance,
    at_fpr,
    best_accuracy,
    best_f,
    best_youden,
    choose,
    conformal,
    min_cost,
)
from samples import datasets, random_dataset


@given(datasets(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_at_fpr_is_the_largest_threshold_that_holds(data, limit):
    labels, _, score = data
    found = at_fpr(Scores(*data), limit)
    fitting = [t for t in textbook.thresholds(score) if textbook.fpr(labels, score, t) <= limit]
    if max(fitting) == -np.inf:
        assert found.value < min(score)
        assert np.isfinite(found.value)
    else:
        assert found.value == max(fitting)
    assert found.achieved["fpr"] == pytest.approx(textbook.fpr(labels, score, found.value))
    assert found.achieved["fpr"] <= limit


@given(datasets(), st.sampled_from([0.01, 0.5, 0.95, 1.0]))
def test_at_acceptance_is_the_smallest_threshold_that_holds(data, share):
    labels, _, score = data
    found = at_acceptance(Scores(*data), share)
    assert found.value == min(t for t in textbook.thresholds(score) if textbook.acceptance(labels, score, t) >= share)


@given(datasets())
def test_best_rules_reach_the_best_value(data):
    scores = Scores(*data)
    every, k = textbook.thresholds(data[2]), scores.n_classes
    for average in ("macro", "micro"):
        best = max(textbook.f_score(*data, t, k, average) for t in every)
        assert textbook.f_score(*data, best_f(scores, average).value, k, average) == pytest.approx(best)
        best = max(textbook.youden(*data, t, k, average) for t in every)
        assert textbook.youden(*data, best_youden(scores, average).value, k, average) == pytest.approx(best)


@given(datasets(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_best_accuracy_reaches_the_largest_operational_accuracy(data, share):
    from openset.metrics import operational_accuracy

    found = best_accuracy(Scores(*data), share)
    values = [
        operational_accuracy(*data, threshold=t, unknown_share=share) for t in (min(data[2]) - 1, *sorted(set(data[2])))
    ]
    assert operational_accuracy(*data, threshold=found.value, unknown_share=share) == pytest.approx(max(values))


def test_min_cost_moves_with_the_costs():
    scores = Scores(*random_dataset(500, seed=1))
    values = [min_cost(scores, cost).value for cost in (0.0, 0.5, 1.0, 5.0, 100.0)]
    assert values == sorted(values, reverse=True)
    assert min_cost(scores, 0.0).achieved["acceptance"] == 1.0
    rare = min_cost(scores, 5.0, unknown_share=0.01)
    assert rare.value > min_cost(scores, 5.0, unknown_share=0.5).value


@given(
    datasets(),
    *[st.sampled_from([0.0, 0.5, 1.0, 3.0]) for _ in range(3)],
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_min_cost_is_the_threshold_of_the_lowest_cost(data, false_accept, false_reject, misclassified, unknown_share):
    labels, predictions, score = data
    n_known = sum(label >= 0 for label in labels)

    def cost(threshold):  # of each sample by what becomes of it, weighted by how often its kind arrives
        total = 0.0
        for label, prediction, value in zip(labels, predictions, score, strict=True):
            if label < 0:
                weight, price = unknown_share / (len(labels) - n_known), false_accept if value <= threshold else 0.0
            else:
                weight = (1 - unknown_share) / n_known
                price = false_reject if value > threshold else misclassified if prediction != label else 0.0
            total += weight * price
        return total

    costs = {"false_reject": false_reject, "misclassified": misclassified, "unknown_share": unknown_share}
    found = min_cost(Scores(*data), false_accept, **costs)
    assert cost(found.value) == pytest.approx(min(map(cost, textbook.thresholds(score))), abs=1e-12)


def test_a_rejected_misclassified_known_costs_its_rejection_alone():
    # Rejecting the wrong known costs 1 and accepting it 1.5; the unknown above it is rejected either way.
    scores = Scores([0, 0, -2], [0, 1, 0], [0.1, 0.5, 0.9])
    assert min_cost(scores, 9.0, misclassified=1.5).value == 0.1
    assert min_cost(scores, 9.0, misclassified=0.5).value == 0.5


@pytest.mark.parametrize("n", [9, 19, 24, 99, 999])
def test_the_conformal_place_is_exact(n):
    # alpha = k / (n + 1): the (n + 1 - k)-th smallest score, also where (n + 1) (1 - alpha) is a little above it.
    scores = Scores([0] * n, [0] * n, np.arange(1.0, n + 1))
    assert any(math.ceil((n + 1) * (1 - k / (n + 1))) > n + 1 - k for k in range(1, n + 1))
    for k in range(1, n + 1):
        assert conformal(scores, k / (n + 1)).value == n + 1 - k


@pytest.mark.parametrize(("n", "alpha"), [(19, 0.05), (50, 0.1), (7, 0.2), (200, 0.05)])
def test_conformal_rejects_a_new_known_with_probability_at_most_alpha(n, alpha):
    rng = np.random.default_rng(n)
    rejected = 0
    for _ in range(4000):
        sample = rng.standard_normal(n + 1)
        frozen = conformal(Scores([0] * n, [0] * n, sample[:n]), alpha)
        rejected += sample[n] > frozen.value
    # Exchangeability gives floor((n + 1) alpha) / (n + 1) <= alpha; 4 standard errors of 4,000 trials on top.
    assert rejected / 4000 <= alpha + 4 * (alpha * (1 - alpha) / 4000) ** 0.5
    assert rejected / 4000 >= np.floor((n + 1) * alpha + 1e-9) / (n + 1) - 4 * (alpha / 4000) ** 0.5


def test_conformal_accepts_everything_where_nothing_else_is_safe():
    few = conformal(Scores([0] * 5, [0] * 5, np.arange(5, dtype=np.float32)), 0.05)
    assert few.achieved["acceptance"] == 1.0
    assert few.apply(Scores([0, -2], [0, 0], np.array([1e30, -1e30], dtype=np.float32)))["acceptance"] == 1.0
    json.dumps(few.value, allow_nan=False)


def test_conformal_does_not_look_at_open_set_samples():
    rng = np.random.default_rng(0)
    known = rng.standard_normal(50)
    alone = conformal(Scores([0] * 50, [0] * 50, known), 0.1)
    mixed = conformal(Scores([0] * 50 + [-2] * 9, [0] * 59, np.r_[known, rng.standard_normal(9) + 9]), 0.1)
    assert alone.value == mixed.value


def test_a_threshold_from_float32_scores_separates_them_exactly():
    score = np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32)
    frozen = at_fpr(Scores([0, 0, -2, -2], [0] * 4, score), 0.0)
    assert (score > frozen.value).tolist() == [False, False, True, True]
    lowest = at_fpr(Scores([-2, 0, 0, 0], [0] * 4, score), 0.0)
    assert (score > lowest.value).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_threshold_holds_on_the_same_scores_in_any_file(tmp_path, dtype):
    labels, predictions, score = random_dataset(300)
    kinds = ("parquet", "csv", "npz")
    for kind in kinds:
        Scores(labels, predictions, score.astype(dtype)).write(tmp_path / f"s.{kind}")
    read = {kind: Scores.read(tmp_path / f"s.{kind}") for kind in kinds}
    rules = [f"at_acceptance={share:.2f}" for share in np.arange(0.02, 1, 0.04)]
    for rule in (*rules, "at_fpr=0", "at_fpr=0.1", "best_f", "conformal=0.1", "conformal=0.0001"):
        chosen = {kind: choose(scores, rule) for kind, scores in read.items()}
        effects = [threshold.apply(scores) for threshold in chosen.values() for scores in read.values()]
        assert all(effect == effects[0] for effect in effects), rule
        if rule != "conformal=0.0001":  # the largest number there is, of each kind of number
            assert len({threshold.value for threshold in chosen.values()}) == 1, rule


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("at_fpr=95", "at_fpr: 'fpr' must be in [0, 1], got 95. Did you mean 0.95?"),
        ("at_fpr", "The rule 'at_fpr' needs a value, for example at_fpr=0.1."),
        ("at_fpr=x", "needs a number"),
        ("at_fprr=0.1", "no threshold rule named 'at_fprr'. Did you mean 'at_fpr'?"),
        ("best_f=weighted", "'average' cannot be 'weighted'"),
        ("conformal=5", "conformal: 'alpha' must be in (0, 1), got 5. Did you mean 0.05?"),
        ("min_cost=-1", "must be a cost of 0 or more"),
        ("at_fpr(fpr=x)", "The rule 'at_fpr(fpr=x)' needs a number for 'fpr', for example at_fpr=0.1."),
        ("at_fpr=true", "needs a number"),
        ("at_fpr=", "The rule 'at_fpr' needs a value"),
        ("at_fpr()", "The rule 'at_fpr' needs a value"),
        ("at_fpr=0.1, fpr=0.2", "has the option 'fpr' twice"),
        ("at_fpr(fpr=0.1", "bracket"),
        ("min_cost(false_accept=1, unknwon_share=0.1)", "no option 'unknwon_share'. Did you mean 'unknown_share'?"),
        ("at_acceptance=0.9, against=unknown", "The rule 'at_acceptance' has no option 'against'."),
        ("", "There is no threshold rule named ''."),
    ],
)
def test_wrong_rules_say_what_to_do(rule, message):
    with pytest.raises(OpenSetError) as caught:
        choose(Scores([0, -2], [0, 0], [0.1, 0.2]), rule)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", RULES)
def test_a_card_tells_how_its_rule_is_written_and_what_it_needs(name):
    card, scores = RULES[name], Scores(*random_dataset(200))
    assert choose(scores, card.example).rule == card.example
    assert card.summary.endswith(".")
    value = card.example.partition("=")[2]
    in_brackets = choose(scores, f"{name}({card.value.name}={value})")
    assert in_brackets == choose(scores, card.example)
    knowns = scores.take(np.flatnonzero(scores.labels >= 0))
    if card.needs_open_set:
        with pytest.raises(OpenSetError, match=r"needs open-set samples.* at_acceptance=0.95 or conformal=0.05, which"):
            choose(knowns, card.example)
    else:
        assert choose(knowns, card.example).value == choose(scores, card.example).value


def test_a_rule_can_be_written_with_all_of_its_options():
    scores = Scores(*random_dataset(500, seed=1))
    expected = min_cost(scores, 5.0, false_reject=2.0, unknown_share=0.1, against="unknown")
    for rule in (
        "min_cost(false_accept=5, false_reject=2, unknown_share=0.1, against=unknown)",
        "min_cost=5, false_reject=2, unknown_share=0.1, against=unknown",
        expected.rule,
    ):
        assert choose(scores, rule) == expected
    assert choose(scores, "min_cost=5, false_reject=2, against=unknown", unknown_share=0.1) == expected
    assert choose(scores, "min_cost=5, false_reject=2, unknown_share=0.1", against="unknown") == expected
    assert choose(scores, "best_f(average=micro)") == best_f(scores, "micro")
    assert choose(scores, "best_f") == choose(scores, "best_f()") == best_f(scores, "macro")


def test_the_share_of_unknowns_reaches_the_rule_that_uses_it(tmp_path):
    scores = Scores(*random_dataset(500, seed=1))
    rare = choose(scores, "min_cost=5", unknown_share=0.01)
    assert rare.value == min_cost(scores, 5.0, unknown_share=0.01).value
    assert rare.value > choose(scores, "min_cost=5").value
    assert choose(scores, "at_fpr=0.1", unknown_share=0.01) == at_fpr(scores, 0.1)


def test_a_threshold_says_what_it_was_chosen_under_where_that_is_not_the_usual(tmp_path):
    scores = Scores(*random_dataset(200))
    assert choose(scores, "min_cost=5", unknown_share=0.01).rule == "min_cost=5, unknown_share=0.01"
    assert choose(scores, "min_cost=5", unknown_share=0.5).rule == "min_cost=5"
    assert choose(scores, "at_fpr=0.1", against="unknown").rule == "at_fpr=0.1, against=unknown"
    assert choose(scores, "best_f", against="negative").rule == "best_f=macro, against=negative"
    assert choose(scores, "best_youden=micro", against="negative").rule == "best_youden=micro, against=negative"
    frozen = min_cost(scores, 5.0, false_reject=2.0, unknown_share=0.1, against="unknown")
    assert frozen.rule == "min_cost=5, false_reject=2, unknown_share=0.1, against=unknown"
    frozen.write(tmp_path / "t.json")
    assert Threshold.read(tmp_path / "t.json") == frozen


def test_an_option_said_twice_must_be_said_alike():
    scores = Scores(*random_dataset(200))
    assert choose(scores, "min_cost=5, unknown_share=0.1", unknown_share=0.1).rule == "min_cost=5, unknown_share=0.1"
    with pytest.raises(OpenSetError, match=r"'unknown_share' is 0.1 in the rule .* and 0.2 beside it: give it once"):
        choose(scores, "min_cost=5, unknown_share=0.1", unknown_share=0.2)
    with pytest.raises(OpenSetError, match="'against' is negative in the rule"):
        choose(scores, "at_fpr=0.1, against=negative", against="unknown")


def test_rules_on_knowns_need_knowns():
    with pytest.raises(OpenSetError, match="found 0 known samples among 2"):
        at_acceptance(Scores([-2, -2], [0, 0], [0.1, 0.2]), 0.5)
