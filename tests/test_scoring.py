"""Several scores of the same outputs, and their parameters chosen on validation data."""

from dataclasses import replace

import numpy as np
import pytest

from openset import Scores, evaluate
from openset._io.npz import write_npz
from openset.errors import OpenSetError
from openset.posthoc import SCORES, parse_score
from openset.reading import read_outputs
from openset.results.document import Document
from openset.results.score_tables import scores_table
from openset.scoring import asks_for_several, score_file, tune_scores


@pytest.fixture
def outputs(tmp_path):
    """Files of one network: training, validation and test outputs with their head."""
    rng = np.random.default_rng(0)
    weight = 2 * np.eye(4, 6) + 0.1

    def write(name, n, unknown, *, leave=()):
        labels = np.where(rng.random(n) < unknown, -2, rng.integers(0, 4, n))
        features = np.maximum(np.where((labels >= 0)[:, None], 2 * weight[labels], 0) + rng.normal(size=(n, 6)), 0)
        arrays = {"labels": labels, "features": features, "weight": weight, "bias": np.ones(4)}
        arrays["logits"] = features @ weight.T + 1
        write_npz(tmp_path / name, {key: array for key, array in arrays.items() if key not in leave})
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("score", "several"),
    [(None, False), ("msp", False), ("all", True), ("msp,energy", True), ("gen(gamma=.1, top=3)", False)],
)
def test_a_list_or_all_are_several(score, several):
    assert asks_for_several(score) == several


def test_each_score_is_what_it_is_alone(outputs):
    """Computed together, with what they share, or one by one from the file: the same bits."""
    train, test = outputs("train.npz", 200, 0), outputs("test.npz", 80, 0.4)
    found = score_file(test, "all", read_outputs(train))
    assert set(found.models) == set(SCORES)
    assert found.remarks == []
    for name, scores in found.models.items():
        alone = Scores.read(test, score=name, fit=train if SCORES[name].fitted else None)
        assert np.array_equal(scores.unknown_score, alone.unknown_score), name
        assert np.array_equal(scores.predictions, alone.predictions)
        assert (scores.n_classes, scores.meta["score"]) == (4, alone.meta["score"])
        assert scores.meta.get("fit") == alone.meta.get("fit")


def test_names_of_more_classes_than_logits_are_refused(outputs, tmp_path):
    test = outputs("test.npz", 8, 0.4)
    with np.load(test) as arrays:
        write_npz(tmp_path / "named.npz", {**arrays, "class_names": np.array(list("abcde"))})
    with pytest.raises(OpenSetError, match="named.npz: there are logits of 4 known classes and 5 class names"):
        score_file(tmp_path / "named.npz", "msp,energy")


def test_what_cannot_be_computed_is_left_out_of_all_and_refused_by_name(outputs):
    test = outputs("test.npz", 80, 0.4, leave=("weight", "bias"))
    found = score_file(test, "all")
    assert "ash" not in found.models
    assert "knn, mahalanobis" in " ".join(found.remarks)
    assert any("left out (needs training outputs (--fit))" in one for one in found.remarks)
    with pytest.raises(
        OpenSetError, match=r"The score 'ash' needs the last layer, .* Scores that work with it: energy"
    ):
        score_file(test, "msp,ash")
    train = read_outputs(outputs("train.npz", 200, 0))
    few = replace(train, labels=np.where(train.labels == 2, 1, train.labels))  # nothing is known of class 2
    found = score_file(test, "all", few)
    assert any(one.startswith("costarr is left out (costarr: class 2 has 0 correctly") for one in found.remarks)
    assert "energy" in found.models
    with pytest.raises(OpenSetError, match="costarr: class 2 has 0 correctly classified"):
        score_file(test, "all,costarr", few)
    write_npz(test, {"labels": np.array([0, -2]), "features": np.ones((2, 3))})
    with pytest.raises(
        OpenSetError, match=r"test\.npz: none of the scores can be computed: .*left out \(needs logits\)"
    ):
        score_file(test, "all")
    write_npz(test, {"logits": np.ones((2, 3))})
    with pytest.raises(OpenSetError, match="there is no column 'label'"):
        score_file(test, "all")


def test_parameters_are_chosen_on_validation_data_alone(outputs):
    train, validation, test = outputs("train.npz", 200, 0), outputs("val.npz", 150, 0.3), outputs("test.npz", 80, 0.4)
    tuned = tune_scores(validation, "knn,msp(temperature=2)", read_outputs(train))
    tried = {trial.spec.params["k"]: trial.value for trial in tuned.tuning.trials if trial.spec.name == "knn"}
    values = {}
    for k in tried:
        try:
            scores = Scores.read(validation, score=f"knn(k={k})", fit=train)
        except OpenSetError:
            continue
        values[k] = evaluate(scores, intervals=False).find("open_auc").value
    assert {k: value for k, value in tried.items() if value is not None} == pytest.approx(values)
    best = max(values, key=values.get)
    assert [str(spec) for spec in tuned.specs] == [str(parse_score(f"knn(k={best})")), "msp(temperature=2.0)"]
    assert f"open-set samples ({(read_outputs(validation).labels == -2).sum()} unknown)" in tuned.sentence
    tuned.check_other(test)
    found = score_file(test, tuned.specs, read_outputs(train), metadata=tuned.metadata)
    assert all(one.meta["tuned"]["on"] == tuned.tuning.on for one in found.models.values())


def test_without_open_set_samples_known_classes_are_held_out(outputs):
    tuned = tune_scores(outputs("val.npz", 150, 0), "msp")
    assert "known classes of" in tuned.sentence
    assert "held out in 4 parts" in tuned.sentence


def test_what_was_tuned_on_is_never_reported(outputs, tmp_path):
    validation = outputs("val.npz", 60, 0.3)
    tuned = tune_scores(validation, "msp")
    (tmp_path / "copy.npz").write_bytes(validation.read_bytes())
    for file in (validation, tmp_path / "copy.npz"):
        with pytest.raises(OpenSetError, match="holds the samples that --tune chooses the parameters on"):
            tuned.check_other(file)


def test_the_table_has_the_best_in_bold_and_a_paired_test(outputs):
    models = score_file(outputs("test.npz", 300, 0.4), "msp,energy,max_logit").models
    evaluations = [evaluate(one, headline=True, n_resamples=20) for one in models.values()]
    assert {one.name for one in evaluations[0].results} == {
        "open_auc", "auroc", "fpr_at_tpr", "ccr_at_fpr", "closed_set_accuracy", "open_set_f_score"
    }  # fmt: skip
    for reference in (None, "msp"):
        document = Document.of(
            evaluations, names=list(models), files=["f"] * 3, models=list(models.values()), reference=reference
        )
        table = scores_table(document)
        places = document.ranking
        expected = reference or document.names[places[0]]
        assert [row[0].text for row in table.rows] == [document.names[place] for place in places]
        assert [row[0].text for row in table.rows if row[0].best] == [expected]
        assert table.head[-2:] == [f"OpenAUC minus {expected}'s", "p"]
        open_auc = [one.find("open_auc").value for one in evaluations]
        for row in table.rows:
            assert row[1].value == open_auc[document.names.index(row[0].text)]
            assert row[1].best == (round(row[1].value, 3) == round(max(open_auc), 3))
            if row[0].text != expected:
                mine = open_auc[document.names.index(expected)]
                assert row[-2].value == pytest.approx(row[1].value - mine)
        assert "Closed-set accuracy is the same for all" in table.note
        assert "Closed-set accuracy" not in table.head
    with pytest.raises(
        OpenSetError, match="There is no model named 'mps' to test the others against. Did you mean 'msp'"
    ):
        Document.of(evaluations, names=list(models), models=list(models.values()), reference="mps")


def test_remarks_are_kept_in_the_document(outputs, tmp_path):
    models = score_file(outputs("test.npz", 100, 0.4), "msp,energy").models
    evaluations = [evaluate(one, headline=True, intervals=False) for one in models.values()]
    made = Document.of(evaluations, names=list(models), remarks=["Seen by nobody."])
    made.save(tmp_path / "d.json")
    assert Document.load(tmp_path / "d.json").remarks == ("Seen by nobody.",)
