"""Our numbers beside those of other packages and programs: the smallest case of each question, and random data."""

import importlib.util

import numpy as np
import pytest

from conformance.card import ROOT, PeerAbsentError
from conformance.cases import CASES
from conformance.programs import oscr_loop

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
# A peer's own warnings at import or for scores it finds odd are no concern of ours.
pytestmark = pytest.mark.filterwarnings("ignore")


def theirs(case):
    try:
        return case.peer.load(case.theirs)
    except PeerAbsentError as absent:
        pytest.skip(str(absent))


@every_case
def test_our_value_of_the_smallest_case(case):
    found = case.ours(case.example)
    assert found == pytest.approx(case.expected[0], abs=1e-12, rel=0)


@every_case
def test_their_value_of_the_smallest_case(case):
    found, expected = theirs(case)(case.example), case.expected[1]
    assert found is expected or found == pytest.approx(expected, abs=case.rounding, rel=0)


@pytest.mark.parametrize("case", [case for case in CASES if case.draw], ids=lambda case: case.id)
def test_both_give_the_same_for_random_data(case):
    ours, peers = case.like_theirs or case.ours, theirs(case)
    for seed in range(case.draws):
        data = case.draw(seed)
        gap, below = ours(data) - peers(data), case.too_low_by(data) if case.too_low_by else 0.0
        assert -case.rounding <= gap <= below + case.rounding, f"seed {seed}"


@every_case
def test_a_card_says_what_its_numbers_say(case):
    ours, theirs = case.expected
    assert (case.verdict == "agree") == (ours == theirs)
    assert case.verdict != "agree" or (case.draw is not None and not case.same_if and case.like_theirs is None)
    assert (case.draw is not None) == (case.verdict == "agree" or bool(case.same_if))
    assert case.why.endswith(".")


def test_no_two_cases_have_one_name():
    names = [case.id for case in CASES]
    assert len(names) == len(set(names))
    assert len(names) > 30


def test_the_oscr_loop_depends_on_the_order_of_the_file():
    correct, same_score, unknown = np.array([True, False]), np.array([-0.1, -0.1]), np.array([-0.2])
    assert [oscr_loop(same_score, unknown, flags) for flags in (correct, ~correct)] == [0.25, 0.5]


def test_the_page_is_made_from_the_cases():
    spec = importlib.util.spec_from_file_location("make_conformance", ROOT / "docs" / "make_conformance.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run: python docs/make_conformance.py"
