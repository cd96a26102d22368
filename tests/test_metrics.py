import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textbook
from openset import metrics
from openset.curves import oscr_curve, risk_coverage_curve
from openset.errors import OpenSetError
from openset.metrics import (
    accuracy_auroc,
    augrc,
    aupr,
    aupr_trapezoid,
    aurc,
    auroc,
    brier_score,
    ccr_at_fpr,
    closed_set_accuracy,
    confidence,
    error_at_tpr,
    expected_calibration_error,
    fpr_at_tpr,
    known_precision,
    normalized_accuracy,
    open_auc,
    open_set_confusion_matrix,
    open_set_f_score,
    openness,
    operational_accuracy,
    partial_open_auc,
    youden_index,
)
from samples import N_CLASSES, datasets, random_dataset

TIES = ("half", "strict", "full")
near = pytest.approx
exact = lambda value: near(value, rel=1e-12, abs=1e-12)  # noqa: E731


# ---- worked by hand --------------------------------------------------------------------------------------------------


def test_ties_by_hand():
    labels, predictions = [0] * 4 + [-2] * 4, [0] * 8
    score = [0, 0.1, 0, 0.1, 0.1, 0.1, 0.1, 0.1]
    assert [open_auc(labels, predictions, score, ties=ties) for ties in TIES] == [0.75, 0.5, 1.0]


def test_one_known_below_one_unknown_is_perfect():
    assert open_auc([0, -2], [0, 0], [-0.9, -0.1]) == 1.0


def test_constant_score_gives_half_the_accuracy():
    assert open_auc([0, 0, -2], [0, 1, 0], [7.0, 7.0, 7.0]) == 0.25
    assert auroc([0, 0, -2], [7.0, 7.0, 7.0]) == 0.5


def test_f_score_is_neither_of_scikit_learns():
    from sklearn.metrics import f1_score

    labels, predictions = [0, 0, 1, 1, 2, -2], [0, 0, 1, 0, 1, 2]
    score = [0.1] * 6
    ours = open_set_f_score(labels, predictions, score, threshold=1.0)
    # precision 2/3, 1/2, 0; recall 1, 1/2, 0
    precision, recall = (2 / 3 + 1 / 2) / 3, (1 + 1 / 2) / 3
    assert ours == exact(2 * precision * recall / (precision + recall))
    assert abs(ours - f1_score(labels, predictions, labels=[0, 1, 2], average="macro", zero_division=0)) > 0.001


def test_best_f_score_searches_every_threshold():
    labels = [0] * 50 + [-2] * 50
    score = np.r_[np.linspace(0.50000, 0.50001, 50), np.linspace(0.50002, 0.6, 50)]
    assert open_set_f_score(labels, [0] * 100, score) == 1.0


def test_error_at_tpr_is_zero_on_separable_data():
    assert error_at_tpr([0, 0, -2, -2], [0.1, 0.2, 0.8, 0.9]) == 0.0


def test_average_precision_is_not_the_trapezoid():
    assert aupr([0, 0, 0, -2, -2], [0.1, 0.4, 0.35, 0.8, 0.3]) == exact(0.75)


def test_ccr_at_fpr_with_ten_unknowns():
    labels = [0, 0, 0] + [-2] * 10
    score = [0.1, 0.25, 0.9, 0.2, *np.linspace(0.5, 1.5, 9)]
    assert ccr_at_fpr(labels, [0] * 13, score, fpr=0.1) == exact(2 / 3)
    assert ccr_at_fpr(labels, [0] * 13, score, fpr=1.0) == 1.0


def test_positive_class_of_fpr_at_tpr_is_never_silent():
    labels, score = [0, 0, 0, 0, -2, -2], [0.1, 0.2, 0.3, 0.9, 0.25, 1.0]
    assert fpr_at_tpr(labels, score, tpr=1.0) == 0.5
    assert fpr_at_tpr(labels, score, tpr=1.0, positive="unknown") == 0.5
    assert fpr_at_tpr(labels, score, tpr=0.75) == 0.5
    assert fpr_at_tpr(labels, score, tpr=0.5) == 0.0


def test_confidence_offset_with_and_without_background():
    probabilities = [[0.6, 0.4], [0.3, 0.2]]
    assert confidence([0, -1], probabilities).gamma_minus == exact(1 - 0.3 + 0.5)
    assert confidence([0, -1], probabilities, background=True).gamma_minus == exact(0.7)


def test_normalized_accuracy_by_hand():
    labels, predictions, score = [0, 1, -2, -2], [0, 0, 1, 0], [0.1, 0.6, 0.2, 0.9]
    # t = .5: class 0: TP 1 FP 0 FN 0 TN 3; class 1: TP 0 FP 1 FN 1 TN 2. Rejected: one known, one unknown.
    assert normalized_accuracy(labels, predictions, score, threshold=0.5) == exact(0.5 * 6 / 8 + 0.5 * 0.5)
    assert normalized_accuracy(labels, predictions, score, threshold=0.5, weight=1.0) == exact(6 / 8)
    assert normalized_accuracy(labels, predictions, score, threshold=5.0, weight=0.0) == 0.0
    assert normalized_accuracy(labels, predictions, score, threshold=5.0, weight=0.0, zero_division=1.0) == 1.0


def test_large_scores_keep_their_order():
    assert auroc([0, 0, -2, -2], np.array([1e12, 1e12 + 1, 1e12 + 2, 1e12 + 3])) == 1.0
    assert open_auc([0, 0, -2, -2], [0, 0, 0, 0], np.array([-30, -40, -50, -20], dtype=np.float32)) == 0.5


def test_balanced_gives_rare_classes_the_same_weight():
    labels, predictions = [0] * 9 + [1] + [-2], [0] * 10 + [0]
    score = [0.1] * 10 + [0.9]
    assert open_auc(labels, predictions, score) == exact(0.9)
    assert open_auc(labels, predictions, score, balanced=True) == exact(0.5)
    assert ccr_at_fpr(labels, predictions, score, fpr=0.0, balanced=True) == exact(0.5)
    assert closed_set_accuracy(labels, predictions, balanced=True) == 0.5


def test_precision_of_known_depends_on_the_assumed_share():
    labels, score = [0, 0, -2, -2], [0.1, 0.3, 0.2, 0.9]
    args = labels, [0, 1, 0, 0], score
    assert known_precision(*args, threshold=0.3, unknown_share=0.5) == exact(0.5 / 0.75)
    assert known_precision(*args, threshold=0.3, unknown_share=0.5, right=True) == exact(0.25 / 0.75)
    assert known_precision(*args, threshold=0.0, unknown_share=0.5) == 0.0
    assert known_precision(*args, threshold=0.0, unknown_share=0.5, zero_division=1.0) == 1.0


def test_openness():
    assert openness(n_train=5, n_test=5) == 0.0
    assert openness(n_train=20, n_test=200) == exact(1 - np.sqrt(40 / 220))
    with pytest.raises(OpenSetError, match="do not go together"):
        openness(n_train=10, n_test=5)


def test_confusion_matrix_and_what_slips_through():
    matrix = open_set_confusion_matrix(
        [0, 0, 1, -1, -2, -2, -2],
        [0, 1, 1, 1, 0, 0, 1],
        [0.1, 0.2, 0.9, 0.3, 0.3, 0.4, 0.8],
        threshold=0.5,
        class_names=["cat", "dog"],
        open_classes=["", "", "", "", "cow", "cow", "cow"],
    )
    assert matrix.rows == ("cat", "dog", "cow", "negative")
    assert matrix.columns == ("cat", "dog", "rejected")
    assert matrix.counts.tolist() == [[1, 1, 0], [0, 0, 1], [2, 0, 1], [0, 1, 0]]
    first, second = matrix.accepted_open_classes()
    assert (first.open_class, first.taken_for, first.share) == ("negative", "dog", 1.0)
    assert (second.open_class, second.accepted, second.total, second.taken_for) == ("cow", 2, 3, "cat")
    np.testing.assert_allclose(matrix.shares.sum(axis=1), 1.0)


def test_calibration_by_hand():
    labels = [0, 0, 1, -2]
    probabilities = [[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [1.0, 0.0]]
    # bins of width 1/15: 0.9 alone (gap .1), 0.6 twice (right once: gap .1 each on average)
    assert expected_calibration_error(labels, probabilities) == exact((0.1 + 2 * 0.1) / 3)
    # a confidence on an edge belongs to the bin below: .5 (wrong) alone, .9 (right) alone
    assert expected_calibration_error([1, 0], [[0.5, 0.5], [0.9, 0.1]], bins=2) == exact((0.5 + 0.1) / 2)
    assert brier_score(labels, probabilities) == exact((0.02 + 0.32 + 0.72) / 3)


# ---- against the textbook --------------------------------------------------------------------------------------------


@given(datasets())
def test_ranking_metrics_equal_the_textbook(data):
    labels, _, score = data
    for ties in TIES:
        assert open_auc(*data, ties=ties) == exact(textbook.pair_mean(*data, ties))
        assert open_auc(*data, ties=ties, balanced=True, n_classes=N_CLASSES) == exact(
            textbook.balanced_open_auc(*data, N_CLASSES, ties)
        )
        for limit in (0.1, 0.37, 1.0):
            assert partial_open_auc(*data, max_fpr=limit, ties=ties) == exact(
                textbook.partial_open_auc(*data, limit, ties)
            )
    assert auroc(labels, score) == exact(textbook.pair_mean(*data, right_only=False))
    for positive in ("known", "unknown"):
        assert aupr(labels, score, positive=positive) == exact(textbook.average_precision(labels, score, positive))
        for tpr in (0.5, 0.95, 1.0):
            expected = textbook.fpr_at_tpr(labels, score, tpr, positive)
            assert fpr_at_tpr(labels, score, tpr=tpr, positive=positive) == exact(expected)
    for tpr in (0.5, 0.95, 1.0):
        assert error_at_tpr(labels, score, tpr=tpr) == exact(textbook.error_at_tpr(labels, score, tpr))
    for limit in (0.0, 0.1, 0.5, 1.0):
        assert ccr_at_fpr(*data, fpr=limit) == exact(textbook.ccr_at_fpr(*data, limit))
    assert aurc(*data) == exact(textbook.aurc_by_fractions(*data))


@given(datasets(max_size=7, distinct=3))
def test_aurc_is_the_mean_over_all_orders_of_tied_samples(data):
    assert aurc(*data) == exact(textbook.aurc(*data))
    assert textbook.aurc_by_fractions(*data) == exact(textbook.aurc(*data))


@pytest.mark.parametrize("decimals", [0, 1, 2])
def test_aurc_of_many_ties_keeps_its_digits(decimals):
    labels, predictions, score = random_dataset(600, seed=5, decimals=decimals)
    data = labels.tolist(), predictions.tolist(), score.tolist()
    assert aurc(*data) == pytest.approx(textbook.aurc_by_fractions(*data), rel=1e-13)


def test_aurc_of_a_constant_score_is_the_fraction_of_errors():
    assert aurc([0, 1, -2], [0, 0, 0], [0.5, 0.5, 0.5]) == exact(2 / 3)
    million = np.zeros(10**6)
    labels = np.where(np.arange(10**6) % 4 == 0, 0, -2)
    assert aurc(labels, np.zeros(10**6, int), million) == pytest.approx(0.75, rel=1e-13)


@given(datasets(), st.sampled_from([0.0, 0.5, 1.0]))
def test_decision_metrics_equal_the_textbook_at_every_threshold(data, zero_division):
    every = textbook.thresholds(data[2])
    options = {"n_classes": N_CLASSES}
    for average in ("macro", "micro"):
        slow = [textbook.f_score(*data, t, N_CLASSES, average, zero_division) for t in every]
        for t, expected in zip(every, slow, strict=True):
            found = open_set_f_score(*data, average=average, threshold=t, zero_division=zero_division, **options)
            assert found == exact(expected)
        assert open_set_f_score(*data, average=average, zero_division=zero_division, **options) == exact(max(slow))
        slow = [textbook.youden(*data, t, N_CLASSES, average) for t in every]
        for t, expected in zip(every, slow, strict=True):
            assert youden_index(*data, average=average, threshold=t, **options) == exact(expected)
        assert youden_index(*data, average=average, **options) == exact(max(slow))
    for aus in ("paper", "recall"):
        slow = [textbook.normalized_accuracy(*data, t, N_CLASSES, 0.3, aus) for t in every]
        for t, expected in zip(every, slow, strict=True):
            assert normalized_accuracy(*data, threshold=t, weight=0.3, aus=aus, **options) == exact(expected)
        assert normalized_accuracy(*data, weight=0.3, aus=aus, **options) == exact(max(slow))


def test_a_larger_case_with_many_ties_equals_the_textbook():
    labels, predictions, score = random_dataset(300, seed=3, decimals=1)
    data = labels.tolist(), predictions.tolist(), score.tolist()
    assert open_auc(*data) == exact(textbook.pair_mean(*data))
    every = textbook.thresholds(data[2])
    assert open_set_f_score(*data) == exact(max(textbook.f_score(*data, t, 5, "macro") for t in every))
    assert youden_index(*data) == exact(max(textbook.youden(*data, t, 5, "macro") for t in every))


# ---- against other libraries -----------------------------------------------------------------------------------------


def test_scikit_learn_agrees():
    from sklearn import metrics as theirs

    labels, predictions, score = random_dataset(2000, seed=1, decimals=2)
    is_open = labels < 0
    assert auroc(labels, score) == exact(theirs.roc_auc_score(is_open, score))
    assert aupr(labels, score) == exact(theirs.average_precision_score(is_open, score))
    assert aupr(labels, score, positive="known") == exact(theirs.average_precision_score(~is_open, -score))
    assert closed_set_accuracy(labels, predictions) == exact(
        theirs.accuracy_score(labels[~is_open], predictions[~is_open])
    )
    assert closed_set_accuracy(labels, predictions, balanced=True) == exact(
        theirs.balanced_accuracy_score(labels[~is_open], predictions[~is_open])
    )


def test_open_auc_is_the_auroc_with_wrong_knowns_moved_above_all_unknowns():
    from sklearn.metrics import roc_auc_score

    labels, predictions, score = random_dataset(2000, seed=2, decimals=2)
    wrong = (labels >= 0) & (labels != predictions)
    ranks = np.unique(score, return_inverse=True)[1].astype(float)
    ranks[wrong] = len(ranks)  # by rank, so that no epsilon is needed
    assert open_auc(labels, predictions, score) == exact(roc_auc_score(labels < 0, ranks))


# ---- identities ------------------------------------------------------------------------------------------------------


@given(datasets())
def test_open_auc_is_the_area_under_oscr(data):
    curve = oscr_curve(*data)
    for ties in TIES:
        assert curve.area(ties=ties) == exact(open_auc(*data, ties=ties))


@given(datasets())
def test_aurc_is_the_area_under_risk_coverage(data):
    assert risk_coverage_curve(*data).area() == exact(aurc(*data))


@given(datasets())
def test_open_auc_is_bounded_by_auroc_and_accuracy(data):
    labels, predictions, score = data
    for ties in ("half", "strict"):
        value = open_auc(*data, ties=ties)
        assert value <= textbook.pair_mean(*data, ties, right_only=False) + 1e-12
        assert value <= closed_set_accuracy(labels, predictions) + 1e-12
    perfect = [max(label, 0) for label in labels]
    assert open_auc(labels, perfect, score) == exact(auroc(labels, score))


@given(datasets())
def test_proposition_6_bounds_the_unknowns_caught(data):
    labels, _, score = data
    strict = open_auc(*data, ties="strict")
    for t in textbook.thresholds(score):
        lost = 1 - textbook.acceptance(labels, score, t)
        if lost > 0:
            assert 1 - textbook.fpr(labels, score, t) >= 1 - (1 - strict) / lost - 1e-12


@given(datasets())
def test_proposition_8_is_the_complement(data):
    labels, predictions, score = data
    risks = [
        1.0 if label != p else float(not u > s)
        for label, p, s in zip(labels, predictions, score, strict=True)
        if label >= 0
        for other, u in zip(labels, score, strict=True)
        if other < 0
    ]
    assert 1 - open_auc(*data, ties="strict") == exact(sum(risks) / len(risks))


@given(datasets())
def test_closed_set_accuracy_is_ccr_at_full_fpr(data):
    assert ccr_at_fpr(*data, fpr=1.0) == exact(closed_set_accuracy(data[0], data[1]))
    assert accuracy_auroc(*data, combine="sum") == accuracy_auroc(*data, combine="pointwise")


# ---- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: fpr_at_tpr(d[0], d[2], tpr=95), "fpr_at_tpr: 'tpr' must be in (0, 1], got 95. Did you mean 0.95?"),
        (lambda d: ccr_at_fpr(*d, fpr=-0.1), "ccr_at_fpr: 'fpr' must be in [0, 1], got -0.1."),
        (lambda d: open_auc(*d, ties="hlaf"), "open_auc: 'ties' cannot be 'hlaf'. Did you mean 'half'?"),
        (lambda d: open_set_f_score(*d, average="weighted"), "'average' cannot be 'weighted'"),
        (lambda d: open_set_f_score(*d, threshold="bset"), "Did you mean 'best'?"),
        (lambda d: open_set_f_score(*d, threshold=float("nan")), "The threshold is not a number"),
        (lambda d: normalized_accuracy(*d, aus="precision"), "'aus' cannot be 'precision'"),
        (lambda d: open_auc(*d, against="unknwon"), "no groups are given"),
        (lambda d: open_auc(*d, balanced=True, zero_division=2), "'zero_division' must be in [0, 1], got 2."),
        (lambda d: confidence([0, -2], [[0.5, 0.5]] * 2), "0 of 'negative'. Use against='unknown' or 'all'"),
        (lambda d: confidence([0, -1], [[5.0, 1.0]] * 2), "must lie between 0 and 1"),
        (lambda d: confidence([0, -1], [[0.5, 0.5], [1.0, 1.0]]), "Row 1 of 'probabilities' adds up to 2"),
        (lambda d: confidence([0, -1], [["a", "b"]] * 2), "'probabilities' must be numbers"),
        (lambda d: confidence([0, -1], [[0.5], [0.5, 0.5]]), "'probabilities' cannot be read as an array"),
        (lambda d: closed_set_accuracy([-2], [0]), "Found 0 known samples among 1"),
        (lambda d: open_auc(masked(d[0]), *d[1:]), "'labels' has masked entries: leave those samples out first."),
        (lambda d: open_auc(d[0], masked(d[1]), d[2]), "'predictions' has masked entries"),
        (lambda d: auroc(d[0], masked(d[2])), "'unknown_score' has masked entries"),
        (lambda d: auroc(d[0], d[2], against="a", groups=masked(["a", "b", "a"])), "'groups' has masked entries"),
        (lambda d: open_auc([[0], [0, 1], [2]], *d[1:]), "'labels' cannot be read as an array"),
        (lambda d: auroc(d[0], [0.1, [0.2], 0.3]), "'unknown_score' cannot be read as an array"),
        (lambda d: auroc(d[0], d[2], against="a", groups=[["a"]] * 3), "'groups' must have one dimension"),
        (lambda d: auroc(d[0], d[2], against="a", groups=[b"\xff"] * 3), "'groups' must be text"),
        (lambda d: open_set_f_score(*d, threshold=None), "The threshold must be a number, got None."),
        (lambda d: open_set_confusion_matrix(*d, threshold="x"), "The threshold must be a number, got 'x'."),
        (lambda d: open_set_confusion_matrix(*d, threshold=1, open_classes=[["a"]] * 3), "must have one dimension"),
        (lambda d: open_set_f_score(*d, n_classes=2.5), "'n_classes' must be a whole number, got 2.5."),
        (lambda d: open_set_f_score(*d, n_classes="2"), "'n_classes' must be a whole number, got '2'."),
        (lambda d: open_set_f_score(*d, n_classes=10**12), "'n_classes' is 1000000000000, which is too large"),
        (lambda d: open_set_f_score(*d, zero_division="x"), "'zero_division' must be in [0, 1], got 'x'."),
        (lambda d: ccr_at_fpr(*d, fpr=None), "ccr_at_fpr: 'fpr' must be in [0, 1], got None."),
        (lambda d: ccr_at_fpr(*d, fpr="x"), "ccr_at_fpr: 'fpr' must be in [0, 1], got 'x'."),
        (lambda d: ccr_at_fpr(*d, fpr=1.5), "ccr_at_fpr: 'fpr' must be in [0, 1], got 1.5."),
    ],
)
def test_wrong_options_say_what_to_do(call, message):
    with pytest.raises(OpenSetError) as caught:
        call(([0, 1, -2], [0, 1, 1], [0.1, 0.2, 0.3]))
    assert message in str(caught.value)
    assert "0.015" not in str(caught.value)  # 1.5 is no percentage


def masked(values):
    return np.ma.array(values, mask=[True, False, False])


def test_arrays_that_could_have_a_mask_and_groups_that_are_numbers():
    labels, score = np.ma.array([0, 1, -2]), np.ma.array([0.1, 0.2, 0.3], mask=False)
    assert open_auc(labels, labels.clip(0), score) == 1.0
    assert auroc([0, 0, -2, -2], [1, 2, 3, 0], against="1", groups=[0, 0, 1, 2]) == 1.0
    assert confidence([0, -1, -2], [[1.0, 0.0]] * 3, against="1", groups=[0, 1, 2]).gamma_minus == 0.5


def test_tensors_of_a_training_are_taken_as_they_are():
    torch = pytest.importorskip("torch")
    labels, predictions = torch.tensor([0, 1, -2, -2]), torch.tensor([0, 1, 0, 1])
    score = torch.tensor([0.5, 1.0, 0.75, 2.0])
    for tensor in (score.bfloat16(), score.half(), score.clone().requires_grad_(), score.double()):
        assert open_auc(labels, predictions, tensor) == open_auc(labels, predictions, score.numpy()) == 0.75
    with pytest.raises(OpenSetError, match="'unknown_score' cannot be read as an array"):
        open_auc(labels, predictions, score.to("meta"))


def test_every_public_name_of_the_contract_exists():
    for name in [
        "closed_set_accuracy",
        "auroc",
        "aupr",
        "fpr_at_tpr",
        "error_at_tpr",
        "open_auc",
        "partial_open_auc",
        "ccr_at_fpr",
        "open_set_f_score",
        "youden_index",
        "normalized_accuracy",
        "confidence",
        "aurc",
        "expected_calibration_error",
        "brier_score",
        "accuracy_auroc",
        "openness",
        "open_set_confusion_matrix",
        "known_precision",
    ]:
        assert callable(getattr(metrics, name))


# ---- generalized risk, trapezoid precision, operational accuracy -----------------------------------------------------


def test_generalized_risk_by_hand():
    # Accepted one by one: correct, wrong, unknown, correct. Risks 0, 0, 1/4, 2/4, 2/4 at coverages 0, 1/4, ..., 1.
    labels, predictions, score = [0, 0, -2, 1], [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
    assert augrc(labels, predictions, score) == exact((0 + 0.125 + 0.375 + 0.5) / 4)
    assert augrc([0, 0, -2], [1, 1, 0], [0.1, 0.2, 0.3]) == exact(0.5)  # all wrong
    assert augrc([0, -2], [0, 0], [0.5, 0.5]) == exact(0.25)  # by chance: half of the errors


@given(datasets())
def test_generalized_risk_is_the_slow_one_and_its_closed_form(data):
    labels, predictions, score = (np.array(one) for one in data)
    found = augrc(*data)
    assert found == near(textbook.augrc(*data), abs=1e-12)
    wrong = (labels < 0) | (labels != predictions)
    e = wrong.mean()
    ranked = 0.0
    if not wrong.all():  # AUROC of errors against correct decisions
        ranked = auroc(np.where(wrong, -2, 0), score)
    assert found == near((1 - ranked) * e * (1 - e) + e**2 / 2, abs=1e-12)


def test_trapezoid_precision_by_hand():
    # Recall and precision of unknowns: (0, 1), (1/2, 1), (1/2, 1/2), (1/2, 1/3), (1, 1/2), (1, 2/5)
    labels, score = [0, 0, 0, -2, -2], [0.1, 0.4, 0.35, 0.8, 0.3]
    assert aupr_trapezoid(labels, score) == exact(1 / 2 + (1 / 3 + 1 / 2) / 4)


@given(datasets(), st.sampled_from(["unknown", "known"]))
def test_trapezoid_precision_is_the_slow_one_and_scikit_learns(data, positive):
    from sklearn.metrics import auc, precision_recall_curve

    labels, _, score = (np.array(one) for one in data)
    found = aupr_trapezoid(labels, score, positive=positive)
    assert found == near(textbook.trapezoid_precision(labels, score, positive), abs=1e-12)
    wanted = labels < 0 if positive == "unknown" else labels >= 0
    precision, recall, _ = precision_recall_curve(wanted, score if positive == "unknown" else -score)
    assert found == near(auc(recall, precision), abs=1e-12)


@given(datasets(), st.sampled_from([None, 0.0, 0.2, 1.0]))
def test_operational_accuracy_is_the_slow_one_at_every_threshold(data, share):
    for t in [min(data[2]) - 1, *sorted(set(data[2]))]:
        found = operational_accuracy(*data, threshold=t, unknown_share=share)
        assert found == near(textbook.operational_accuracy(*data, t, share), abs=1e-12)


def test_operational_accuracy_needs_a_threshold_of_other_data():
    with pytest.raises(TypeError, match="threshold"):
        operational_accuracy([0, -2], [0, 0], [0.1, 0.9])
    with pytest.raises(OpenSetError, match="unknown_share"):
        operational_accuracy([0, -2], [0, 0], [0.1, 0.9], threshold=0.5, unknown_share=20)
    with pytest.raises(OpenSetError, match="not a number"):
        operational_accuracy([0, -2], [0, 0], [0.1, 0.9], threshold=float("nan"))
    assert operational_accuracy([0, -2], [0, 0], [0.1, 0.9], threshold=np.inf) == 0.5
