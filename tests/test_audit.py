import dataclasses

import numpy as np
import pytest
from hypothesis import given

import textbook
from openset import Scores
from openset.audit import _Model, accept_in_pairs, audit, exchange_ranks, exchange_rejections
from samples import datasets, random_dataset


def by_name(found):
    return {finding.metric: finding for finding in found.findings}


def test_macro_f_is_also_reached_by_a_model_that_catches_nothing():
    # Four right knowns, two accepted wrong ones, two unknowns caught: two exchanges are possible and enough.
    labels = [0, 0, 1, 1, 0, 1, -2, -2]
    predictions = [0, 0, 1, 1, 1, 0, 0, 1]
    score = [0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.8, 0.9]
    finding = by_name(audit(Scores(labels, predictions, score), threshold=0.5))["macro F-score"]
    assert (
        finding.before == finding.after == pytest.approx(textbook.f_score(labels, predictions, score, 0.5, 2, "macro"))
    )
    assert (finding.unknown_recall_before, finding.unknown_recall_after) == (1.0, 0.0)
    assert finding.changed == 2
    assert finding.open_auc_before == pytest.approx(4 / 6)
    assert finding.open_auc_after == pytest.approx(4 / 6)  # the right knowns are still below: not larger, here equal
    assert "is also reached by a model that catches 0\u00a0% of the unknowns instead of 100\u00a0%" in finding.sentence


def test_samples_on_the_threshold_are_accepted_in_the_first_construction():
    # The unknown at the threshold slips through already, so it is not among the caught ones to be exchanged; the wrong
    # known at the threshold is accepted, so it is.
    labels, predictions, score = [0, 0, -2, -2], [0, 1, 0, 0], [0.1, 0.5, 0.5, 0.9]
    model = _Model(np.array(labels), np.array(predictions), np.array(score), 2)
    changed, n, limit = exchange_rejections(model, 0.5)
    assert n == 1
    assert limit == "all 1 caught unknowns exchanged for accepted misclassified knowns"
    assert changed.score.tolist() == [0.1, 0.9, 0.5, 0.5]
    assert changed.prediction.tolist() == [0, 1, 0, 1]


def test_a_rejected_known_of_the_first_class_is_no_caught_unknown():
    labels, predictions, score = [1, 0, -2], [0, 0, 0], [0.1, 0.8, 0.9]
    model = _Model(np.array(labels), np.array(predictions), np.array(score), 2)
    changed, n, limit = exchange_rejections(model, 0.5)
    assert n == 1
    assert limit == "all 1 caught unknowns exchanged for accepted misclassified knowns"
    assert changed.score.tolist() == [0.9, 0.8, 0.1]


def test_samples_on_the_threshold_are_accepted_in_the_second_construction():
    # Rejected are one known and three unknowns; a known and an unknown on the threshold are accepted.
    labels, score = [0, 0, 0, -2, -2, -2, -2], [0.1, 0.5, 0.6, 0.5, 0.7, 0.8, 0.9]
    model = _Model(np.array(labels), np.zeros(7, dtype=int), np.array(score), 1)
    changed, n, limit = accept_in_pairs(model, 0.5)
    assert n == 1
    assert limit == "ends when all 1 rejected knowns are used up, 2 of 3 unknowns still caught"
    assert changed.score.tolist() == [0.1, 0.5, 0.5, 0.5, 0.5, 0.8, 0.9]


@pytest.mark.parametrize(
    ("score", "exchanged"),
    [
        ([0.1, 0.5, 0.9], 1),  # right known, unknown, wrong known: the unknown lies between them
        ([0.1, 0.1, 0.9], 0),  # tied with the right known
        ([0.1, 0.9, 0.9], 0),  # tied with the wrong known
        ([0.5, 0.5, 0.5], 0),
        ([0.9, 0.5, 0.1], 0),  # the wrong known is first already
    ],
)
def test_the_third_construction_needs_an_unknown_strictly_between(score, exchanged):
    order = np.argsort(score, kind="stable")
    labels, predictions = np.array([0, -2, 0])[order], np.array([0, 0, 1])[order]
    changed, n, _ = exchange_ranks(_Model(labels, predictions, np.array(score)[order], 2))
    assert n == exchanged
    assert (changed.score[labels == predictions].tolist() == [score[0]]) == (not exchanged)


def test_a_small_move_is_told_with_numbers_that_differ():
    finding = by_name(audit(Scores([0, 1, -2], [0, 0, 0], [0.1, 0.2, 0.3])))["AUROC"]
    small = dataclasses.replace(finding, changed=1, open_auc_before=0.9774, open_auc_after=0.9766)
    assert "OpenAUC falls from .9774 to .9766" in small.sentence


@given(datasets())
def test_the_first_construction_never_changes_its_metrics_nor_raises_open_auc(data):
    findings = by_name(audit(Scores(*data)))
    for name in ("macro F-score", "micro F-score", "macro Youden", "micro Youden"):
        finding = findings[name]
        assert finding.after == pytest.approx(finding.before, abs=1e-12)
        assert finding.unknown_recall_after <= finding.unknown_recall_before + 1e-12
        assert finding.open_auc_after <= finding.open_auc_before + 1e-12


@given(datasets())
def test_the_second_construction_raises_normalized_accuracy_while_catching_fewer(data):
    finding = by_name(audit(Scores(*data)))["normalized accuracy"]
    if finding.changed:
        assert finding.after > finding.before
        assert finding.unknown_recall_after < finding.unknown_recall_before
    else:
        assert finding.after == pytest.approx(finding.before)
        assert "does not apply here" in finding.sentence


@given(datasets())
def test_the_third_construction_is_invisible_to_accuracy_and_auroc(data):
    findings = by_name(audit(Scores(*data)))
    for name in ("AUROC", "accuracy * AUROC", "accuracy + AUROC", "pointwise accuracy + AUROC"):
        finding = findings[name]
        assert finding.after == pytest.approx(finding.before, abs=1e-12)
        if finding.changed:
            assert finding.open_auc_after < finding.open_auc_before - 1e-12


def test_a_perfect_model_cannot_be_imitated():
    scores = Scores([0, 1, -2, -2], [0, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])
    for finding in audit(scores).findings:
        assert finding.changed == 0
        assert "does not apply here" in finding.sentence


def test_table_1_comes_out_as_the_constructions_went():
    rows = {row.metric: row for row in audit(Scores(*random_dataset(2000, seed=2))).table}
    marks = {name: (row.close, row.open, row.threshold, row.numeric) for name, row in rows.items()}
    assert marks["open-set F-score"] == (True, False, False, True)
    assert marks["Youden's index"] == (True, False, False, True)
    assert marks["normalized accuracy"] == (
        True,
        False,
        False,
        True,
    )  # the paper has (P2) by definition; Prop. 2 did not
    assert marks["AUROC"] == (False, True, True, True)
    assert marks["OSCR curve"] == (True, True, True, False)
    assert marks["OpenAUC"] == (True, True, True, True)


def test_tied_pairs_are_counted():
    assert audit(Scores([0, 0, -2, -2], [0, 1, 0, 0], [0.0, 1.0, 1.0, 2.0])).tied_pairs == pytest.approx(1 / 4)


def test_float32_scores_and_thresholds_meet_exactly():
    labels, predictions, score = random_dataset(500, dtype=np.float32)
    for finding in audit(Scores(labels, predictions, score)).findings:
        if finding.construction == "Prop. 1":
            assert finding.after == pytest.approx(finding.before, abs=1e-12)


def test_the_second_construction_needs_more_caught_unknowns_than_lost_knowns():
    scores = Scores([0, 0, 0, -2], [0, 0, 0, 0], [0.1, 0.8, 0.9, 0.95])
    finding = by_name(audit(scores, threshold=0.5))["normalized accuracy"]
    assert finding.changed == 0
    assert "needs more caught unknowns than rejected knowns, found 1 and 2" in finding.sentence


def test_as_many_lost_knowns_as_caught_unknowns_leave_nothing_to_gain():
    scores = Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.8, 0.3, 0.95])
    finding = by_name(audit(scores, threshold=0.5))["normalized accuracy"]
    assert finding.changed == 0
    assert "found 1 and 1" in finding.sentence
