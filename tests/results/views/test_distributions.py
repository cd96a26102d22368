import numpy as np
import pytest

from openset._core.resampling import Request, draw_weights, evaluator, restore_spread, spread_correction
from openset.errors import OpenSetError
from openset.metrics import METRICS
from openset.results.views import oscr_band, probability_histogram, risk_curve, score_histogram
from openset.scores import Scores


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


@pytest.mark.parametrize("scores", [[0.3, 0.3, 0.1 + 0.2], [-1e308, 0.0, 1e308], [1.7e308] * 3, [0.0, 0.0, 5e-324]])
def test_every_bin_has_a_finite_width(scores):
    made = score_histogram(Scores([0, 1, -2], [0, 1, 0], scores))
    widths = np.diff(made.edges)
    assert np.isfinite(widths).all()
    assert (widths > 0).all()
    assert [share.sum() for share in made.shares.values()] == pytest.approx([1, 1])


def test_probability_histogram_needs_probabilities(make_scores):
    with pytest.raises(OpenSetError, match="carry no probabilities"):
        probability_histogram(make_scores())
    made = probability_histogram(make_scores(probabilities=True))
    assert made.edges[[0, -1]].tolist() == [0, 1]


def test_the_band_holds_the_quantiles_of_ccr_at_each_fpr(make_scores):
    scores = make_scores(n=500)
    band = oscr_band(scores, against="unknown", n_resamples=32, level=0.8, seed=3)
    resamples = draw_weights(scores, 32, np.random.default_rng(3))
    for at in (5, 100, 190):
        values = evaluator(scores, [Request(METRICS["ccr_at_fpr"], {"fpr": float(band.fpr[at])}, "unknown")])
        found = np.array([values(weights)[0] for weights in resamples])
        expected = np.quantile(restore_spread(found, spread_correction(scores, "unknown")), [0.1, 0.9])
        assert [band.low[at], band.high[at]] == pytest.approx(expected)


def test_a_band_needs_resamples(make_scores):
    with pytest.raises(OpenSetError, match="oscr_band: 'n_resamples' must be at least 2, got 0"):
        oscr_band(make_scores(), n_resamples=0)


def test_risk_of_accepting_everything_is_the_mix_that_arrives(make_scores):
    scores = make_scores(n=500)
    known = scores.labels >= 0
    wrong = (scores.predictions != scores.labels)[known].mean()
    curve = risk_curve(scores, unknown_share=0.3)
    assert curve.acceptance[-1] == 1
    assert curve.unknown[-1] == pytest.approx(0.3)
    assert curve.misclassified[-1] == pytest.approx(0.7 * wrong)
