"""What a frozen threshold decides on samples without labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset import Scores
from openset._io.score_columns import ScoreColumns
from openset._io.score_stream import Batch
from openset.errors import OpenSetError
from openset.operating import Origin, Threshold, choose
from openset.operating.decisions import Decider, decide, score_for
from openset.posthoc import Outputs, fit, score
from samples import random_dataset

ENERGY = {"name": "energy", "params": {"temperature": 1.0}}


def frozen(value=0.5, **origin):
    return Threshold(value, "by hand", {}, 0, Origin(**origin))


def batch(classes=None, **columns):
    n = len(next(iter(columns.values())))
    return Batch(ScoreColumns(**columns, class_names=classes), classes, np.arange(n))


def test_by_hand():
    found = decide(frozen(), [1, 0, 1], [0.25, 0.75, 0.5], class_names=["cat", "dog"])
    assert found.labels == ["dog", "unknown", "dog"]
    assert found.margin.tolist() == [0.25, -0.25, 0.0]
    assert found.counts().tolist() == [0, 2, 1]


def test_a_value_for_each_class_by_hand():
    threshold = Threshold(0.5, "by hand", {}, 0, Origin(classes=("cat", "dog")), per_class=(0.2, 0.7))
    assert decide(threshold, [0, 1, 0], [0.6, 0.6, 0.1], class_names=["cat", "dog"]).labels == ["unknown", "dog", "cat"]
    other_order = decide(threshold, [1, 0, 1], [0.6, 0.6, 0.1], class_names=["dog", "cat"])
    assert other_order.labels == ["unknown", "dog", "cat"]
    assert other_order.margin == pytest.approx([-0.4, 0.1, 0.1])
    assert decide(threshold, [0, 0], [0.6, 0.8], class_names=["dog"]).labels == ["dog", "unknown"]
    with pytest.raises(OpenSetError, match="has no value for the class 'owl'"):
        decide(threshold, [0], [0.6], class_names=["owl"])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6, width=32)), min_size=1),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([np.float32, np.float64]),
)
def test_decisions_margins_and_rejections_agree(rows, value, precision):
    predictions, score_ = np.array([one for one, _ in rows]), np.array([one for _, one in rows], dtype=precision)
    threshold = frozen(value)
    found = decide(threshold, predictions, score_)
    assert np.array_equal(found.rejected, threshold.reject(score_))
    assert np.array_equal(found.margin < 0, found.rejected)
    assert [label == "unknown" for label in found.labels] == found.rejected.tolist()
    assert found.counts().sum() == len(rows)


def test_the_margin_stays_a_number_at_the_ends():
    largest = float(np.finfo(np.float64).max)
    found = decide(frozen(largest), [0, 0], [-1e308, 1e308])
    assert np.isfinite(found.margin).all()
    assert not found.rejected.any()


def test_logits_are_scored_by_the_score_of_the_threshold():
    logits = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    threshold = frozen(-1.5, score=ENERGY)
    found, origin = Decider(threshold).decide(batch(logits=logits), "f.npz")
    assert np.array_equal(found.unknown_score, score(Outputs(logits=logits), "energy"))
    assert np.array_equal(found.predictions, logits.argmax(axis=1))
    assert origin.score == ENERGY
    assert origin.classes == ("0", "1", "2")


def test_the_background_class_is_no_class():
    logits = np.array([[1.0, 0.0, 9.0]])
    found, origin = Decider(frozen(score=ENERGY, classes=("cat", "dog")), background=True).decide(
        batch(logits=logits), "f"
    )
    assert found.labels == ["cat"]
    assert origin.classes == ("0", "1")
    with pytest.raises(OpenSetError, match="chosen for 2 classes, and here there are 3"):
        Decider(frozen(score=ENERGY, classes=("cat", "dog"))).decide(batch(logits=logits), "f")


def test_names_of_more_classes_than_logits_are_refused():
    columns = ScoreColumns(logits=np.array([[1.0, 0.0]]), class_names=("cat", "dog", "owl"))
    decider = Decider(frozen(score=ENERGY, classes=("cat", "dog", "owl")))
    with pytest.raises(OpenSetError, match="logits of 2 known classes and 3 class names: they must agree"):
        decider.decide(Batch(columns, columns.class_names, np.arange(1)), "f")


def test_a_fit_must_be_the_one_the_threshold_was_chosen_with():
    rng = np.random.default_rng(0)
    train = Outputs(rng.normal(size=(30, 3)), rng.normal(size=(30, 4)), labels=np.arange(30) % 3, name="train.npz")
    knn = fit("knn(k=3)", train)
    threshold = frozen(1.0, score=knn.spec.as_json(), fit=knn.fingerprint)
    rows = batch(logits=rng.normal(size=(5, 3)), features=rng.normal(size=(5, 4)))
    by_outputs, _ = Decider(threshold, fit=train).decide(rows, "f")
    by_file, origin = Decider(threshold, fit=knn).decide(rows, "f")
    assert np.array_equal(by_outputs.unknown_score, by_file.unknown_score)
    assert origin.fit == knn.fingerprint
    other = Outputs(train.logits, train.features + 1, labels=train.labels)
    with pytest.raises(OpenSetError, match="fitted on other training outputs"):
        Decider(threshold, fit=other).decide(rows, "f")
    assert len(Decider(threshold, fit=other, force=True).decide(rows, "f")[0]) == 5
    with pytest.raises(OpenSetError, match="learns from training outputs"):
        Decider(threshold).decide(rows, "f")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"predictions": np.array([0, 5]), "unknown_score": np.array([0.1, 0.2])},
            "prediction is 5 in row 1, and there",
        ),
        ({"predictions": np.array([0, -1]), "unknown_score": np.array([0.1, 0.2])}, "prediction is -1 in row 1"),
        ({"predictions": np.array([0]), "unknown_score": np.array([0.1, 0.2])}, "1 predictions and 2 unknown scores"),
        ({"predictions": np.array([0, 1]), "unknown_score": np.array([0.1, np.nan])}, "row 1"),
        ({"logits": np.array([[0.0, 1.0], [np.nan, 0.0]])}, "'logits' has a NaN or infinite value in row 1"),
    ],
)
def test_rows_that_are_wrong_are_named(columns, message):
    decider = Decider(frozen(score=ENERGY, classes=("cat", "dog")))
    with pytest.raises(OpenSetError, match=message):
        decider.decide(batch(**columns), "f")


def test_a_name_that_the_threshold_does_not_know_is_refused():
    threshold = frozen(classes=("cat", "dog"))
    columns = ScoreColumns(predictions=np.array([0, 1]), unknown_score=np.array([0.1, 0.2]), class_names=("dog", "owl"))
    rows = Batch(columns, None, np.arange(2))  # the names are those of the rows
    with pytest.raises(OpenSetError, match="prediction is 'owl' in row 1, which is none of the 2 classes"):
        Decider(threshold).decide(rows, "f")
    assert Decider(threshold, force=True).decide(rows, "f")[0].labels == ["dog", "owl"]


def test_numbers_get_the_names_of_the_threshold():
    rows = batch(predictions=np.array([1, 0]), unknown_score=np.array([0.1, 0.2]))
    assert Decider(frozen(classes=("cat", "dog"))).decide(rows, "f")[0].labels == ["dog", "cat"]
    assert Decider(frozen()).decide(rows, "f")[0].labels == ["1", "0"]


@pytest.mark.parametrize(
    ("parts", "needed"),
    [
        ({"predictions", "unknown_score", "logits", "ids"}, {"predictions", "unknown_score", "ids"}),
        ({"logits", "features", "probabilities"}, {"logits"}),
        ({"probabilities", "ids"}, {"probabilities", "ids"}),
    ],
)
def test_only_what_is_needed_is_read(parts, needed):
    threshold = frozen(score={"name": "msp", "params": {}})
    assert Decider(threshold).needed(parts, "f") == needed
    assert "features" in Decider(frozen(score={"name": "knn", "params": {"k": 3}})).needed({"logits", "features"}, "f")


@pytest.mark.parametrize(
    ("threshold", "parts", "message"),
    [
        (frozen(), {"logits"}, "does not tell which score it was chosen for"),
        (frozen(score=ENERGY), {"probabilities"}, "energy is made from logits, and there are none"),
        (frozen(score=ENERGY), {"unknown_score"}, "there is no column 'prediction'"),
        (frozen(score=ENERGY), {"ids"}, "neither scores .prediction and unknown_score. nor logits"),
        (frozen(score={"name": "mine", "params": {}}), {"logits"}, "cannot be made from logits here"),
    ],
)
def test_what_a_file_lacks_is_said(threshold, parts, message):
    with pytest.raises(OpenSetError, match=message):
        Decider(threshold).needed(parts, "f.npz")


def test_the_score_that_a_threshold_means():
    """One order for every command: what the user names, the threshold, the fit that the user gives, the model."""
    told, silent, own = frozen(score=ENERGY), frozen(), {"name": "entropy", "params": {}}
    learned = fit("knn(k=1)", Outputs(np.eye(2), np.eye(2), labels=np.arange(2)))
    assert str(score_for(told, "msp", learned, own)) == "msp"
    assert str(score_for(told, None, learned, own)) == "energy"
    assert str(score_for(silent, None, learned, own)) == "knn(k=1)"
    assert str(score_for(silent, None, None, own)) == "entropy"


# ---- thresholds with a value per class -------------------------------------------------------------------------------


def test_class_conditional_conformal_by_hand(tmp_path):
    # Class 0: five knowns are predicted as it, class 1: two; ceil(6 * 0.8) = 5th, ceil(3 * 0.8) = 3rd of two: none.
    scores = Scores([0, 0, 0, 0, 1, 1, 1, -2], [0, 0, 0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.6, 0.1, 0.5, 0.9])
    found = choose(scores, "conformal=0.2, per_class=true")
    largest = float(np.finfo(np.float64).max)
    assert found.per_class == (0.6, largest)
    assert found.rule == "conformal=0.2, per_class=true"
    assert found.value == choose(scores, "conformal=0.2").value
    assert found.achieved == {"acceptance": 1.0, "ccr": 6 / 7, "fpr": 1.0}
    assert any("1 of 2 classes (1 first) had too few knowns" in note for note in found.notes)
    found.write(tmp_path / "t.json")
    again = Threshold.read(tmp_path / "t.json")
    assert again == found
    assert again.as_json()["schema"] == 3
    assert np.array_equal(again.reject(scores), found.reject(scores))
    assert again.apply(scores)["fpr"] == 1.0


def test_a_value_per_class_needs_predictions():
    scores = Scores(*random_dataset(200))
    found = choose(scores, "conformal(alpha=0.1, per_class=true)")
    by_hand = scores.unknown_score > np.array(found.per_class)[scores.predictions]
    assert np.array_equal(found.reject(scores), by_hand)
    assert np.array_equal(found.reject(scores.unknown_score, predictions=scores.predictions), by_hand)
    with pytest.raises(OpenSetError, match="give the predictions with the scores"):
        found.reject(scores.unknown_score)
    with pytest.raises(OpenSetError, match="has values for 5 classes, 0 to 4, and class 7 is predicted"):
        found.reject([0.1], predictions=[7])
    with pytest.raises(OpenSetError, match="needs true or false for 'per_class'"):
        choose(scores, "conformal(alpha=0.1, per_class=yes)")


@pytest.mark.parametrize(
    "change", [{"per_class": [0.1]}, {"per_class": [0.1, "x"]}, {"classes": None}, {"per_class": 3}]
)
def test_a_damaged_file_with_values_per_class_is_refused(change):
    found = choose(Scores([0, 1, 0, 1], [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]), "conformal=0.4, per_class=true")
    with pytest.raises(OpenSetError, match="t.json is not a threshold file"):
        Threshold.from_json({**found.as_json(), **change}, "t.json")


def test_the_promise_holds_within_each_class():
    """Classes of very different scores: one threshold for all rejects one class alone, own thresholds reject alike."""
    rng = np.random.default_rng(0)
    alpha, runs, rejected, pooled = 0.1, 300, np.zeros(2), np.zeros(2)
    for _ in range(runs):
        labels = np.repeat([0, 1], 40)
        score_ = rng.normal(size=80) * np.where(labels == 0, 1, 3)
        calibration = Scores(labels, labels, score_)
        new = rng.normal(size=(2, 200)) * np.array([[1], [3]])
        own, one = choose(calibration, f"conformal={alpha}, per_class=true"), choose(calibration, f"conformal={alpha}")
        for place in (0, 1):
            rejected[place] += own.reject(new[place], predictions=np.full(200, place)).mean() / runs
            pooled[place] += one.reject(new[place]).mean() / runs
    assert (rejected <= alpha + 0.01).all()
    assert (rejected > alpha - 0.04).all()
    assert pooled[0] < 0.02
    assert pooled[1] > 0.15
