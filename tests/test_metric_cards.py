"""A plain function of arrays becomes a metric with everything that the shipped ones have."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

from openset import metrics
from openset._core.counts import count
from openset._core.resampling import Request, evaluator
from openset.errors import OpenSetError
from openset.metrics import METRICS, Confidences, titled
from openset.metrics._card import adopt_metric, make_card
from samples import random_dataset


def own_auroc(labels, unknown_score):
    return metrics.auroc(labels, unknown_score)


def own_ccr(labels, predictions, unknown_score, *, fpr=0.1):
    """CCR, as the package has it."""
    return metrics.ccr_at_fpr(labels, predictions, unknown_score, fpr=fpr)


def own_accuracy(labels, predictions):
    return np.mean((labels == predictions)[labels >= 0])


def own_gamma(labels, probabilities):
    return metrics.confidence(labels, probabilities, against="all").gamma


OWN = {"auroc": own_auroc, "ccr_at_fpr": own_ccr, "closed_set_accuracy": own_accuracy}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("against", ["all", "negative", "far"])
def test_it_agrees_with_the_shipped_metric_also_on_resamples(name, against):
    labels, predictions, score = random_dataset(300, decimals=1)
    groups = np.where(np.arange(300) % 3 == 0, "far", "near")
    card, shipped = make_card(OWN[name], "Own"), METRICS[name]
    params = {"fpr": 0.1} if name == "ccr_at_fpr" else {}
    counts = count(labels, predictions, score, against, groups)
    drawn = replace(counts, weights=np.random.default_rng(0).poisson(1.0, len(counts.ranking.score)).astype(float))
    for one in (counts, drawn):
        assert card.of(one, **params) == pytest.approx(shipped.of(one, **params), abs=1e-12)
    assert (card.uses_predictions, card.uses_scores) == (shipped.uses_predictions, shipped.uses_scores)
    assert card.sees_open_set is shipped.sees_open_set
    if card.sees_open_set:
        data = [labels, *([predictions] if card.uses_predictions else []), score]
        options = {"against": against, "groups": groups}
        assert card.function(*data, **options) == pytest.approx(shipped.function(*data, **options, **params))


def test_probabilities():
    rng = np.random.default_rng(0)
    labels = rng.integers(-2, 3, 60)
    probabilities = rng.dirichlet(np.ones(3), 60)
    card = make_card(own_gamma, "Own gamma")
    gathered = Confidences(labels, probabilities)
    weights = rng.poisson(1.0, 60).astype(float)
    for one in (gathered, gathered.reweighted(weights)):
        assert card.of(one, against="unknown") == pytest.approx(METRICS["confidence"].of(one, against="unknown"))
    assert card.function(labels, probabilities) == pytest.approx(
        metrics.confidence(labels, probabilities, against="all").gamma
    )
    assert card.source == "probabilities"


def test_evaluating_it_gives_values_of_resamples(make_scores):
    scores = make_scores(200)
    values = evaluator(scores, [Request(make_card(own_auroc, "Own"), {}, "all"), Request(METRICS["auroc"], {}, "all")])
    for weights in (None, np.ones(200), np.arange(200) % 3.0):
        own, shipped = values(weights)
        assert own == pytest.approx(shipped, abs=1e-12)


def test_a_metric_of_knowns_alone_needs_no_open_set_samples():
    assert make_card(own_accuracy, "Own").function([0, 1, 1], [0, 1, 0]) == pytest.approx(2 / 3)


def test_input_is_checked_and_data_may_be_named():
    card = make_card(own_ccr, "Own CCR at {fpr:g}")
    with pytest.raises(OpenSetError, match="Found 2 known samples and 0"):
        card.function([0, 1], [0, 1], [0.1, 0.2])
    data = {"labels": [0, 0, -2], "predictions": [0, 0, 0], "unknown_score": [0.1, 0.2, 0.9]}
    assert card.function(**data, fpr=1.0) == 1.0
    assert titled(card, {"fpr": 0.5}) == "Own CCR at 0.5"
    assert card.summary == "CCR, as the package has it."
    assert list(inspect.signature(card.function).parameters) == [
        "labels", "predictions", "unknown_score", "fpr", "against", "groups",
    ]  # fmt: skip


def test_a_plain_function_needs_no_card():
    card = adopt_metric("own_auroc", own_auroc)
    assert (card.title, card.summary, card.better, card.span) == ("Own auroc", "Own auroc", "higher", (0.0, 1.0))
    assert "own_auroc" not in METRICS
    assert adopt_metric("anything", metrics.auroc) is METRICS["auroc"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: adopt_metric("x", 3), "this is not a metric: a metric is a function of labels"),
        (lambda: adopt_metric("x", len), "this is not a metric"),
        (lambda: make_card(lambda scores: 0, "X"), "'<lambda>' takes scores"),
        (lambda: make_card(lambda: 0, "X"), "takes nothing"),
        (lambda: make_card(lambda labels, probabilities, unknown_score: 0, "X"), "or probabilities alone"),
        (lambda: make_card(lambda labels, unknown_score, *, fpr: 0, "X"), "The option 'fpr' of the metric"),
    ],
)
def test_what_is_no_metric_is_refused(make, message):
    with pytest.raises(OpenSetError, match=message.replace("(", r"\(")):
        make()


@pytest.mark.parametrize("value", [7.0, -0.1, np.nan, None, "x", [1.0, 2.0]])
def test_a_value_outside_the_range_is_loud(value):
    card = make_card(lambda labels, unknown_score: value, "X")
    with pytest.raises(OpenSetError, match=r"not a number from 0 to 1: say its range with @metric\(..., span="):
        card.function([0, -2], [0.1, 0.2])
    if value == 7.0:
        assert make_card(lambda labels, unknown_score: value, "X", span=(0, 10)).function([0, -2], [0.1, 0.2]) == 7.0


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_can_be_imported_under_its_name(name):
    assert getattr(metrics, name) is METRICS[name].function
