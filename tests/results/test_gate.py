import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.errors import OpenSetError
from openset.results.gate import Bar, Candidate, GateResult, check_bar, gate_summary, parse_bar


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open_auc>=0.9", ("open_auc", {}, None, None, ">=", 0.9)),
        (" open_auc.low >= .9 ", ("open_auc", {}, None, "low", ">=", 0.9)),
        ("auroc@letters<0.8", ("auroc", {}, "letters", None, "<", 0.8)),
        ("auroc.high@far away > 1e-3", ("auroc", {}, "far away", "high", ">", 0.001)),
        ("ccr_at_fpr(fpr=0.05)>=0.5", ("ccr_at_fpr", {"fpr": 0.05}, None, None, ">=", 0.5)),
        ("ece( bins = 5 , balanced=True ).low@x>=-1", ("ece", {"bins": 5, "balanced": True}, "x", "low", ">=", -1.0)),
        ("fpr(positive=unknown)<=1", ("fpr", {"positive": "unknown"}, None, None, "<=", 1.0)),
        ("fp_per_1000.high<=20", ("fp_per_1000", {}, None, "high", "<=", 20.0)),
        ("awi@0.3<=0.05", ("awi", {}, "0.3", None, "<=", 0.05)),
        ("auroc@near.low>=0.5", ("auroc", {}, "near.low", None, ">=", 0.5)),
    ],
)
def test_every_part_of_a_bar_is_read(text, expected):
    bar = parse_bar(text)
    assert (bar.name, dict(bar.params), bar.against, bar.end, bar.sign, bar.level) == expected
    assert bar.text == text.strip()
    assert type(bar.params.get("bins", 0)) is int


@pytest.mark.parametrize(
    "text",
    [
        "",
        "open_auc",
        "open_auc=>0.9",
        "open_auc==0.9",
        "open_auc>=",
        ">=0.9",
        "open_auc>=x",
        "open_auc>=nan",
        "open_auc>=1e",
        "open_auc>=inf",
        "open_auc>=true",
        "open_auc.mid>=0.9",
        "open_auc.>=0.9",
        "open_auc@>=0.9",
        "ccr(fpr)>=0.9",
        "ccr(0.1)>=0.9",
        "ccr(fpr=)>=0.9",
        "ccr(fpr=0.1,fpr=0.2)>=0.9",
        "ccr(fpr=0.1>=0.9",
    ],
)
def test_a_bar_that_cannot_be_read_is_one_sentence(text):
    with pytest.raises(OpenSetError, match="^--require ") as caught:
        parse_bar(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=40))
def test_no_text_ends_in_another_error(text):
    try:
        bar = parse_bar(text)
    except OpenSetError:
        return
    assert math.isfinite(bar.level)


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(OpenSetError, match="Did you mean 'awi'"):
        parse_bar("aw<=1", ["awi", "slope"])
    assert parse_bar("awi<=1", ["awi", "slope"]).name == "awi"


@pytest.mark.parametrize(
    ("sign", "below", "equal", "above"),
    [(">=", False, True, True), ("<=", True, True, False), (">", False, False, True), ("<", True, False, False)],
)
def test_signs(sign, below, equal, above):
    bar = parse_bar(f"auroc{sign}0.5")
    assert [bar.holds(value) for value in (0.4, 0.5, 0.6)] == [below, equal, above]
    assert not bar.holds(math.nan)


def test_an_end_of_the_interval_is_held_against_the_bar():
    candidates = [Candidate("a", 0.95, 0.91, 0.97), Candidate("b", 0.95, 0.89, 0.97)]
    assert [one.reached for one in check_bar(parse_bar("open_auc>=0.9"), candidates)] == [True, True]
    assert [one.reached for one in check_bar(parse_bar("open_auc.low>=0.9"), candidates)] == [True, False]
    assert [one.reached for one in check_bar(parse_bar("open_auc.high<=0.96"), candidates)] == [False, False]


def test_without_an_interval_its_end_is_an_error_that_says_what_to_do():
    with pytest.raises(OpenSetError, match="a has no interval; leave out --no-intervals"):
        check_bar(parse_bar("x.low>=0"), [Candidate("a", 1.0)], without_interval="leave out --no-intervals")
    assert check_bar(parse_bar("x>=0"), [Candidate("a", 1.0)])[0].reached


def test_a_bar_without_anything_to_check_does_not_pass():
    with pytest.raises(OpenSetError, match="no such value"):
        check_bar(Bar("x>=0", "x", ">=", 0.0), [])


def test_a_result_says_where_what_and_whether():
    result = check_bar(parse_bar("x.low>=0.9"), [Candidate("ours, unknown", 0.95, 0.89, 0.97)])[0]
    assert result == GateResult("x.low>=0.9", "ours, unknown", 0.95, 0.89, 0.97, reached=False)
    assert result.as_json() == {
        "bar": "x.low>=0.9",
        "where": "ours, unknown",
        "value": 0.95,
        "low": 0.89,
        "high": 0.97,
        "reached": False,
    }
    assert result.sentence == "ours, unknown: x.low>=0.9, found .9500 [.8900, .9700]."


@pytest.mark.parametrize(
    ("reached", "sentence"),
    [
        ([True], "Bar reached."),
        ([True, True], "All 2 bars reached."),
        ([True, False], "1 of 2 values missed its bar."),
        ([False, False], "2 of 2 values missed their bars."),
    ],
)
def test_the_gate_is_summed_up_in_one_way(reached, sentence):
    assert gate_summary([GateResult(f"x>={i}", "s", 0.5, None, None, one) for i, one in enumerate(reached)]) == sentence


def test_counts_are_whole_and_all_else_has_four_decimals():
    assert GateResult("unreached<=0", "all images", 2, None, None, False).found == "2"
    assert GateResult("rate<=20", "all images", 23.13881, 17.5919, 30.783, False).found == "23.1388 [17.5919, 30.7830]"
