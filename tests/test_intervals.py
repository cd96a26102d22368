import tracemalloc
from hashlib import sha256
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings

import textbook
from openset import Scores
from openset._core.alignment import align
from openset._core.resampling import Request, bootstrap_values, draw_weights, evaluator
from openset.errors import OpenSetError
from openset.intervals import bootstrap, compare, delong, over_splits
from openset.metrics import METRICS
from openset.posthoc import softmax
from samples import datasets, random_dataset

exact = lambda value: pytest.approx(value, rel=1e-10, abs=1e-12)  # noqa: E731


def simulated(rng, theta, accuracy, n=200):
    """Knowns right with probability `accuracy`, scores normal, so that the true OpenAUC is `theta`."""
    gap = 2**0.5 * NormalDist().inv_cdf(theta / accuracy)
    labels = np.r_[np.zeros(n, int), np.full(n, -2)]
    predictions = np.r_[(rng.random(n) >= accuracy).astype(int), np.zeros(n, int)]
    return Scores(labels, predictions, np.r_[rng.standard_normal(n), rng.standard_normal(n) + gap])


@given(datasets())
def test_delong_variance_equals_the_matrix_of_pairs(data):
    for metric, right_only in (("open_auc", True), ("auroc", False)):
        found = delong(Scores(*data), metric)
        assert found.value == exact(textbook.pair_mean(*data, right_only=right_only))
        expected = textbook.delong_variance(*data, right_only)
        if found.method == "delong":
            assert found.sd**2 == exact(expected)
        else:
            assert found.value in (0.0, 1.0) or sum(label >= 0 for label in data[0]) in (1, len(data[0]) - 1)
        assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(("theta", "accuracy"), [(0.6, 0.8), (0.8, 0.9), (0.95, 0.97)])
def test_intervals_cover_the_truth_as_often_as_they_say(theta, accuracy):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        found = delong(simulated(rng, theta, accuracy))
        covered += found.low <= theta <= found.high
    assert 0.93 <= covered / 2000 <= 0.97


def test_perfect_separation_has_an_exact_lower_bound():
    found = delong(Scores([0] * 30 + [-2] * 50, [0] * 80, np.arange(80.0)))
    assert (found.value, found.high, found.method) == (1.0, 1.0, "exact")
    # 30 pairs without a common sample, all right: 0.05 = low ** 30
    assert found.low**30 == exact(0.05)
    worst = delong(Scores([0] * 30 + [-2] * 50, [0] * 80, -np.arange(80.0)))
    assert (worst.value, worst.low) == (0.0, 0.0)
    assert (1 - worst.high) ** 30 == exact(0.05)


@given(datasets(max_size=16))
@settings(max_examples=30)
def test_a_reweighted_evaluation_equals_the_evaluation_of_the_resample(data):
    labels, predictions, score = (np.array(part) for part in data)
    scores = Scores(labels, predictions, score, softmax(np.eye(4)[predictions]))
    requests = [Request(card, params) for card in METRICS.values() for params in card.variants]
    values = evaluator(scores, requests)
    weights = draw_weights(scores, 3, np.random.default_rng(0))
    for row in weights:
        rows = np.repeat(np.arange(len(labels)), row.astype(int))
        resample = Scores(labels[rows], predictions[rows], score[rows], scores.probabilities[rows])
        expected = evaluator(resample, requests)(None)
        np.testing.assert_allclose(values(row), expected, atol=1e-12)


def test_resamples_keep_the_number_of_each_kind():
    labels, predictions, score = random_dataset(300)
    weights = draw_weights(Scores(labels, predictions, score), 20, np.random.default_rng(0))
    for kind in (labels >= 0, labels == -1, labels == -2):
        assert (weights[:, kind].sum(axis=1) == kind.sum()).all()
    assert 0.9 < weights.var() < 1.1  # each sample's count is about Poisson(1)


def test_many_samples_are_drawn_in_smaller_parts_and_the_same():
    scores = Scores(*random_dataset(60_000))
    expected = [sha256(row).digest() for row in draw_weights(scores, 70, np.random.default_rng(3))]
    drawn, steps = [], []
    tracemalloc.start()
    bootstrap_values(
        [lambda weights: drawn.append(sha256(weights).digest()) or np.zeros(1)],
        scores,
        n_resamples=70,
        seed=3,
        progress=steps.append,
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert drawn == expected
    assert sum(steps) == 70
    assert peak < 70e6  # 64 at once take 92 MB


def test_bootstrap_agrees_with_delong_where_both_apply_and_is_repeatable():
    scores = Scores(*random_dataset(1500, seed=4))
    a, b = delong(scores), bootstrap(scores, n_resamples=800)
    assert b.value == exact(a.value)
    assert b.sd == pytest.approx(a.sd, rel=0.1)
    assert bootstrap(scores, "ccr_at_fpr", fpr=0.1) == bootstrap(scores, "ccr_at_fpr", fpr=0.1)
    assert bootstrap(scores, seed=1, n_resamples=50) != bootstrap(scores, seed=2, n_resamples=50)


def few_of_each_class(n_classes, each, wrong):
    """`each` samples of every class, `wrong` of all misclassified, and forty perfectly rejected unknowns."""
    labels = np.repeat(np.arange(n_classes), each)
    predictions = labels.copy()
    at = np.random.default_rng(0).permutation(len(labels))[:wrong]
    predictions[at] = (predictions[at] + 1) % n_classes
    return Scores(
        np.r_[labels, [-2] * 40], np.r_[predictions, [0] * 40], np.r_[np.full(len(labels), 0.1), np.full(40, 0.9)]
    )


def test_few_samples_of_each_class_do_not_make_a_value_surer():
    scores = few_of_each_class(100, 2, wrong=80)
    binomial = (0.6 * 0.4 / 200) ** 0.5
    assert bootstrap(scores, "closed_set_accuracy").sd == pytest.approx(binomial, rel=0.1)
    assert bootstrap(few_of_each_class(100, 50, wrong=2000), "closed_set_accuracy").sd == pytest.approx(
        (0.6 * 0.4 / 5000) ** 0.5, rel=0.1
    )


def test_one_sample_of_each_class_says_nothing():
    first, second = few_of_each_class(40, 1, wrong=18), few_of_each_class(40, 1, wrong=20)
    found = compare(first, second, "closed_set_accuracy")
    assert (found.difference.low, found.difference.high, found.p_value) == (-1, 1, 1)
    assert (found.first.low, found.first.high, found.first.method) == (0, 1, "exact")


def test_an_accuracy_of_one_has_an_exact_lower_bound():
    scores = Scores([0] * 20 + [1] * 10 + [-2] * 5, [0] * 20 + [1] * 10 + [0] * 5, np.arange(35.0))
    found = bootstrap(scores, "closed_set_accuracy")
    assert (found.high, found.low**30) == (1.0, exact(0.05))
    balanced = bootstrap(scores, "closed_set_accuracy", balanced=True)
    assert balanced.low**20 == exact(0.05)  # ten of each class
    missing = Scores([0, 0, -2, -2], [1, 1, 0, 0], np.arange(4.0))  # no sample of class 1
    assert bootstrap(missing, "closed_set_accuracy", balanced=True).high == 1.0


def test_both_models_are_measured_among_the_same_classes():
    labels, predictions, score = [0, 1, 2] * 20 + [-2] * 20, [0, 1, 2] * 20 + [0] * 20, [0.1] * 60 + [0.9] * 20
    stray = Scores(labels, [*predictions[:-1], 9], score)  # on one rejected unknown
    assert compare(Scores(labels, predictions, score), stray, "open_set_f_score").difference.value == 0


def test_groups_must_agree_and_the_number_of_samples_does():
    def grouped(names):
        groups = ["", "", *names]
        return Scores([0, 0, -2, -2, -2, -2], [0] * 6, [0.1, 0.2, 0.3, 0.4, 0.15, 0.05], groups=groups)

    with pytest.raises(OpenSetError, match="row 2 is in group 'easy' in the first and 'hard' in the second"):
        compare(grouped(["easy", "easy", "hard", "hard"]), grouped(["hard", "easy", "hard", "hard"]))
    same = [grouped(["easy", "easy", "hard", "hard"])] * 2
    assert [compare(*same, metric, against="easy").n for metric in ("open_auc", "aurc")] == [4, 4]


def test_paired_comparison_equals_delong_by_hand():
    labels, predictions, score = random_dataset(300, seed=5)
    first = Scores(labels, predictions, score)
    second = Scores(labels, predictions, score + np.random.default_rng(0).standard_normal(300))
    found = compare(first, second)
    known, is_open = labels >= 0, labels < 0

    def components(scores):
        right = (scores.labels == scores.predictions)[known]
        k, u = scores.unknown_score[known], scores.unknown_score[is_open]
        kernel = right[:, None] * ((u > k[:, None]) + 0.5 * (u == k[:, None]))
        return kernel.mean(axis=1), kernel.mean(axis=0)

    (ka, ua), (kb, ub) = components(first), components(second)
    variance = (ka - kb).var(ddof=1) / known.sum() + (ua - ub).var(ddof=1) / is_open.sum()
    assert found.difference.value == exact(ka.mean() - kb.mean())
    assert found.difference.sd == exact(variance**0.5)
    assert found.p_value == exact(2 * NormalDist().cdf(-abs(found.difference.value) / variance**0.5))
    assert found.difference.low < found.difference.value < found.difference.high


def test_options_that_are_the_defaults_change_nothing():
    labels, predictions, score = random_dataset(50)[:3]
    first, second = Scores(labels, predictions, score), Scores(labels, predictions, score**3)
    assert compare(first, second, balanced=False).difference == compare(first, second).difference


def test_the_paired_test_rejects_a_true_null_as_often_as_it_says():
    rng = np.random.default_rng(0)
    rejections = 0
    for _ in range(1000):
        labels = np.r_[np.zeros(60, int), np.full(60, -2)]
        signal = rng.standard_normal(120) + (labels < 0)
        models = [Scores(labels, np.zeros(120, int), signal + rng.standard_normal(120)) for _ in range(2)]
        rejections += compare(*models).p_value < 0.05
    assert 0.035 <= rejections / 1000 <= 0.065


def test_a_bootstrap_p_value_is_never_zero():
    labels = [0] * 40 + [-2] * 40
    perfect, useless = (Scores(labels, [0] * 80, sign * np.arange(80.0)) for sign in (1, -1))
    assert compare(perfect, useless, "ccr_at_fpr", fpr=0.1, n_resamples=99).p_value == exact(2 * 1 / 100)


def test_comparing_a_model_with_itself_finds_nothing():
    scores = Scores(*random_dataset(200))
    for metric, params in (("open_auc", {}), ("ccr_at_fpr", {"fpr": 0.1}), ("open_auc", {"balanced": True})):
        found = compare(scores, scores, metric, n_resamples=50, **params)
        assert (found.difference.value, found.difference.low, found.difference.high, found.p_value) == (0, 0, 0, 1)


def test_samples_are_joined_by_id():
    labels, predictions, score = random_dataset(50)
    ids = np.array([f"image {i}" for i in range(50)])
    order = np.random.default_rng(0).permutation(50)
    first = Scores(labels, predictions, score, ids=ids)
    second = Scores(labels[order], predictions[order], score[order], ids=ids[order])
    _, aligned = align(first, second)
    np.testing.assert_array_equal(aligned.unknown_score, first.unknown_score)
    assert compare(first, second).difference.value == 0
    other = Scores(labels, predictions, score, ids=np.char.add("x", ids))
    with pytest.raises(OpenSetError, match="50 ids occur only in the first and 50 only in the second"):
        compare(first, other)


def test_different_samples_cannot_be_compared():
    first = Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3])
    with pytest.raises(OpenSetError, match="not run on the same samples: 3 and 2"):
        compare(first, Scores([0, -2], [0, 1], [0.1, 0.2]))
    with pytest.raises(OpenSetError, match="row 0 has label 0 in the first and 1 in the second"):
        compare(first, Scores([1, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3]))
    named = [Scores([label, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3], ids=["a", "b", "c"]) for label in (0, 1)]
    with pytest.raises(
        OpenSetError, match=r"agree on what is true: 'a' has label 0 in the first and 1 in the second\.$"
    ):
        compare(*named)


def test_over_splits_is_the_student_interval():
    from scipy.stats import t

    values = [0.91, 0.93, 0.90, 0.94, 0.92]
    found = over_splits(values)
    assert (found.value, found.sd) == (exact(np.mean(values)), exact(np.std(values, ddof=1)))
    low, high = t.interval(0.95, 4, loc=found.value, scale=found.sd / 5**0.5)
    assert (found.low, found.high) == (exact(low), exact(high))
    with pytest.raises(OpenSetError, match="two or more values, got 1"):
        over_splits([0.9])


def test_seeds_of_a_split_are_one_observation():
    values, splits = [0.91, 0.93, 0.90, 0.94, 0.92, 0.98], [0, 0, 1, 1, 4, 4]
    found, means = over_splits(values, splits=splits), over_splits([0.92, 0.92, 0.95])
    assert (found.value, found.low, found.high) == (exact(means.value), exact(means.low), exact(means.high))
    assert found.sd == exact(np.std([0.92, 0.92, 0.95], ddof=1))
    # A split with more seeds does not count more.
    assert over_splits([0.1, 0.3, 0.8], splits=["a", "a", "b"]).value == exact(0.5)
    assert over_splits(values, splits=range(6)) == over_splits(values)
    assert over_splits(values, splits=[3] * 6) == over_splits(values)  # nothing but seeds to tell from
    with pytest.raises(OpenSetError, match="values 6, splits 2"):
        over_splits(values, splits=[0, 1])


def test_wrong_requests_say_what_to_do():
    scores = Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3])
    with pytest.raises(OpenSetError, match="works for 'open_auc' and 'auroc', not for 'aurc'; use bootstrap"):
        delong(scores, "aurc")
    with pytest.raises(OpenSetError, match="Did you mean 0.95"):
        delong(scores, level=95)
    with pytest.raises(OpenSetError, match="no metric named 'opne_auc'. Did you mean 'open_auc'"):
        bootstrap(scores, "opne_auc")
    with pytest.raises(OpenSetError, match="carry no probabilities"):
        bootstrap(scores, "brier_score")
    for metric in ("aurc", "open_auc"):
        for wrong in (0, 1, -5):
            with pytest.raises(OpenSetError, match=f"compare: 'n_resamples' must be at least 2, got {wrong}"):
                compare(scores, scores, metric, n_resamples=wrong)
    with pytest.raises(OpenSetError, match="bootstrap: 'n_resamples' must be at least 2, got 0"):
        bootstrap(scores, n_resamples=0)


def test_samples_of_one_model_alone_are_named_the_first_of_them():
    first, second = (Scores([0, 0, -2, -2], [0] * 4, [0.1, 0.2, 0.8, 0.9], ids=list(ids)) for ids in ("abcd", "abef"))
    with pytest.raises(OpenSetError, match="2 ids occur only in the first and 2 only in the second, 'c' for example"):
        compare(first, second)
