"""Scores as people write them."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset._core.calls import parse_call, split_list
from openset.errors import OpenSetError
from openset.posthoc import SCORES, Outputs, ScoreSpec, fit, parse_score, parse_scores, score, score_text
from score_samples import make_outputs

LOGITS = Outputs(logits=np.array([[2.0, 0.0]]), name="a.npz")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("knn", ("knn", {})),
        (" knn ( k = 10 ) ", ("knn", {"k": 10})),
        ("gen(gamma=1e-1,top=5)", ("gen", {"gamma": 0.1, "top": 5})),
        ("ash(shape=b)", ("ash", {"shape": "b"})),
        ("ash(shape='b, c')", ("ash", {"shape": "b, c"})),
        ("vim(dim=none)", ("vim", {"dim": None})),
        ("x(a=true, b=False)", ("x", {"a": True, "b": False})),
        ("knn()", ("knn", {})),
    ],
)
def test_calls(text, expected):
    assert parse_call(text) == expected


@pytest.mark.parametrize(
    "text", ["", "knn(k=1", "knn k=1", "knn(1)", "knn(k=)", "knn(=1)", "knn(k=1))", "(k=1)", "a,b"]
)
def test_what_is_no_call(text):
    with pytest.raises(OpenSetError, match="not understood"):
        parse_call(text)


def test_an_option_twice():
    with pytest.raises(OpenSetError, match="the option 'k' twice"):
        parse_call("knn(k=1, k=2)")


def test_lists():
    assert split_list("msp,energy,'knn(k=10)'") == ["msp", "energy", "knn(k=10)"]
    assert split_list(' "a" , gen(gamma=1, top=2),') == ["a", "gen(gamma=1, top=2)"]
    with pytest.raises(OpenSetError, match="no partner"):
        split_list("knn(k=1, msp")


@given(st.text(max_size=30))
def test_whatever_is_written_is_a_score_or_one_sentence(text):
    with contextlib.suppress(OpenSetError):  # any other error is one of ours
        assert parse_scores(text, LOGITS).specs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("knn(kk=1)", "The score 'knn' has no parameter 'kk'. Did you mean 'k'?"),
        ("entropy(k=1)", "The score 'entropy' has no parameter 'k'. It has none."),
        ("gen(zzz=1)", "The score 'gen' has no parameter 'zzz'. Choose from: gamma, top."),
        ("kmn", "There is no score named 'kmn'. Did you mean 'knn'?"),
        ("knn(k=2.5)", "knn: 'k' must be at least 1, a whole number, got 2.5."),
        ("knn(k=true)", "knn: 'k' must be at least 1, a whole number, got True."),
        ("knn(k=many)", "knn: 'k' must be at least 1, a whole number, got 'many'."),
        ("energy(temperature=hot)", "energy: 'temperature' must be above 0, got 'hot'."),
        ("nci(alpha=-1)", "nci: 'alpha' must be at least 0, got -1."),
        ("react(quantile=90)", "react: 'quantile' must be in (0, 1), got 90. Did you mean 0.9?"),
        ("scale(top=85)", "scale: 'top' must be in (0, 1], got 85. Did you mean 0.85?"),
        ("ash(shape=x)", "ash: 'shape' cannot be 'x'. Choose from: b, p, s."),
        ("vim(dim=0)", "vim: 'dim' must be at least 1, a whole number, got 0."),
    ],
)
def test_wrong_parameters_are_named(text, message):
    with pytest.raises(OpenSetError) as caught:
        parse_score(text)
    assert str(caught.value) == message


def test_as_text_the_parameters_that_differ():
    assert str(parse_score("knn(k=50)")) == "knn"
    assert str(parse_score("gen(top=5, gamma=1)")) == "gen(gamma=1.0, top=5)"
    assert parse_score(str(parse_score("vim(dim=3)"))) == parse_score("vim(dim=3)")
    assert score_text({"name": "mine", "params": {"a": None, "b": 2}}) == "mine(a=none, b=2)"
    assert score_text({"name": "knn"}) == "knn"
    for name in SCORES:
        spec = ScoreSpec.of(name)
        assert (str(spec), parse_score(name)) == (name, spec)


def test_all_are_those_that_the_outputs_allow():
    training = make_outputs(0)
    found = parse_scores("all", LOGITS)
    assert {spec.name for spec in found.specs} == {"max_logit", "msp", "energy", "entropy", "margin", "gen"}
    assert found.left_out["openmax"] == "needs training outputs (--fit)"
    assert found.left_out["scale"] == "needs features, the last layer (weight and bias)"
    assert set(found.left_out) | {spec.name for spec in found.specs} == set(SCORES)
    everything = parse_scores("all", training, training)
    assert {spec.name for spec in everything.specs} == set(SCORES)
    assert not everything.left_out
    some = Outputs(features=training.features, labels=training.labels)
    assert parse_scores("all", training, some).left_out["openmax"] == "needs logits for training"
    assert [str(spec) for spec in parse_scores("knn(k=1),knn,knn(k=1)", training, training).specs] == [
        "knn(k=1)",
        "knn",
    ]
    with pytest.raises(OpenSetError, match="No score is named"):
        parse_scores(" , ", LOGITS)


def test_a_score_that_the_file_does_not_allow_says_which_it_does():
    with pytest.raises(OpenSetError) as caught:
        parse_scores("msp,vim", LOGITS)
    assert str(caught.value) == (
        "The score 'vim' needs features, and a.npz has none (array 'features', or columns feature_0, ...). Scores that "
        "work with it: energy, entropy, gen, margin, max_logit, msp. With training outputs (--fit) also: kl_matching, "
        "openmax."
    )
    training = make_outputs(0)
    headless = Outputs(training.logits, training.features, labels=training.labels, name="b.npz")
    with pytest.raises(OpenSetError, match="'scale' needs the last layer, and b.npz lacks it .NPZ arrays 'weight'"):
        score(headless, "scale")
    with pytest.raises(OpenSetError, match="'knn' needs features, and b.npz has none"):
        score(training, "knn", Outputs(training.logits, labels=training.labels, name="b.npz"))
    with pytest.raises(OpenSetError, match="'knn' needs features, and b.npz has none"):
        fit("knn", Outputs(training.logits, labels=training.labels, name="b.npz"))


def test_rows_without_a_number_are_named(tmp_path):
    from openset.scores import Scores

    logits = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]])
    np.savez(tmp_path / "l.npz", labels=[0, 1, -2], logits=logits)
    with pytest.raises(OpenSetError, match="l.npz: 'logits' has a NaN or infinite value in row 1"):
        Scores.read(tmp_path / "l.npz", score="gen")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ((np.ones((4, 3)), None), "takes 3 features and there are 20: is it of another network"),
        ((np.ones((3, 20)), None), "has 3 classes and its logits 4: is it of another network"),
        ((np.ones((4, 20)), np.ones(3)), "has 4 rows of weights and a bias of 3: they must agree"),
        ((np.ones((4, 20)), np.ones(4)), "does not make its logits from its features: .* in place of .* in row"),
        ((np.full((4, 20), np.nan), None), "'weight' has a NaN or infinite value in row 0"),
    ],
)
def test_a_head_that_is_not_the_networks_own(head, message):
    given = make_outputs(0)
    with pytest.raises(OpenSetError, match=message):
        score(Outputs(given.logits, given.features, labels=given.labels, head=head), "scale")


def test_a_head_in_half_precision_passes():
    given = make_outputs(0)
    rough = Outputs(
        given.logits.astype(np.float16), given.features.astype(np.float16), labels=given.labels, head=given.head
    )
    np.testing.assert_allclose(score(rough, "scale"), score(given, "scale"), rtol=0.05)


def test_the_background_column_takes_no_part_in_a_head():
    given = make_outputs(0)
    weight, bias = given.head
    more = Outputs(
        np.c_[given.logits, np.full(len(given.labels), 50.0)],
        given.features,
        labels=given.labels,
        background=True,
        head=(np.r_[weight, np.ones((1, 20))], np.r_[bias, 9.0]),
    )
    for name in SCORES:
        if name != "msp":  # a probability, of which the background has its share
            np.testing.assert_allclose(score(more, name, more), score(given, name, given), rtol=1e-12, err_msg=name)
