"""Parameters and scores that are chosen on validation data."""

import numpy as np
import pytest

from openset.errors import OpenSetError
from openset.metrics import auroc, open_auc
from openset.posthoc import SCORES, Outputs, score, tune
from openset.posthoc.tuning import grid, without_classes
from score_samples import digit_outputs, make_outputs


def test_the_best_of_what_was_tried_by_hand(digits):
    training, tested = digits
    found = tune(tested, ["knn", "msp(temperature=1)", "max_logit"], training)
    assert found.on == "714 open-set samples (714 unknown) of the file"
    values = {str(trial.spec): trial.value for trial in found.trials}
    assert values["max_logit"] == open_auc(tested.labels, tested.predictions(), score(tested, "max_logit"))
    assert values["knn(k=5)"] == open_auc(tested.labels, tested.predictions(), score(tested, "knn(k=5)", training))
    assert str(found.best) == max(values, key=values.get)
    assert len(values) == len(grid("knn")) + len(grid("msp")) + 1
    assert "OpenAUC" not in str(found)
    assert str(found).startswith(f"{found.best}: open_auc 0.")
    printed = found.as_json()
    assert printed["best"] == found.best.as_json()
    assert (printed["metric"], printed["on"], len(printed["tried"])) == ("open_auc", found.on, len(values))


def test_every_score_is_tried_and_what_fails_says_why(digits):
    training, tested = digits
    lonely = training.rows(np.flatnonzero((training.labels > 0) | (np.arange(len(training.labels)) == 0)))
    lonely = Outputs(lonely.logits, lonely.features, labels=lonely.labels, head=training.head)
    found = tune(tested, "all", lonely, metric="auroc")
    assert {trial.spec.name for trial in found.trials} == set(SCORES)
    failed = {str(trial.spec): trial.reason for trial in found.trials if trial.value is None}
    assert {name.partition("(")[0] for name in failed} == {"ghost", "openmax", "vim"}
    assert failed["vim(dim=64)"] == "vim: 'dim' must be below the number of features, 64, got 64."
    assert "vim" not in failed
    assert failed["ghost"] == "ghost: class 0 has 1 correctly classified training samples, needs 2."
    assert all("reason" in one for one in found.as_json()["tried"] if one["value"] is None)


def test_held_out_classes_stand_for_unknowns(digits):
    training, tested = digits
    validation = tested.rows(tested.labels >= 0)
    found = tune(validation, ["max_logit", "knn(k=5)"], training, metric="auroc", folds=3, seed=1)
    assert found.on == "known classes of the file, held out in 3 parts (the network has seen them)"
    assert [len(trial.per_fold) for trial in found.trials] == [3, 3]
    # By hand, for the first part.
    held = np.array_split(np.random.default_rng(1).permutation(6), 3)[0]
    kept = [label for label in range(6) if label not in held]
    labels = np.where(np.isin(validation.labels, held), -2, validation.labels)
    assert found.trials[0].per_fold[0] == auroc(labels, -validation.logits[:, kept].max(axis=1))
    bank = training.features[~np.isin(training.labels, held)]
    nearest = score(validation, "knn(k=5)", Outputs(features=bank, labels=np.zeros(len(bank), int)))
    assert found.trials[1].per_fold[0] == auroc(labels, nearest)


def test_without_classes_their_logits_and_weights_are_gone():
    given = make_outputs(0)
    less = without_classes(given, np.array([1]))
    np.testing.assert_array_equal(less.logits, given.logits[:, [0, 2, 3]])
    np.testing.assert_array_equal(less.head[0], given.head[0][[0, 2, 3]])
    assert less.labels[:4].tolist() == [0, -2, 1, 2]
    assert len(less.known().labels) == 90
    more = Outputs(np.c_[given.logits, given.logits[:, 0]], given.features, labels=given.labels, background=True)
    np.testing.assert_array_equal(without_classes(more, np.array([1])).logits, more.logits[:, [0, 2, 3, 4]])


def test_the_same_seed_the_same_choice(digits):
    training, tested = digits
    validation = tested.rows(tested.labels >= 0)
    first, second = (tune(validation, "knn,energy", training, seed=3) for _ in range(2))
    assert first == second


def test_what_cannot_be_tuned():
    given = make_outputs(0)
    with pytest.raises(OpenSetError, match="has no open-set samples .* use source='held_out'"):
        tune(given, "msp", source="open_set")
    with pytest.raises(OpenSetError, match="needs labels"):
        tune(Outputs(logits=given.logits), "msp")
    with pytest.raises(OpenSetError, match="4 known classes cannot be divided into 9 parts"):
        tune(given, "msp", folds=9)
    with pytest.raises(OpenSetError, match="'metric' cannot be 'auc'. Did you mean 'auroc'?"):
        tune(given, "msp", metric="auc")
    with pytest.raises(OpenSetError, match="no scores to choose from"):
        tune(given, [])
    with pytest.raises(OpenSetError, match="None of the scores could be computed; the first failed so: .*--fit FILE"):
        tune(given, ["knn(k=1)"], folds=2)


def test_tuning_helps_on_digits_it_has_not_seen():
    """Chosen with digits 0 to 5 known, some held out; applied to unknown digits: no worse than the defaults."""
    training, tested = digit_outputs()
    chosen = tune(tested.rows(tested.labels >= 0), "knn", training, metric="auroc").best
    assert auroc(tested.labels, score(tested, chosen, training)) > auroc(tested.labels, score(tested, "knn", training))
