import numpy as np
import pytest

from openset.metrics import known_precision
from openset.operating import Threshold, at_acceptance, at_fpr, best_f
from openset.results.views import steps_of


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("n_steps", [1001, 60])
def test_every_number_is_the_cores(make_scores, decimals, n_steps):
    scores = make_scores(decimals=decimals, groups=True)
    steps = steps_of(scores, n_steps=n_steps)
    assert len(steps) <= n_steps
    assert set(steps.fpr) == {"all", "negative", "unknown", "easy", "hard"}
    for step in range(1, len(steps), 7):
        threshold = float(steps.thresholds[step])
        found = Threshold(threshold, "", {}, 0).apply(scores)
        assert steps.acceptance[step] == found["acceptance"]
        assert steps.ccr[step] == pytest.approx(found["ccr"], abs=1e-15)
        assert steps.accuracy[step] == pytest.approx(found.get("accuracy_on_accepted", np.nan), nan_ok=True)
        assert [steps.fpr[part][step] for part in ("all", "negative", "unknown")] == pytest.approx(
            [found["fpr"], found["fpr_negative"], found["fpr_unknown"]]
        )
        for place, share in enumerate(steps.unknown_shares):
            for part in ("all", "hard"):
                expected = known_precision(
                    scores.labels,
                    scores.predictions,
                    scores.unknown_score,
                    threshold=threshold,
                    unknown_share=share,
                    against=part,
                    groups=scores.groups,
                    zero_division=0.0,
                )
                found_precision = steps.precision[part][place, step]
                assert (0.0 if np.isnan(found_precision) else found_precision) == pytest.approx(expected)


def test_it_runs_from_rejecting_all_to_accepting_all(make_scores):
    steps = steps_of(make_scores(n=5000))
    assert steps.thresholds[0] == -np.inf
    assert np.isnan(steps.accuracy[0])
    assert steps.acceptance[-1] == steps.fpr["all"][-1] == 1
    assert len(steps) > 900
    assert (np.diff(steps.thresholds[1:]) > 0).all()
    # No stretch of the ROC curve is skipped: a step never moves farther than two of the 1,001 even steps.
    assert (np.diff(steps.acceptance + steps.fpr["all"])).max() < 2 * 2 / 990


@pytest.mark.parametrize("n_steps", [1001, 60])
def test_named_steps_are_those_of_the_rules(make_scores, n_steps):
    scores = make_scores(n=3000)
    steps = steps_of(scores, n_steps=n_steps)
    rules = {
        "at_acceptance=0.95": at_acceptance(scores, 0.95),
        "at_fpr=0.1": at_fpr(scores, 0.1),
        "at_fpr=0.01": at_fpr(scores, 0.01),
        "best_f=macro": best_f(scores, "macro"),
    }
    for name, rule in rules.items():
        at = steps.marks[name]
        assert steps.acceptance[at] == rule.apply(scores)["acceptance"]
        assert steps.fpr["all"][at] == rule.apply(scores)["fpr"]
