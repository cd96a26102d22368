"""Scorers and splits: what is unknown in a fold, and that the number is the metric's own."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from openset import OpenSetError, OpenSetKFold, RejectingClassifier, calibrate, open_auc_scorer
from openset.estimator import OpenSetScorer, scores_of
from openset.metrics import auroc, fpr_at_tpr, open_auc


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_a_plain_classifier_is_scored_by_its_largest_logit(digits):
    samples, y = digits
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(samples[y < 6][::2], y[y < 6][::2])
    logits = model.decision_function(samples[1::2])
    labels = np.where(y[1::2] < 6, y[1::2], -2)
    expected = open_auc(labels, logits.argmax(axis=1), -logits.max(axis=1))
    assert open_auc_scorer(model, samples[1::2], y[1::2]) == expected
    assert OpenSetScorer("auroc")(model, samples[1::2], y[1::2]) == auroc(labels, -logits.max(axis=1))
    worse = OpenSetScorer("fpr_at_tpr", {"tpr": 0.9})(model, samples[1::2], y[1::2])
    assert worse == -fpr_at_tpr(labels, -logits.max(axis=1), tpr=0.9)  # lower is better, so its sign is turned


def test_an_estimator_of_ours_is_scored_by_its_own_score(digits):
    samples, y = digits
    model = make_pipeline(StandardScaler(), RejectingClassifier(GaussianNB(), score="knn(k=1)"))
    model.fit(samples[y < 6][::2], y[y < 6][::2])
    own = model[-1].unknown_score(model[:-1].transform(samples[1::2]))
    assert np.array_equal(scores_of(model, samples[1::2], y[1::2]).unknown_score, own)


def test_cross_validation_by_class(digits):
    samples, y = digits
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    found = cross_val_score(model, samples, y, cv=OpenSetKFold(5), scoring=open_auc_scorer, error_score="raise")
    assert found.shape == (5,)
    assert (found > 0.6).all()
    assert (found < 1).all()
    with pytest.raises(OpenSetError, match="trained on every class.*OpenSetKFold"):
        cross_val_score(model, samples, y, cv=2, scoring=open_auc_scorer, error_score="raise")


def test_only_what_rejects_can_be_calibrated(digits):
    model = LogisticRegression(max_iter=3000).fit(*digits)
    with pytest.raises(OpenSetError, match="LogisticRegression cannot reject.*RejectingClassifier"):
        calibrate(model, *digits)


@settings(deadline=None, max_examples=60)
@given(
    n_classes=st.integers(4, 9),
    n_splits=st.integers(2, 4),
    extra=st.integers(0, 5),
    shuffle=st.booleans(),
    data=st.data(),
)
def test_each_class_is_unknown_once_and_never_trained_on_then(n_classes, n_splits, extra, shuffle, data):
    sizes = data.draw(st.lists(st.integers(n_splits, n_splits + 5), min_size=n_classes, max_size=n_classes))
    y = np.array(data.draw(st.permutations(np.repeat(np.arange(n_classes), sizes).tolist() + [99] * extra)))
    folds = OpenSetKFold(n_splits, shuffle=shuffle, random_state=3 if shuffle else None, unknown_label=99)
    times_unknown, times_tested = np.zeros(n_classes), np.zeros(len(y))
    for train, test in folds.split(y, y):
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(y)
        known = set(y[train].tolist())
        assert 99 not in known
        assert (y[test] == 99).sum() == extra
        assert len(known) >= 2
        unknown = set(range(n_classes)) - known
        assert unknown
        assert known <= set(y[test].tolist())  # every known class is tested too
        for one in unknown:
            times_unknown[one] += 1
        times_tested[test] += np.isin(y[test], list(known))
    assert (times_unknown == 1).all()
    assert (times_tested[y != 99] <= 1).all()  # as a known, a sample is tested at most once


def test_the_same_seed_gives_the_same_folds():
    y = np.repeat(np.arange(6), 10)
    one, two, other = (
        [test.tolist() for _, test in OpenSetKFold(3, shuffle=True, random_state=seed).split(y, y)]
        for seed in (1, 1, 2)
    )
    assert one == two != other


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OpenSetKFold(1), "'n_splits' must be a whole number of at least 2, got 1"),
        (lambda: OpenSetKFold(random_state=1), "no effect without shuffle=True"),
        (lambda: list(OpenSetKFold(5).split([], list("aabbccdd"))), "4 classes .* takes at least 5 classes"),
        (lambda: list(OpenSetKFold(2).split([], list("aabbcc"))), "3 classes .* takes at least 4 classes"),
        (lambda: list(OpenSetKFold(3).split([], list("aaabbbcc"))), "Class c has 2 samples.*n_splits=2"),
        (lambda: list(OpenSetKFold(3).split([1, 2], None)), "give the labels, as y"),
    ],
)
def test_folds_that_cannot_be_made_are_refused(make, message):
    with pytest.raises(OpenSetError, match=message):
        make()


def test_a_search_does_not_warn(digits):
    samples, y = digits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(GaussianNB(), samples, y, cv=OpenSetKFold(3), scoring=OpenSetScorer("auroc", score="msp"))
