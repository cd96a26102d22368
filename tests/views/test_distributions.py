import numpy as np
import pytest

from openset.errors import OpenSetError
from openset.metrics import ccr_at_fpr
from openset.scores import Scores
from openset.views import oscr_band, probability_histogram, risk_curve, score_histogram


def test_each_kind_adds_up_to_one(make_scores):
    made = score_histogram(make_scores())
    assert list(made.shares) == ["known", "negative", "unknown"]
    for shares in made.shares.values():
        assert shares.sum() == pytest.approx(1)


def test_one_far_score_does_not_hide_the_rest():
    scores = Scores([0] * 2000 + [-2] * 2000, [0] * 4000, [*np.linspace(0, 1, 2000), *np.linspace(1, 2, 1999), 1e12])
    made = score_histogram(scores)
    assert made.edges[-1] < 3
    assert made.beyond > 0
    assert made.shares["unknown"].sum() == pytest.approx(1)


def test_equal_scores_still_have_a_histogram():
    made = score_histogram(Scores([0, -2], [0, 0], [3.0, 3.0]))
    assert made.edges[0] < 3 < made.edges[-1]
    assert made.shares["known"].sum() == 1


def test_probability_histogram_needs_probabilities(make_scores):
    with pytest.raises(OpenSetError, match="carry no probabilities"):
        probability_histogram(make_scores())
    made = probability_histogram(make_scores(probabilities=True))
    assert made.edges[[0, -1]].tolist() == [0, 1]


def test_the_band_surrounds_the_curve(make_scores):
    scores = make_scores(n=2000)
    band = oscr_band(scores, against="unknown", seed=1)
    for fpr in (0.01, 0.1, 0.5, 1.0):
        at = int(np.searchsorted(band.fpr, fpr, side="right")) - 1
        value = ccr_at_fpr(
            scores.labels, scores.predictions, scores.unknown_score, fpr=float(band.fpr[at]), against="unknown"
        )
        assert band.low[at] <= value <= band.high[at]
    assert (band.high - band.low).max() < 0.5
    wider = oscr_band(scores, against="unknown", seed=1, level=0.5)
    assert (wider.high - wider.low).sum() < (band.high - band.low).sum()


def test_risk_of_accepting_everything_is_the_mix_that_arrives(make_scores):
    scores = make_scores(n=500)
    known = scores.labels >= 0
    wrong = (scores.predictions != scores.labels)[known].mean()
    curve = risk_curve(scores, unknown_share=0.3)
    assert curve.acceptance[-1] == 1
    assert curve.unknown[-1] == pytest.approx(0.3)
    assert curve.misclassified[-1] == pytest.approx(0.7 * wrong)
