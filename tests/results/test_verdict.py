import numpy as np
import pytest

from openset.evaluation import evaluate
from openset.intervals import compare
from openset.results.paired import Paired, against_best, holm
from openset.results.verdict import ranking, verdict
from openset.scores import Scores


def ranked(quality, seed=0, n=400):
    rng = np.random.default_rng(5)
    labels = np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), -2)
    own = np.random.default_rng(seed)
    predictions = np.where((labels >= 0) & (own.random(n) < 0.95), labels, 0)
    return Scores(labels, predictions, own.normal(size=n) + quality * (labels < 0))


def told(scores, names, **options):
    evaluations = [evaluate(one, n_resamples=50) for one in scores]
    best = ranking(evaluations)[0]
    tests = against_best(names, scores, best)
    return verdict(names, evaluations, best, tests, **options), evaluations, tests


def test_one_model_is_summed_up_with_intervals():
    (first, second, third), evaluations, _ = told([ranked(3.0)], ["ours"])
    found = evaluations[0].find("open_auc")
    assert f"{found.value:.3f}"[1:] in first
    assert f"[{found.low:.3f}, {found.high:.3f}]".replace("0.", ".") in first
    assert "weaker side" in second
    caught = 1 - evaluations[0].find("fpr_at_tpr", positive="known").value
    assert f"catches {100 * caught:.1f}\u00a0%" in third


def test_a_model_without_mistakes_has_no_weaker_side():
    (_, second, _), _, _ = told([Scores([0, 1, 0, 1, -2, -2], [0, 1, 0, 1, 0, 0], [0, 0.1, 0, 0.1, 1, 2])], ["ours"])
    assert second.endswith("(AUROC).")


def test_a_clear_winner_is_called_one():
    sentences, _, tests = told([ranked(0.5), ranked(3.0, 1)], ["weak", "strong"])
    assert sentences[0].startswith("strong is the best of 2 models")
    assert "better than weak" in sentences[3]
    assert "p\u00a0<\u00a0.001" in sentences[3]
    assert all(test.first == "strong" for test in tests)


def test_what_cannot_be_told_apart_is_said():
    sentences, _, _ = told([ranked(2.0), ranked(2.0, 1)], ["a", "b"])
    assert "cannot be told apart" in sentences[3]


def test_models_on_other_samples_are_not_paired():
    other = Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3])
    sentences, _, tests = told([ranked(2.0), other], ["a", "b"])
    assert tests == []
    assert "not run on the same samples" in sentences[3]


def test_nothing_is_said_of_tests_that_were_not_made():
    weak, strong = ranked(0.5), ranked(3.0, 1)
    evaluations = [evaluate(one, n_resamples=20) for one in (weak, strong)]
    found = compare(weak, strong, "auroc")
    for tests in (None, [Paired("weak", "strong", found, found.p_value)]):
        printed = verdict(["weak", "strong"], evaluations, 1, tests)
        assert "same samples" not in " ".join(printed)


def test_the_sign_follows_the_better_model_whichever_comes_first():
    weak, strong = ranked(0.5), ranked(3.0, 1)
    evaluations = [evaluate(one, n_resamples=20) for one in (weak, strong)]
    found = compare(weak, strong)
    paired = Paired("weak", "strong", found, found.p_value)
    sentence = verdict(["weak", "strong"], evaluations, 1, [paired])[3]
    assert "better than weak" in sentence
    assert "(+." in sentence


def test_negatives_and_unknowns_are_told_apart(make_scores):
    scores = make_scores(n=4000)
    evaluation = evaluate(scores, n_resamples=20)
    sentence = verdict(["m"], [evaluation], 0, [])[-1]
    assert "Negatives, seen in training" in sentence
    assert "does not fully carry over" in sentence


@pytest.mark.parametrize(("given", "expected"), [([0.2], [0.2]), ([0.01, 0.02], [0.02, 0.02]), ([0.6, 0.7], [1, 1])])
def test_holm(given, expected):
    assert holm(given) == pytest.approx(expected)
