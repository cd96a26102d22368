"""Scores that a user adds: a function in a file that is named, or a card of their own."""

import numpy as np
import pytest

from openset._core.plugins import resolve
from openset.errors import OpenSetError
from openset.posthoc import SCORES, Outputs, Score, adopt_score, score


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = dict(SCORES._entries)

    def write(text):
        (tmp_path / "my.py").write_text(text, encoding="utf-8")

    yield write
    SCORES._entries.clear()
    SCORES._entries.update(before)


def test_a_function_in_a_file_is_a_score_with_parameters(own):
    own(
        "def spread(logits, features, *, power=2):\n"
        '    "Minus the spread of the logits."\n'
        "    return -logits.std(axis=1) ** power - features[:, 0]\n"
    )
    assert resolve("my.py:spread(power=1)", SCORES) == "spread(power=1)"
    logits, features = np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[5.0], [7.0]])
    outputs = Outputs(logits=logits, features=features)
    assert score(outputs, "spread(power=1)").tolist() == [-6.0, -7.0]
    assert score(outputs, "spread").tolist() == [-6.0, -7.0]
    card = SCORES["spread"]
    assert (card.needs, card.summary) == (("logits", "features"), "Minus the spread of the logits")
    with pytest.raises(OpenSetError, match="'spread' needs features"):
        score(Outputs(logits=logits), "spread")
    with pytest.raises(OpenSetError, match="has no parameter 'powr'. Did you mean 'power'?"):
        score(outputs, "spread(powr=1)")


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (3, "this is not a score"),
        (lambda x: x, "function of 'logits', 'features' or both"),
        (lambda logits, **more: logits, "function of 'logits', 'features' or both"),
        (lambda logits, *, k: logits, "its parameter 'k' has no default"),
    ],
)
def test_what_is_no_score(thing, message):
    with pytest.raises(OpenSetError, match=message):
        adopt_score("mine", thing)


def test_a_card_is_taken_as_it_is():
    assert adopt_score("other", SCORES["knn"]) is SCORES["knn"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2)), r"must give one number per sample, 2, and gave an array of float64 of shape \(2, 2\)"),
        (np.array(["a", "b"]), "and gave an array of <U1"),
        (np.array([1.0, np.nan]), "of the file is nan in row 1, no number"),
    ],
)
def test_what_a_score_must_give(own, values, message):
    SCORES.add("odd", Score("odd", "Odd", "", ("logits",), "Odd.", lambda outputs, _: values))
    with pytest.raises(OpenSetError, match=message):
        score(Outputs(logits=np.zeros((2, 3))), "odd")
