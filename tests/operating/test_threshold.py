import json

import numpy as np
import pytest

from openset import Scores
from openset.errors import OpenSetError, OpenSetWarning
from openset.operating import Origin, Threshold, at_acceptance, at_fpr, choose
from openset.posthoc import Outputs
from samples import random_dataset

FIELDS = {"schema", "value", "rule", "achieved", "n", "score", "fit", "classes", "model", "made"}


def told(**meta):
    """Scores of two classes that tell where they come from."""
    return Scores([0, 1, -2], [0, 1, 0], [0.1, 0.4, 0.9], class_names=meta.pop("classes", ["cat", "dog"]), meta=meta)


def test_a_frozen_threshold_does_what_it_did(tmp_path):
    scores = Scores(*random_dataset(300))
    frozen = at_acceptance(scores, 0.9)
    frozen.write(tmp_path / "threshold.json")
    again = Threshold.read(tmp_path / "threshold.json")
    assert again == frozen
    applied = again.apply(scores)
    assert applied["acceptance"] == frozen.achieved["acceptance"]
    assert applied["fpr"] == pytest.approx(
        (applied["fpr_negative"] * (scores.labels == -1).sum() + applied["fpr_unknown"] * (scores.labels == -2).sum())
        / (scores.labels < 0).sum()
    )


def test_it_tells_when_it_is_applied_to_the_samples_that_it_was_chosen_on(tmp_path):
    scores, others = Scores(*random_dataset(300)), Scores(*random_dataset(300, seed=1))
    at_acceptance(scores, 0.9).write(tmp_path / "threshold.json")
    again = Threshold.read(tmp_path / "threshold.json")
    assert "apply it to samples that had no part in choosing it" in again.apply(scores).notes[0]
    assert not again.apply(others).notes
    assert not Threshold(again.value, "by hand", {}, 0).apply(scores).notes


def test_the_file_tells_what_the_threshold_belongs_to(tmp_path):
    score = {"name": "knn", "params": {"k": 10}}
    frozen = at_acceptance(told(score=score, fit="f1", model="m1"), 1.0)
    frozen.write(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text())
    assert set(content) == FIELDS
    assert content["schema"] == 2
    assert (content["value"], content["rule"], content["n"]) == (0.4, "at_acceptance=1", 2)
    assert (content["score"], content["fit"], content["model"]) == (score, "f1", "m1")
    assert content["classes"] == ["cat", "dog"]
    assert set(content["made"]) == {"time", "versions", "samples", "data"}
    assert content["made"]["samples"] == {"known": 2, "open": 1}
    again = Threshold.read(tmp_path / "t.json")
    assert again == frozen
    assert again.made == frozen.made
    again.write(tmp_path / "u.json")
    assert (tmp_path / "u.json").read_text() == (tmp_path / "t.json").read_text()


def test_what_scores_do_not_tell_is_null(tmp_path):
    at_fpr(Scores([0, -2], [0, 0], [0.1, 0.2]), 0.5).write(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text())
    assert [content[name] for name in ("score", "fit", "classes", "model")] == [None] * 4


@pytest.mark.parametrize(
    ("mine", "theirs", "message"),
    [
        ({"score": "energy"}, {"score": "msp"}, "it was chosen for the score energy, and this is msp"),
        (
            {"score": {"name": "knn", "params": {"k": 10}}},
            {"score": {"name": "knn", "params": {"k": 20}}},
            r"the score knn\(k=10\), and this is knn\(k=20\)",
        ),
        (
            {"score": "knn", "fit": "a1"},
            {"score": "knn", "fit": "b2"},
            r"fitted on other training outputs \(a1, here b2",
        ),
        ({"model": "a1"}, {"model": "b2"}, r"another model, .*\(weights and preparation a1, here b2\)"),
        ({}, {"classes": ["cat", "owl"]}, r"other classes \('dog' is missing here, 'owl' is new\)"),
        ({}, {"classes": ["cat", "dog", "owl"]}, "it was chosen for 2 classes, and here there are 3"),
    ],
)
def test_a_threshold_is_refused_where_it_does_not_belong(mine, theirs, message):
    frozen, others = at_acceptance(told(**mine), 1.0), told(**theirs)
    for use in (frozen.check, frozen.reject, frozen.apply):
        with pytest.raises(OpenSetError, match=message):
            use(others)
    assert frozen.reject(others, force=True).tolist() == [False, False, True]
    assert frozen.apply(others, force=True)["acceptance"] == 1.0
    assert frozen.apply(told(**mine))["fpr"] == 0.0


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"score": "knn"}, {"score": {"name": "knn", "params": {"k": 10}}}),  # an older version told the name alone
        ({"score": "energy", "model": "m"}, {}),
        ({}, {"score": "energy", "fit": "f"}),
        ({"score": "knn", "fit": "f"}, {"score": "knn"}),
        ({"classes": ["cat", "dog"]}, {"classes": ["dog", "cat"]}),  # a CSV numbers its classes by the alphabet
        ({"classes": ["cat", "dog"]}, {"classes": None}),
        ({"score": 5, "model": ["x"]}, {"score": {"params": {}}, "model": "m"}),  # meta can hold anything
    ],
)
def test_what_is_not_told_cannot_differ(mine, theirs):
    at_acceptance(told(**mine), 1.0).check(told(**theirs))


def test_unnamed_classes_differ_by_their_number_alone():
    def scores(columns, names=None):
        return Scores([0, -2], [0, 0], [0.1, 0.9], np.full((2, columns), 0.1), names)

    frozen = at_acceptance(scores(3), 1.0)
    frozen.check(scores(3, ["cat", "dog", "owl"]))
    with pytest.raises(OpenSetError, match="chosen for 3 classes, and here there are 4"):
        frozen.check(scores(4))
    at_acceptance(Scores([0, -2], [0, 0], [0.1, 0.9]), 1.0).check(scores(4))  # a label may be missing: K is not told


def test_a_doubt_is_told_where_only_one_of_two_tells_its_score():
    energy, silent = Origin.of(told(score="energy")), Origin.of(told())
    assert energy.doubt(silent).endswith("for the score energy; these scores do not tell which they are.")
    assert "does not tell which score it was chosen for; these scores are energy" in silent.doubt(energy)
    assert energy.doubt(energy) == silent.doubt(silent) == ""


def test_arrays_of_scores_are_rejected_above_the_threshold():
    frozen = at_acceptance(told(score="energy"), 0.5)
    assert frozen.reject([0.0, 0.1, 0.2]).tolist() == [False, False, True]
    assert frozen.reject(np.array([0.1, 0.2], dtype=np.float32)).tolist() == [False, True]
    assert frozen.reject(np.empty(0)).tolist() == []
    with pytest.raises(OpenSetError, match="unknown_score is nan in row 1"):
        frozen.reject([0.0, np.nan])
    with pytest.raises(OpenSetError, match="must have one dimension"):
        frozen.reject([[0.0]])


def test_a_file_of_schema_1_is_read_with_a_warning(tmp_path):
    (tmp_path / "t.json").write_text('{"value": 0.5, "rule": "at_fpr=0.1", "achieved": {"fpr": 0.1}, "n": 9}')
    with pytest.warns(OpenSetWarning, match=r"t\.json: The threshold file is of schema 1"):
        old = Threshold.read(tmp_path / "t.json")
    assert old == Threshold(0.5, "at_fpr=0.1", {"fpr": 0.1}, 9)
    assert "schema 1" in old.notes[0]
    assert old.apply(told(score="energy"))["acceptance"] == 1.0
    old.write(tmp_path / "t.json")
    with pytest.warns(OpenSetWarning, match="schema 1"):  # what it lacks is not there for having been written again
        again = Threshold.read(tmp_path / "t.json")
    assert again == old
    assert again.notes == old.notes


def test_files_that_are_no_thresholds_are_refused(tmp_path):
    for text, message in (
        ("{}", "is not a threshold file"),
        ("{", "is not valid JSON"),
        ("[1]", "not a threshold file"),
    ):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(OpenSetError, match=message):
            Threshold.read(tmp_path / "t.json")
    (tmp_path / "t.json").write_text('{"schema": 2, "value": NaN, "rule": "x", "achieved": {}, "n": 1}')
    with pytest.raises(OpenSetError, match="not a finite number"):
        Threshold.read(tmp_path / "t.json")


@pytest.mark.parametrize(
    "content",
    [
        '{"value": 1, "rule": "x", "achieved": {"acceptance": NaN}, "n": 1}',
        '{"value": 1, "rule": "x", "achieved": {"acceptance": 1e999}, "n": 1}',
        '{"value": 1, "rule": "\\ud800", "achieved": {}, "n": 1}',
        '{"schema": 2, "value": 1, "rule": "x", "achieved": {}, "n": 1, "made": {"samples": NaN}}',
        '{"schema": 2, "value": 1, "rule": "x", "achieved": {}, "n": 1, "score": {"name": "a", "params": {"t": NaN}}}',
        '{"value": 1, "rule": "x", "achieved": {"\\ud800": 1}, "n": 1}',
    ],
)
def test_thresholds_that_could_not_be_written_again_are_refused(tmp_path, content):
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(OpenSetError, match=r"t\.json.* (finite|half a character)"):
        Threshold.read(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ('"schema": 4', "of schema 4, and this version of openset reads 1 to 3: install a newer one"),
        ('"schema": "2"', "of schema '2'"),
        ('"score": "energy"', "'score' must hold a name and params"),
        ('"score": {"params": {}}', "'score' must hold a name and params"),
        ('"classes": "cat"', "'classes' must be a list of names"),
        ('"classes": [1, 2]', "'classes' must be a list of names"),
        ('"fit": 7', "'fit' must be text or null"),
        ('"model": {}', "'model' must be text or null"),
        ('"made": 7', "not a threshold file"),
        ('"made": {"a": "\\ud800"}', "half a character"),
        ('"classes": ["\\ud800"]', "half a character"),
        ('"achieved": []', "not a threshold file"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(tmp_path, field, message):
    parts = {"schema": '"schema": 2', "value": '"value": 1', "rule": '"rule": "x"', "n": '"n": 1'}
    parts["achieved"] = '"achieved": {}'
    parts[field.split('"')[1]] = field
    (tmp_path / "t.json").write_text("{" + ", ".join(parts.values()) + "}")
    with pytest.raises(
        OpenSetError, match=r"t\.json(: there is half a character| is (not )?a threshold file)"
    ) as caught:
        Threshold.read(tmp_path / "t.json")
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ["parquet", "npz"])
def test_scores_from_files_keep_what_they_belong_to(tmp_path, kind):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(40, 3))
    labels = np.r_[np.arange(20) % 3, np.full(20, -2)]
    for score in ("energy", "msp"):
        made = Scores.from_logits(labels, logits, score=score, class_names=("a", "b", "c"), meta={"model": "m1"})
        made.write(tmp_path / f"{score}.{kind}")
    energy, msp = (Scores.read(tmp_path / f"{score}.{kind}") for score in ("energy", "msp"))
    frozen = choose(energy, "at_acceptance=0.9")
    assert frozen.origin.score["name"] == "energy"
    assert frozen.origin.model == "m1"
    frozen.check(energy)
    with pytest.raises(OpenSetError, match="chosen for the score energy.*, and this is msp"):
        frozen.check(msp)


def test_a_score_fitted_on_something_else_is_another():
    rng = np.random.default_rng(0)
    labels, logits, features = np.array([0, 1, 0, -2]), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    train = [Outputs(rng.normal(size=(10, 2)), rng.normal(size=(10, 3)), labels=np.array([0, 1] * 5)) for _ in range(2)]

    def scores(score, fit):
        return Scores.from_logits(labels, logits, score=score, features=features, fit=fit)

    frozen = at_acceptance(scores("knn(k=2)", train[0]), 1.0)
    frozen.check(scores("knn(k=2)", train[0]))
    with pytest.raises(OpenSetError, match="its score was fitted on other training outputs"):
        frozen.check(scores("knn(k=2)", train[1]))
    with pytest.raises(OpenSetError, match=r"for the score knn\(k=2\), and this is knn\(k=3\)"):
        frozen.check(scores("knn(k=3)", train[0]))
