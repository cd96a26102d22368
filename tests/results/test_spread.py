import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.errors import OpenSetError
from openset.evaluation import evaluate
from openset.intervals import over_splits
from openset.results.spread import spread_of, spreads_of
from openset.results.views import GammaLog, TrainingLog
from openset.scores import Scores

values = st.lists(st.floats(0, 1), min_size=2, max_size=12)


@given(values, st.data())
def test_it_is_the_student_interval_of_the_means_of_the_splits(found, data):
    splits = data.draw(st.lists(st.integers(0, 3), min_size=len(found), max_size=len(found)))
    means = [np.mean([v for v, s in zip(found, splits, strict=True) if s == one]) for one in dict.fromkeys(splits)]
    observed = means if len(means) > 1 else found
    expected, spread = over_splits(observed), spread_of(found, splits)
    for name in ("value", "sd", "low", "high"):
        assert getattr(spread, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert spread.observed == pytest.approx(observed)
    assert (spread.n, spread.n_splits) == (len(found), len(means))


def test_one_run_has_a_mean_alone():
    found = spread_of([0.9], [0])
    assert (found.value, found.sd, found.low, found.high, found.text) == (0.9, None, None, None, ".900")
    with pytest.raises(OpenSetError, match="one value for each run"):
        spread_of([])


@pytest.mark.parametrize(
    ("splits", "words"),
    [([0, 1, 2, 3], "4 splits"), ([0, 0, 1, 1], "2 splits, 4 runs"), ([5, 5, 5, 5], "4 seeds"), (None, "4 splits")],
)
def test_what_the_mean_is_over_is_said(splits, words):
    assert spread_of([0.1, 0.2, 0.3, 0.4], splits).counted == words
    assert spread_of([0.1], [0]).counted == "1 split"


def test_metrics_that_one_run_lacks_have_no_spread():
    labels, predictions, scores = [0, 1, -1, -2], [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4]
    both = evaluate(Scores(labels, predictions, scores), intervals=False)
    unknowns = evaluate(Scores([0, 1, -2, -2], predictions, scores), intervals=False)
    found = spreads_of([both, unknowns], ["0", "1"])
    assert {one.against for one in found} == {"all"}
    assert {one.name for one in found} == {one.name for one in unknowns.results}
    first = found[0].as_json()
    assert list(first)[:4] == ["name", "params", "against", "value"]


def test_confidence_over_epochs_counts_a_split_once():
    logs = [TrainingLog([1.0], {"val_gamma_plus": [v], "val_gamma_minus": [v]}) for v in (0.2, 0.4, 0.9)]
    logs.append(TrainingLog([1.0], {"val_gamma_plus": [None], "val_gamma_minus": [None]}))
    assert GammaLog.mean(logs, [0, 0, 1, 1]).gamma_plus == pytest.approx([0.6])
    assert GammaLog.mean(logs).gamma_minus == pytest.approx([0.5])
