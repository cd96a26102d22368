"""Decisions that numbers which are all correct could still lead astray."""

import dataclasses

import numpy as np
import pytest

from openset import Document, Scores, Threshold, compare, evaluate
from openset.estimator import RejectingClassifier
from openset.intervals import bootstrap
from openset.metrics import METRICS, titled
from openset.operating.origin import Origin
from openset.results.gate import parse_bar
from openset.results.metric_bars import check_metric_bars, parse_metric_bar
from openset.results.paired import Paired
from openset.results.verdict import verdict


def few(n_known=4, n_open=3):
    """Samples that are separated and classified without a mistake."""
    labels = [place % 2 for place in range(n_known)] + [-2] * n_open
    return Scores(labels, [max(one, 0) for one in labels], np.linspace(0, 1, n_known + n_open))


def test_seven_samples_pass_no_bar_on_the_end_of_an_interval():
    found = evaluate(few())
    bars = ["ccr_at_fpr.low>=0.6", "fpr_at_tpr.high<=0.5", "open_set_f_score.low>=0.6", "youden_index.low>=0.3"]
    results = check_metric_bars([parse_metric_bar(bar) for bar in bars], ["few"], [found])
    assert [one.value for one in results] == [1.0, 0.0, 1.0, 1.0]
    assert not any(one.reached for one in results)
    for one in found.results:
        if one.name in ("aurc", "augrc"):  # inside their range, and no resample differs either
            assert one.low < one.value < one.high


@pytest.mark.parametrize("n", [3, 30, 300])
def test_what_no_resample_shows_is_left_open_by_the_rule_of_three(n):
    interval = bootstrap(few(2 * n, n), "ccr_at_fpr", fpr=0.1, n_resamples=20)
    assert (interval.value, interval.high) == (1.0, 1.0)
    assert interval.low == pytest.approx(0.05 ** (1 / n))  # .05 = low ** n


def test_an_interval_holds_its_own_value():
    """With many classes of few samples, precision in resamples is too high: all of them lay above the value."""
    rng, n_classes, n_open = np.random.default_rng(0), 1000, 10_000
    labels = np.concatenate([np.repeat(np.arange(n_classes), 10), np.full(n_open, -2)])
    predictions = np.where(rng.random(20_000) < 0.9, np.maximum(labels, 0), rng.integers(0, n_classes, 20_000))
    predictions[labels < 0] = rng.integers(0, n_classes, n_open)
    scores = Scores(labels, predictions, rng.normal(size=20_000) + 4 * (labels < 0))
    interval = bootstrap(scores, "open_set_f_score", n_resamples=30)
    assert interval.low <= interval.value <= interval.high


def test_a_bar_on_an_interval_takes_what_is_certain_of_a_value_between_bounds():
    found = evaluate(few(40, 40))
    wide = dataclasses.replace(found.find("open_auc"), value=0.8, low=0.7, high=0.9, least=0.75, most=0.85)
    between = dataclasses.replace(found, results=(wide,))
    for bar, reached in (
        ("open_auc.low>=0.64", True), ("open_auc.low>=0.66", False),
        ("open_auc.high<=0.96", True), ("open_auc.high<=0.94", False),
    ):  # fmt: skip
        assert check_metric_bars([parse_bar(bar)], ["logs"], [between])[0].reached is reached, bar


def test_a_perfect_model_has_no_weaker_side():
    assert "weaker side" not in " ".join(verdict(["one"], [evaluate(few(60, 60))], 0, None))


def test_the_weaker_side_is_one_that_is_surely_weaker():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -2], 300)
    scores = Scores(labels, np.maximum(labels, 0), rng.normal(size=900) + (labels < 0))
    assert "Telling the unknown apart is its weaker side." in " ".join(verdict(["a"], [evaluate(scores)], 0, None))
    unsure = Scores(labels[::60], np.maximum(labels, 0)[::60], scores.unknown_score[::60])
    assert "weaker side" not in " ".join(verdict(["a"], [evaluate(unsure)], 0, None))


def test_page_terminal_and_python_agree_on_what_can_be_told_apart():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, -2], 40)
    good, poor = (Scores(labels, np.maximum(labels, 0), rng.normal(size=120) + far * (labels < 0)) for far in (3, 1))
    found = compare(good, poor, "ccr_at_fpr", fpr=0.1, n_resamples=20)
    assert found.difference.low > 0  # but twenty resamples cannot show a p-value below .095
    test = Paired("good", "poor", found, found.p_value)
    assert not found.clear
    assert not test.clear
    assert test.meaning == "no difference beyond chance"


def test_the_nearest_model_is_named_only_among_several():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, -2], 80)
    good, poor = (Scores(labels, np.maximum(labels, 0), rng.normal(size=240) + far * (labels < 0)) for far in (3, 1))
    sentences = Document.of([evaluate(good), evaluate(poor)], names=["good", "poor"], models=[good, poor]).verdict
    assert "better than poor beyond chance" in " ".join(sentences)
    balanced = compare(good, poor, "open_auc", balanced=True, n_resamples=50)
    own = Paired("good", "poor", balanced, balanced.p_value)
    assert "same samples" not in " ".join(verdict(["good", "poor"], [evaluate(good), evaluate(poor)], 0, [own]))


@pytest.mark.parametrize(("tpr", "title"), [(0.95, "95%"), (0.995, "99.5%"), (0.975, "97.5%")])
def test_a_title_has_all_digits_of_a_percentage(tpr, title):
    assert titled(METRICS["fpr_at_tpr"], {"tpr": tpr, "positive": "known"}).startswith(f"FPR at {title} TPR")
    assert "at 0.1% unknowns" in titled(METRICS["known_precision"], {"unknown_share": 0.001})


def test_a_group_that_passes_is_told_although_others_are_rejected():
    labels = [0] * 100 + [-2] * 100
    score = [0.1] * 100 + [0.2] * 50 + [0.9] * 50
    scores = Scores(labels, [0] * 200, score, groups=[""] * 100 + ["near"] * 50 + ["far"] * 50)
    notes = Threshold(0.5, "by hand", {}, 0).apply(scores).notes
    assert len(notes) == 1
    assert "'near'" in notes[0]


def test_a_threshold_of_another_model_is_doubted_and_forced_loudly():
    ours, silent = Origin(model="aa"), Origin()
    assert ours.notes_for(silent)[0].endswith("these scores do not tell theirs.")
    assert ours.notes_for(ours) == []
    assert ours.notes_for(Origin(model="bb"))[0].startswith("Applied by force: it was chosen for another model")


def test_thresholds_per_class_reject_in_a_classifier():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    x = rng.normal(size=(300, 2)) + 4 * np.eye(3)[y][:, :2]
    model = RejectingClassifier(LogisticRegression(), rule="conformal(alpha=0.1, per_class=true)", validation=0.3)
    model.fit(x, y)
    scores = model.scores(x, y)
    assert model.threshold_.per_class is not None
    np.testing.assert_array_equal(model.predict(x) == -2, model.threshold_.reject(scores))


def test_unknown_in_capitals_is_unknown_in_lists_of_training_images_too():
    from openset.data.labels import class_ids

    ids, names = class_ids(["cat", "Unknown", "dog", " negative"], None, "train.csv", open_labels=True)
    assert ids.tolist() == [0, -2, 1, -1]
    assert names == ("cat", "dog")
