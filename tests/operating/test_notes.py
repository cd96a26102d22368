import numpy as np
import pytest

from openset import Scores
from openset._core.numbers import percent
from openset.operating import Threshold, at_acceptance, at_fpr, choose, conformal
from openset.operating.notes import notes_on_unlabelled


def separated(n_known, n_open, gap, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.r_[np.zeros(n_known, dtype=int), np.full(n_open, -2)]
    return Scores(labels, np.zeros_like(labels), np.r_[rng.normal(size=n_known), rng.normal(size=n_open) + gap])


def test_a_threshold_that_works_has_no_notes():
    frozen = at_acceptance(separated(200, 200, 4.0), 0.95)
    assert frozen.notes == []
    assert frozen.apply(separated(200, 200, 4.0, seed=1)).notes == []


def test_a_threshold_that_does_nothing_is_told():
    scores = separated(200, 200, 0.1)
    frozen = at_acceptance(scores, 0.95)
    (note,) = frozen.notes
    assert note.startswith(
        f"The threshold accepts {percent(frozen.achieved['fpr'])} of the open-set samples that it was"
    )
    assert "rejects next to nothing" in note
    assert "at_fpr=0.1" in note
    (note,) = frozen.apply(separated(200, 200, 0.1, seed=1)).notes
    assert "of the open-set samples here: it rejects next to nothing" in note


@pytest.mark.parametrize(("acceptance", "fpr", "told"), [(0.95, 0.9, True), (0.95, 0.899, False), (0.95, None, False)])
def test_nearly_all_is_nine_tenths(acceptance, fpr, told):
    achieved = {"acceptance": acceptance, **({} if fpr is None else {"fpr": fpr})}
    assert bool(Threshold(0.5, "", achieved, 500).notes) == told


@pytest.mark.parametrize(("acceptance", "fpr", "told"), [(0.6, 0.6, True), (0.6, 0.7, True), (0.6, 0.59, False)])
def test_a_threshold_that_prefers_unknowns_is_told(acceptance, fpr, told):
    notes = Threshold(0.5, "", {"acceptance": acceptance, "fpr": fpr}, 500).notes
    assert bool(notes) == told
    if told:
        assert f"accepts {percent(fpr)} of the open-set samples and 60.0\u00a0% of the knowns" in notes[0]
        assert "points the wrong way" in notes[0]


def test_a_threshold_that_rejects_nearly_everything_is_told():
    scores = separated(200, 200, 0.0)
    (note,) = at_fpr(scores, 0.0).notes
    assert note.startswith("The threshold rejects 100.0\u00a0% of the knowns that it was chosen on")
    assert "nearly everything becomes unknown" in note
    elsewhere = at_acceptance(scores, 0.95).apply(Scores(scores.labels, scores.predictions, scores.unknown_score + 99))
    assert elsewhere["acceptance"] == 0
    assert "rejects 100.0\u00a0% of the knowns here" in elsewhere.notes[0]


def test_few_knowns_are_told_whatever_the_rule():
    few, enough = separated(99, 300, 4.0), separated(100, 300, 4.0)
    for rule in ("at_acceptance=0.95", "at_fpr=0.1", "conformal=0.05"):
        assert any("chosen on only 99 knowns: the " in note for note in choose(few, rule).notes)
        assert choose(enough, rule).notes == []
    (note,) = at_acceptance(few, 0.95).notes
    assert "the 96.0\u00a0% of them that it accepts may be anything from 90.0\u00a0% to 98.9\u00a0% of new ones" in note


def test_a_promise_that_only_accepting_everything_keeps_is_told():
    for dtype in (np.float32, np.float64):
        notes = conformal(Scores([0] * 5, [0] * 5, np.arange(5, dtype=dtype)), 0.05).notes
        assert notes[0].startswith("The threshold rejects nothing at all: there were too few knowns")


def test_many_rejected_samples_without_labels_raise_a_question():
    assert "6 of 6 are rejected" in notes_on_unlabelled(6, 6)[0]
    assert notes_on_unlabelled(9, 10)
    assert not notes_on_unlabelled(8, 10)
    assert notes_on_unlabelled(5, 5)
    assert not notes_on_unlabelled(4, 4)
