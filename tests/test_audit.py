import dataclasses

import numpy as np
import pytest
from hypothesis import given

import textbook
from openset import Scores
from openset.audit import audit
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
    assert "is also reached by a model that catches 0% of the unknowns instead of 100%" in finding.sentence


def test_a_small_move_is_told_with_figures_that_differ():
    finding = by_name(audit(Scores([0, 1, -2], [0, 0, 0], [0.1, 0.2, 0.3])))["AUROC"]
    small = dataclasses.replace(finding, changed=1, open_auc_before=0.9774, open_auc_after=0.9766)
    assert "OpenAUC falls from 0.9774 to 0.9766" in small.sentence


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
