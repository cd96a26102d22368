import json

import numpy as np
import pytest

from openset import Scores, evaluate
from openset.evaluation import resamples_for
from openset.intervals import delong
from openset.metrics import METRICS, ccr_at_fpr, open_auc
from openset.posthoc import softmax
from samples import random_dataset


def scores_of(n=400, **options):
    labels, predictions, score = random_dataset(n, decimals=2)
    logits = 2 * np.eye(5)[predictions] + np.random.default_rng(1).standard_normal((n, 5)) / 4
    return Scores(labels, predictions, score, softmax(logits), **options)


def test_every_metric_is_there_with_its_interval():
    scores = scores_of()
    found = evaluate(scores, n_resamples=50)
    for name, card in METRICS.items():
        for params in card.variants:
            result = found.find(name, **params)
            assert result.low <= result.value <= result.high or card.best_over_thresholds
    assert {result.against for result in found.results} == {"all", "negative", "unknown"}
    assert found.find("open_auc").value == open_auc(scores.labels, scores.predictions, scores.unknown_score)
    assert found.find("open_auc", against="unknown").low == delong(scores, against="unknown").low
    assert found.find("ccr_at_fpr", fpr=0.1, against="negative").value == ccr_at_fpr(
        scores.labels, scores.predictions, scores.unknown_score, fpr=0.1, against="negative"
    )
    json.dumps(found.as_json(), allow_nan=False)


def test_metrics_of_knowns_alone_are_given_once():
    names = [result.name for result in evaluate(scores_of(), intervals=False).results]
    assert names.count("closed_set_accuracy") == len(METRICS["closed_set_accuracy"].variants)
    assert names.count("brier_score") == 1
    assert names.count("auroc") == 3
    one = evaluate(scores_of(), against=["unknown"], intervals=False)
    assert (
        one.find("closed_set_accuracy").value
        == evaluate(scores_of(), intervals=False).find("closed_set_accuracy").value
    )


def test_metrics_of_knowns_alone_are_given_once_whatever_the_order():
    chosen = ["negative", "all", "unknown"]
    found = evaluate(scores_of(), against=chosen, intervals=False)
    told = [(result.name, str(result.params), result.against) for result in found.results]
    assert len(set(told)) == len(told)
    assert found.results[0].against == "negative"
    again = evaluate(scores_of(), against=["negative", "negative"], intervals=False)
    assert again.results == evaluate(scores_of(), against="negative", intervals=False).results


def test_without_probabilities_their_metrics_are_left_out():
    found = evaluate(Scores(*random_dataset(100)), intervals=False)
    assert "brier_score" not in {result.name for result in found.results}
    assert found.results[0].low is None


def test_groups_are_evaluated_apart():
    scores = scores_of(groups=np.where(np.arange(400) % 2, "odd", "even"))
    assert {r.against for r in evaluate(scores, intervals=False).results} == {
        "all",
        "negative",
        "unknown",
        "odd",
        "even",
    }


def test_a_score_that_points_the_wrong_way_is_noticed_not_flipped():
    labels, predictions, score = random_dataset(400)
    found = evaluate(Scores(labels, predictions, -score), n_resamples=20)
    assert found.find("auroc").value < 0.5
    assert any("point the wrong way" in note for note in found.notes)
    ours = evaluate(Scores(labels, predictions, -score, meta={"score": {"name": "msp", "params": {}}}), n_resamples=20)
    assert any("The score points the correct way: train longer" in note for note in ours.notes)
    assert not any("negate" in note for note in ours.notes)
    assert not evaluate(Scores(labels, predictions, score), n_resamples=20).notes


def test_ties_and_missing_classes_are_noticed():
    labels, predictions, _ = random_dataset(400)
    constant = evaluate(Scores(labels, predictions, np.ones(400)), n_resamples=20)
    assert constant.tied_pairs == 1.0
    assert any("same unknown score" in note for note in constant.notes)
    rounded = evaluate(Scores(*random_dataset(400, decimals=0)), n_resamples=20)
    assert any("have equal scores" in note for note in rounded.notes)
    named = Scores(labels, predictions, random_dataset(400)[2], class_names="abcdefg")
    assert any("2 of 7 known classes have no test sample" in note for note in evaluate(named, n_resamples=20).notes)


def test_a_metric_that_is_not_there_is_named():
    found = evaluate(Scores(*random_dataset(100)), intervals=False)
    with pytest.raises(KeyError, match="open_auc@far"):
        found.find("open_auc", against="far")


def test_the_same_seed_gives_the_same_intervals():
    a, b = (evaluate(scores_of(), n_resamples=30, seed=5) for _ in range(2))
    assert a.results == b.results


def test_fewer_resamples_for_more_samples():
    assert [resamples_for(n) for n in (100, 20_000, 50_000, 10_000_000)] == [1000, 1000, 400, 200]


def test_a_label_above_every_prediction_may_mark_unknowns():
    labels, predictions = [0] * 10 + [1] * 10 + [255] * 10 + [-2] * 10, [0] * 10 + [1] * 10 + [0, 1] * 10
    score = np.linspace(0, 1, 40)
    (note,) = [one for one in evaluate(Scores(labels, predictions, score), n_resamples=20).notes if "255" in one]
    assert "Label 255 of 10 samples is above every prediction" in note
    assert "--unknown-label 255" in note
    for few_or_predicted in (labels[:29] + [-2] * 11, [*labels[:20], *[1] * 10, *[-2] * 10]):
        assert not any(
            "above every" in one for one in evaluate(Scores(few_or_predicted, predictions, score), n_resamples=20).notes
        )
