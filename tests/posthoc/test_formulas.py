from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openset import posthoc
from openset.errors import OpenSetError
from openset.metrics import auroc
from openset.posthoc.scores.openmax import fit_weibull

PAIR = [[0.0], [1.0]]
rows = st.lists(st.lists(st.floats(-30, 30), min_size=3, max_size=3), min_size=1, max_size=8)


@given(rows)
def test_scores_of_logits_equal_their_formulas(values):
    logits = np.array(values)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posthoc.softmax(logits), p, atol=1e-12)
    np.testing.assert_array_equal(posthoc.max_logit(logits), -logits.max(axis=1))
    np.testing.assert_allclose(posthoc.msp(logits), 1 - p.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(posthoc.energy(logits), -np.log(np.exp(logits).sum(axis=1)), atol=1e-9)
    np.testing.assert_allclose(posthoc.entropy(logits), -(p * np.log(p)).sum(axis=1), atol=1e-9)
    ordered = np.sort(logits, axis=1)
    np.testing.assert_allclose(posthoc.margin(logits), ordered[:, -2] - ordered[:, -1], atol=1e-12)


def test_confident_samples_stay_apart():
    logits = np.array([[30.0, 0, 0], [40, 0, 0], [50, 0, 0], [400, 0, 0]])
    for function in (posthoc.msp, posthoc.max_logit, posthoc.energy, posthoc.entropy):
        assert (np.diff(function(logits)) < 0).all()


def exact_entropy(row):
    """The definition, with enough digits for probabilities as small as a float can be."""
    with localcontext(prec=700):
        gaps = [Decimal(value) - Decimal(max(row)) for value in row]
        total = sum(gap.exp() for gap in gaps)
        return float(total.ln() - sum(gap.exp() * gap for gap in gaps) / total)


@pytest.mark.parametrize("gap", [0, 1e-9, 0.5, 1, 20, 38.3, 45.1, 100.7, 700])
@pytest.mark.parametrize("row", [[0], [0, -1], [0, 0], [0, 0, 0, -3]])
def test_entropy_keeps_its_digits_however_confident(row, gap):
    row = [*row, -gap, -gap - 2]
    for logits in (row, row[::-1], [value + 8 for value in row]):
        assert posthoc.entropy([logits])[0] == pytest.approx(exact_entropy(logits), rel=1e-12, abs=0)


@given(st.lists(st.floats(-40, 40) | st.integers(-2, 2), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_entropy_equals_its_definition(row):
    assert posthoc.entropy([row])[0] == pytest.approx(exact_entropy(row), rel=1e-12, abs=0)


def test_entropy_of_logits_at_the_end_of_the_numbers():
    assert posthoc.entropy([[8e307, -8e307], [5, -1000]]).tolist() == [0, 0]
    with pytest.raises(OpenSetError, match="too large for the score 'entropy'"):
        posthoc.entropy([[1e308, -1e308]])


@pytest.mark.parametrize("name", list(posthoc.SCORES))
def test_every_score_ranks_unknown_digits_above_known_ones(name, digits):
    training, tested = digits
    options = {"ash": {"top": 0.8}, "dice": {"sparsity": 0.1}}  # pixels are not the activations that these are made for
    found = posthoc.SCORES[name].compute(tested, training, **options.get(name, {}))
    assert auroc(tested.labels, found) > 0.6


def test_mahalanobis_equals_the_textbook():
    rng = np.random.default_rng(0)
    train, labels = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)), rng.integers(0, 2, 200)
    means = [train[labels == c].mean(axis=0) for c in (0, 1)]
    centred = train - np.array(means)[labels]
    inverse = np.linalg.inv(centred.T @ centred / 200)
    test = rng.standard_normal((20, 3))
    expected = [min((x - m) @ inverse @ (x - m) for m in means) for x in test]
    np.testing.assert_allclose(posthoc.mahalanobis(test, fit_features=train, fit_labels=labels), expected)


def test_scaled_logit_equals_the_textbook():
    rng = np.random.default_rng(0)
    logits, features = rng.standard_normal((20, 3)), rng.standard_normal((20, 40))
    features[7] = -1.0  # nothing active
    expected = []
    for sample, activations in zip(logits, np.clip(features, 0, None), strict=True):
        largest = sum(sorted(activations)[-14:])  # 35 % of 40
        ratio = sum(activations) / largest if largest else 1.0
        expected.append(-max(sample) * np.exp(ratio))
    np.testing.assert_allclose(posthoc.scaled_logit(logits, features), expected, rtol=1e-13)
    np.testing.assert_allclose(posthoc.scaled_logit(logits, 5 * features), expected, rtol=1e-13)
    np.testing.assert_allclose(posthoc.scaled_logit(logits, features, top=1.0), np.e * posthoc.max_logit(logits))


def test_weibull_fit_agrees_with_scipy():
    from scipy.stats import weibull_min

    values = weibull_min.rvs(2.5, scale=3.0, size=(3, 500), random_state=0)
    values[1, 400:] = np.nan  # a shorter row
    values[2] = 7.0  # a step
    shape, scale = fit_weibull(values)
    for row, sample in ((0, values[0]), (1, values[1, :400])):
        expected, _, size = weibull_min.fit(sample, floc=0)
        assert (shape[row], scale[row]) == pytest.approx((expected, size), rel=1e-3)
    assert (shape[2], scale[2]) == pytest.approx((1e3, 7.0))


def test_negatives_in_the_training_outputs_are_left_out():
    features = np.array([[0.0, 1.0], [0.0, 1.1], [5.0, 0.0]])
    fit = posthoc.Outputs(labels=np.array([0, 0, -1]), features=features)
    test = posthoc.Outputs(features=np.array([[5.0, 0.0]]))
    assert posthoc.SCORES["knn"].compute(test, fit)[0] == pytest.approx(2**0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: posthoc.max_logit([1.0, 2.0]), "one row per sample"),
        (
            lambda: posthoc.max_logit([[1.0], [2.0, 3.0]]),
            "'logits' cannot be read as an array; rows must be of one length",
        ),
        (lambda: posthoc.max_logit(np.ma.array([[1.0, 2.0]], mask=[[True, False]])), "'logits' has masked entries"),
        (lambda: posthoc.max_logit([[1.0, np.nan]]), "NaN or infinite value in row 0"),
        (lambda: posthoc.margin([[1.0]]), "two or more known classes, got 1"),
        (lambda: posthoc.knn([[1.0]], fit_features=[[1.0]], k=0), "'k' must be at least 1"),
        (lambda: posthoc.openmax([[1.0, 0.0]], fit_logits=[[1.0, 0.0]], fit_labels=[0]), "class 1 has 0 correctly"),
        (lambda: posthoc.scaled_logit([[1.0]], [[1.0], [2.0]]), "logits of 1 samples and features of 2"),
        (lambda: posthoc.scaled_logit([[1.0]], [[1.0]], top=15), "Did you mean 0.15?"),
        (lambda: posthoc.Outputs().known(), "needs labels"),
        (lambda: posthoc.Outputs(labels=np.array([-2])).known(), "no known samples"),
    ],
)
def test_wrong_input_says_what_to_do(call, message):
    with pytest.raises(OpenSetError) as caught:
        call()
    assert message in str(caught.value)


def test_without_spread_there_is_no_distance():
    with pytest.raises(OpenSetError, match="mahalanobis: no class has training samples that differ"):
        posthoc.mahalanobis([[0.0, 0], [500, -500]], fit_features=[[0.0, 0], [9, 9]], fit_labels=[0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: posthoc.mahalanobis([[0.0]], fit_features=PAIR, fit_labels=[0]), "2 training samples and labels"),
        (lambda: posthoc.mahalanobis([[0.0]], fit_features=PAIR, fit_labels=[-2, -2]), "it has no known samples"),
        (lambda: posthoc.openmax([[0.0]], fit_logits=PAIR, fit_labels=[[0], [0]]), r"labels of shape \(2, 1\)"),
        (lambda: posthoc.openmax([[0.0]], fit_logits=PAIR, fit_labels=[0, 0], top=0), "'top' must be at least 1"),
        (lambda: posthoc.energy([[0.0]], temperature=0), "'temperature' must be above 0, got 0"),
    ],
)
def test_wrong_options_of_scores(call, message):
    with pytest.raises(OpenSetError, match=message):
        call()
