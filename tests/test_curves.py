from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import textbook
from openset import curves
from openset.errors import OpenSetError
from samples import N_CLASSES, datasets, random_dataset


@given(datasets())
def test_every_point_of_every_curve_equals_the_textbook(data):
    labels, predictions, score = data
    roc, oscr = curves.roc_curve(labels, score), curves.oscr_curve(*data)
    for place, t in enumerate(textbook.thresholds(score)):
        assert roc.thresholds[place] == t
        assert roc.fpr[place] == pytest.approx(textbook.fpr(labels, score, t))
        assert roc.tpr[place] == pytest.approx(textbook.acceptance(labels, score, t))
        assert oscr.ccr[place] == pytest.approx(textbook.ccr(labels, predictions, score, t))
    f_score = curves.f_score_curve(*data, n_classes=N_CLASSES)
    recall = curves.unknown_recall_curve(*data, n_classes=N_CLASSES)
    for place, t in enumerate(textbook.thresholds(score)):
        expected = textbook.f_score(*data, t, N_CLASSES, "macro")
        assert f_score.f_score[place] == pytest.approx(expected, abs=1e-12)
        assert recall.f_macro[place] == pytest.approx(expected, abs=1e-12)
        assert recall.unknown_recall[place] == pytest.approx(1 - textbook.fpr(labels, score, t))
        assert recall.normalized_accuracy[place] == pytest.approx(
            textbook.normalized_accuracy(*data, t, N_CLASSES), abs=1e-12
        )


def test_precision_recall_agrees_with_scikit_learn():
    from sklearn.metrics import precision_recall_curve as theirs

    labels, _, score = random_dataset(300, decimals=1)
    precision, recall, thresholds = theirs(labels < 0, score)
    ours = curves.precision_recall_curve(labels, score)
    # scikit-learn calls a sample positive from its threshold up, we above it: their point i is our point i - 1.
    np.testing.assert_allclose(ours.thresholds[1:], thresholds)
    np.testing.assert_allclose(ours.precision, precision)
    np.testing.assert_allclose(ours.recall, recall)


def test_roc_agrees_with_scikit_learn():
    from sklearn.metrics import roc_curve as theirs

    labels, _, score = random_dataset(300, decimals=1)
    fpr, tpr, _ = theirs(labels >= 0, -score, drop_intermediate=False)
    ours = curves.roc_curve(labels, score)
    np.testing.assert_allclose(ours.fpr, fpr)
    np.testing.assert_allclose(ours.tpr, tpr)


def test_curves_are_monotone_and_end_at_one():
    labels, predictions, score = random_dataset(500)
    oscr, risk = curves.oscr_curve(labels, predictions, score), curves.risk_coverage_curve(labels, predictions, score)
    assert (np.diff(oscr.fpr) >= 0).all()
    assert (np.diff(oscr.ccr) >= 0).all()
    assert (np.diff(risk.coverage) > 0).all()
    assert oscr.fpr[-1] == risk.coverage[-1] == 1.0
    assert risk.risk[-1] == pytest.approx(np.mean(labels != predictions))


def test_the_risk_of_accepting_nothing_is_that_of_the_first_accepted():
    curve = curves.risk_coverage_curve([0, -2, -2, 0], [0, 0, 0, 0], [0.1, 0.1, 0.1, 0.9])
    np.testing.assert_allclose(curve.coverage, [0, 0.75, 1])
    np.testing.assert_allclose(curve.risk, [2 / 3, 2 / 3, 0.5])
    assert curve.area() == pytest.approx((3 * 2 / 3 + 0.5) / 4)


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 1), (0, 511), (0, 513), (511, 513), (512, 513), (600, 602), (40, 3000)]
)
def test_harmonic_sums_equal_exact_fractions(start, stop):
    expected = float(sum(Fraction(1, k) for k in range(start + 1, stop + 1)))
    found = curves.harmonic_between(np.array([float(start)]), np.array([float(stop)]))[0]
    assert found == pytest.approx(expected, rel=1e-14)


def test_results_cannot_be_changed_and_options_are_checked():
    curve = curves.roc_curve([0, -2], [0.1, 0.2])
    with pytest.raises(AttributeError):
        curve.fpr = None
    with pytest.raises(OpenSetError, match="'positive' cannot be 'knwon'. Did you mean 'known'"):
        curves.precision_recall_curve([0, -2], [0.1, 0.2], positive="knwon")
    with pytest.raises(OpenSetError, match="max_fpr"):
        curves.oscr_curve([0, -2], [0, 0], [0.1, 0.2]).area(max_fpr=0)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_the_runs_does_not_matter(size, monkeypatch):
    data = random_dataset(300, decimals=1)
    expected = [curves.f_score_curve(*data), curves.unknown_recall_curve(*data)]
    monkeypatch.setattr("openset._core.sorting.CHUNK", size)
    for before, after in zip(expected, [curves.f_score_curve(*data), curves.unknown_recall_curve(*data)], strict=True):
        for name in vars(before):
            if name not in ("thresholds", "average"):
                np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-12)
