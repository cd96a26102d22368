"""RejectingClassifier: the contract of scikit-learn, what it hands to scores, and when it says unknown."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from openset import OpenSetError, OpenSetKFold, RejectingClassifier, calibrate, choose, evaluate, open_auc_scorer
from openset.posthoc import SCORES


@pytest.fixture(scope="module")
def digits():
    samples, y = load_digits(return_X_y=True)
    part = np.random.default_rng(0).permutation(len(y)) % 3
    known = y < 6
    return {
        "train": (samples[(part == 0) & known], y[(part == 0) & known]),
        "val": (samples[(part == 1) & known], y[(part == 1) & known]),
        "test": (samples[part == 2], y[part == 2]),
    }


@parametrize_with_checks(
    [
        RejectingClassifier(LogisticRegression()),
        RejectingClassifier(KNeighborsClassifier(3), score="knn(k=1)"),
        RejectingClassifier(make_pipeline(StandardScaler(), LinearSVC()), score="energy"),
    ]
)
def test_what_scikit_learn_asks_of_an_estimator(estimator, check):
    check(estimator)


def test_rejected_iff_the_score_is_above_the_threshold_that_the_rule_chooses(digits):
    model = RejectingClassifier(make_pipeline(StandardScaler(), LogisticRegression()), score="msp")
    model.fit(*digits["train"])
    samples, labels = digits["test"]
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(*digits["train"])
    assert np.array_equal(model.predict(samples), plain.predict(samples))  # nothing is rejected before calibrate

    threshold = model.calibrate(*digits["val"])
    by_hand = np.sort(1 - plain.predict_proba(digits["val"][0]).max(axis=1))
    place = int(np.ceil(0.95 * len(by_hand))) - 1
    assert threshold.rule == "at_acceptance=0.95"
    assert threshold.value == pytest.approx(by_hand[place], abs=1e-12)
    rejected = 1 - plain.predict_proba(samples).max(axis=1) > by_hand[place] + 1e-12
    assert np.array_equal(model.predict(samples), np.where(rejected, -2, plain.predict(samples)))
    assert rejected[labels >= 6].mean() > 2 * rejected[labels < 6].mean()


@pytest.mark.parametrize("score", list(SCORES))
def test_every_score_works_on_a_linear_classifier_and_is_refused_with_a_reason_otherwise(score, digits):
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    found = RejectingClassifier(linear, score=score).fit(*digits["train"]).unknown_score(digits["test"][0])
    assert found.shape == (len(digits["test"][0]),)
    forest = RejectingClassifier(RandomForestClassifier(10, random_state=0), score=score)
    if "head" in SCORES[score].needs:
        with pytest.raises(OpenSetError, match=f"'{score}' needs the last layer, and RandomForestClassifier lacks it"):
            forest.fit(*digits["train"]).unknown_score(digits["test"][0])


def test_a_score_that_only_sees_the_sum_of_probabilities_is_refused(digits):
    forest = RejectingClassifier(RandomForestClassifier(10, random_state=0), score="energy").fit(*digits["train"])
    with pytest.raises(OpenSetError, match="'energy' is the same for every sample: RandomForestClassifier gives prob"):
        forest.calibrate(*digits["val"])
    assert forest.set_params(score="msp").fit(*digits["train"]).calibrate(*digits["val"]).n == len(digits["val"][1])


def test_features_are_what_enters_the_classifier(digits):
    train, samples = digits["train"], digits["test"][0]
    inside = RejectingClassifier(make_pipeline(StandardScaler(), KNeighborsClassifier()), score="knn(k=1)").fit(*train)
    around = make_pipeline(StandardScaler(), RejectingClassifier(KNeighborsClassifier(), score="knn(k=1)")).fit(*train)
    scaler = StandardScaler().fit(train[0])
    known, new = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in map(scaler.transform, (train[0], samples))
    )
    nearest = np.sqrt(np.maximum(2 - 2 * new @ known.T, 0)).min(axis=1)
    np.testing.assert_allclose(inside.unknown_score(samples), nearest, atol=1e-3)
    np.testing.assert_allclose(around[-1].unknown_score(scaler.transform(samples)), nearest, atol=1e-3)


def test_two_classes_have_two_logits_and_a_head():
    samples, y = load_iris(return_X_y=True)
    model = RejectingClassifier(LogisticRegression(), score="msp").fit(samples[y < 2], y[y < 2])
    np.testing.assert_allclose(model.unknown_score(samples), 1 - model.predict_proba(samples).max(axis=1), atol=1e-9)
    both = RejectingClassifier(LogisticRegression(), score="max_logit").fit(samples[y < 2], y[y < 2])
    np.testing.assert_allclose(
        both.unknown_score(samples), -np.abs(both.decision_function(samples)) / 2
    )  # no class is favoured
    assert (
        RejectingClassifier(LogisticRegression(), score="vim(dim=2)")
        .fit(samples[y < 2], y[y < 2])
        .unknown_score(samples)
        .shape
    )


def test_fit_keeps_a_part_to_choose_the_threshold_on(digits):
    model = RejectingClassifier(LogisticRegression(max_iter=3000), validation=0.25).fit(*digits["train"])
    n = len(digits["train"][1])
    assert model.threshold_.n == int(np.ceil(0.25 * n))
    seen = RejectingClassifier(LogisticRegression(max_iter=3000)).fit(*digits["train"])
    assert not np.array_equal(model.estimator_.coef_, seen.estimator_.coef_)  # it was trained on fewer
    again = clone(model).fit(*digits["train"])
    assert again.threshold_.value == model.threshold_.value


def test_unknowns_among_the_training_samples_choose_the_threshold_and_are_not_learned(digits):
    train, y = digits["train"]
    strange = digits["test"][0][digits["test"][1] >= 6][:50]
    samples, labels = np.concatenate([train, strange]), np.concatenate([y, np.full(50, -1)])
    model = RejectingClassifier(
        KNeighborsClassifier(), score="knn(k=1)", rule="at_fpr=0.1", validation=0.3, unknown_label=-1
    ).fit(samples, labels)
    assert model.classes_.tolist() == list(range(6))
    assert model.threshold_.achieved["fpr"] == 0.1
    assert (model.predict(strange) == -1).sum() == 45
    with pytest.raises(OpenSetError, match="50 samples labelled -1, which the classifier must not learn"):
        model.set_params(validation=None).fit(samples, labels)


def test_inside_a_pipeline_and_a_search(digits):
    pipeline = make_pipeline(StandardScaler(), RejectingClassifier(LogisticRegression(max_iter=500)))
    pipeline.fit(*digits["train"])
    threshold = calibrate(pipeline, *digits["val"], rule="at_acceptance=0.9")
    assert threshold.rule == "at_acceptance=0.9"
    assert (pipeline.predict(digits["val"][0]) == -2).mean() == pytest.approx(0.1, abs=0.01)
    assert pipeline.score(*digits["val"]) <= 0.9 + 0.01  # rejected knowns count as wrong

    grid = {"rejectingclassifier__score": ["max_logit", "knn(k=1)"], "rejectingclassifier__estimator__C": [0.1]}
    everything = tuple(map(np.concatenate, zip(digits["train"], digits["test"], strict=True)))
    search = GridSearchCV(pipeline, grid, scoring=open_auc_scorer, cv=OpenSetKFold(5), error_score="raise")
    search.fit(*everything)
    assert search.best_params_["rejectingclassifier__score"] == "knn(k=1)"
    assert calibrate(search, *digits["val"]).rule == "at_acceptance=0.95"


def test_a_trained_model_stays_as_it_is(digits):
    trained = make_pipeline(StandardScaler(), SVC()).fit(*digits["train"])
    before = trained.predict(digits["test"][0])
    model = RejectingClassifier(FrozenEstimator(trained), score="mahalanobis").fit(*digits["val"])
    assert np.array_equal(model.predict(digits["test"][0]), before)
    scores = model.scores(*digits["test"])
    assert evaluate(scores, intervals=False).find("auroc").value > 0.85
    assert scores.meta["score"]["name"] == "mahalanobis"
    assert choose(scores.take(scores.labels >= 0), "at_acceptance=0.95").origin.fit == scores.meta["fit"]


def test_texts_and_names(digits):
    texts = ["red wine", "red grapes", "wine red", "blue sky", "sky blue", "blue heaven"] * 3
    names = ["wine"] * 3 + ["sky"] * 3
    model = RejectingClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression()), score="msp").fit(
        texts, names * 3
    )
    model.calibrate(texts, names * 3, rule="at_acceptance=1")
    assert model.predict(["red wine", "green tea with milk"]).tolist() == ["wine", "unknown"]
    with pytest.raises(OpenSetError, match="and these are sparse.*TruncatedSVD"):
        clone(model).set_params(score="knn(k=1)").fit(texts, names * 3)


@pytest.mark.parametrize("classifier", [GaussianNB(), Perceptron(), RidgeClassifier(), SVC()], ids=str)
def test_classifiers_with_decision_values_or_probabilities(classifier, digits):
    model = RejectingClassifier(classifier).fit(*digits["train"])
    model.calibrate(*digits["val"])
    assert set(np.unique(model.predict(digits["test"][0]))) <= {-2, *range(6)}
    assert hasattr(model, "predict_proba") == hasattr(classifier, "predict_proba")


def test_pairwise_decision_values_are_refused(digits):
    model = RejectingClassifier(SVC(decision_function_shape="ovo")).fit(*digits["train"])
    with pytest.raises(OpenSetError, match="SVC gives neither one decision value per class nor probabilities"):
        model.unknown_score(digits["test"][0])
    assert (
        RejectingClassifier(SVC(decision_function_shape="ovo"), score="knn(k=1)")
        .fit(*digits["train"])
        .calibrate(*digits["val"])
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "enrgy"}, "no score named 'enrgy'. Did you mean 'energy'"),
        ({"rule": "at_fp=1"}, "no threshold rule named 'at_fp'"),
        ({"validation": 20}, "'validation' must be in \\(0, 1\\), got 20. Did you mean 0.2"),
        ({"validation": 0.2, "rule": "at_fpr=0.1"}, "at_fpr"),
        ({"validation": 0.001}, "cannot keep 0.001 of"),
    ],
)
def test_wrong_options_are_named(digits, options, message):
    with pytest.raises(OpenSetError, match=message):
        RejectingClassifier(LogisticRegression(max_iter=3000), **options).fit(*digits["train"])


def test_a_class_cannot_be_called_unknown(digits):
    model = RejectingClassifier(GaussianNB(), unknown_label=3).fit(
        *(one[digits["train"][1] != 3] for one in digits["train"])
    )
    model.calibrate(*digits["val"])
    samples, y = digits["train"]
    with pytest.raises(OpenSetError, match="labelled 3, which the classifier must not learn"):
        RejectingClassifier(GaussianNB(), unknown_label=3).fit(samples, y)
    word = RejectingClassifier(GaussianNB()).fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "unknown", "unknown"])
    with pytest.raises(OpenSetError, match="'unknown' is also a known class"):
        word.calibrate([[0.0], [5.0]], ["a", "unknown"])


def test_score_is_a_parameter_and_the_method_of_every_classifier(digits):
    model = RejectingClassifier(GaussianNB(), score="msp")
    assert model.get_params()["score"] == "msp"
    assert "score='msp'" in repr(model)
    assert clone(model).get_params()["score"] == "msp"
    assert model.set_params(score="entropy").get_params()["score"] == "entropy"
    model.fit(*digits["train"])
    assert model.score(*digits["val"]) == (model.predict(digits["val"][0]) == digits["val"][1]).mean()
    assert pickle.loads(pickle.dumps(model)).fitted_score_.spec.name == "entropy"  # noqa: S301  our own
    assert cross_val_score(model, *digits["train"]).shape == (5,)


def test_weights_reach_the_classifier(digits):
    samples, y = digits["train"]
    weights = np.where(y == 0, 1e-6, 1.0)
    found = RejectingClassifier(GaussianNB(), validation=0.5).fit(samples, y, sample_weight=weights)
    assert found.estimator_.class_prior_[0] < 1e-4


def test_the_threshold_belongs_to_its_score(digits):
    first = RejectingClassifier(GaussianNB(), score="knn(k=1)").fit(*digits["train"])
    threshold = first.calibrate(*digits["val"])
    other = RejectingClassifier(GaussianNB(), score="knn(k=2)").fit(*digits["train"])
    with pytest.raises(OpenSetError, match=r"chosen for the score knn\(k=1\), and this is knn\(k=2\)"):
        threshold.apply(other.scores(*digits["test"]))
