"""Every score against its formula, computed one sample at a time."""

import numpy as np
import pytest

import score_textbook as textbook
from openset.posthoc import SCORES, Outputs

OPTIONS = {
    "msp": [{}, {"temperature": 3.0}],
    "energy": [{}, {"temperature": 2.5}],
    "gen": [{}, {"gamma": 0.5, "top": 2}, {"top": 1}],
    "openmax": [{}, {"tail": 5, "top": 2}],
    "scale": [{}, {"top": 0.5}, {"top": 1.0}],
    "scaled_logit": [{}, {"top": 0.05}],
    "ash": [{"top": 0.35}, {"top": 0.35, "shape": "b"}, {"top": 0.35, "shape": "p"}, {}],
    "react": [{}, {"quantile": 0.5}],
    "dice": [{}, {"sparsity": 0.4}],
    "knn": [{}, {"k": 1}, {"k": 1000}],
    "nnguide": [{}, {"k": 1}],
    "vim": [{}, {"dim": 3}],
    "nci": [{}, {"alpha": 0.1}],
}
CASES = [pytest.param(name, one, id=f"{name}-{one}") for name in SCORES for one in OPTIONS.get(name, [{}])]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_equals_the_formula(name, options, training, tested):
    expected = np.array(getattr(textbook, name)(tested, training, **options))
    found = SCORES[name].compute(tested, training, **options)
    compared = np.isfinite(expected)
    assert compared.mean() > 0.5
    # The formulas lose digits where a probability is near 1.
    np.testing.assert_allclose(found[compared], expected[compared], rtol=1e-9, atol=1e-11)


def test_postmax_keeps_the_order_of_its_quotient_where_the_distribution_says_nothing(training, tested):
    logits = tested.logits + np.linspace(-60, 60, len(tested.logits))[:, None]
    quotient = logits.max(axis=1) / np.linalg.norm(tested.features, axis=1)
    found = SCORES["postmax"].compute(Outputs(logits=logits, features=tested.features), training)
    assert found.min() < 0.01
    assert found.max() > 1  # below the start of the distribution
    np.testing.assert_array_equal(np.argsort(found), np.argsort(-quotient))
    assert len(set(found.tolist())) == len(found)
