"""Two detectors on the same images."""

from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, make_truth, pencil_case, random_set, random_wild
from openset.detection.comparison import compare
from openset.detection.measure.rates import event_rate
from openset.detection.measure.sets import arrange
from openset.detection.tables import difference_table
from openset.errors import OpenSetError
from openset.present.markdown import markdown_table


@pytest.fixture
def sets():
    known, found = random_set(1, n_images=60, n_objects=200, n_detections=600)
    wild, wild_found = random_wild(1, n_images=80, n_detections=200)
    return known, found, wild, wild_found


def test_a_detector_does_not_differ_from_itself(sets):
    data = arrange(*sets)
    found = compare(data, data, recalls=[0.1, 0.3], bootstrap=20)
    for row in found.differences:
        assert (row.difference, row.low, row.high, row.clear) == (0, 0, 0, False)
    assert (found.better, found.reasons) == (0, ())
    assert found.conclusion(["a", "b"]) == "They cannot be told apart."


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
def test_more_false_detections_of_the_first_are_a_clear_difference_above_zero(sets, variant):
    known, found, wild, wild_found = sets
    better = wild_found.select(np.flatnonzero(np.arange(len(wild_found)) % 4 == 0))
    made = compare(arrange(*sets), arrange(known, found, wild, better), recalls=[0.3], variant=variant, bootstrap=200)
    assert [row.name for row in made.differences] == ["map", "precision", "fp_per_1000", "awi"]
    for row in made.differences[:2]:
        assert (row.difference, row.clear) == (0, False)
    for row in made.differences[2:]:
        assert row.second < row.first
        assert row.better == 2
        assert row.difference == pytest.approx(row.first - row.second)
        assert 0 < row.low <= row.difference <= row.high
        assert row.clear
    assert made.better == 2
    assert made.conclusion(["a", "b"]).startswith("b is better: b is clearly better in false detections")


@pytest.mark.parametrize(("shared", "clear"), [(4, True), (0, False)])
def test_false_detections_that_both_have_do_not_speak_for_either(shared, clear):
    """Twelve against four can be luck, but not if the four are among the twelve: then it is eight against none."""
    objects = [(i, "a", [0, 0, 9, 9]) for i in range(50)]
    known, wild = make_truth(objects, n_images=50), make_truth([], n_images=200, classes=("elk",), source="wild")
    found = make_found([(*one, 0.9) for one in objects])
    first, second = (
        make_found([(i, "a", [0, 0, 9, 9], 0.95) for i in images])
        for images in (range(12), range(12 - shared, 16 - shared))
    )
    sets = arrange(known, found, wild, first), arrange(known, found, wild, second)
    rows = {row.name: row for row in compare(*sets, recalls=[0.5], bootstrap=200).differences}
    rate, awi = rows["fp_per_1000"], rows["awi"]
    assert (rate.first, rate.second, rate.clear, awi.clear) == (60, 20, clear, clear)
    alone, other = (event_rate(np.ones(n), 200) for n in ((8, 0) if shared else (12, 4)))
    low = 40 - np.hypot(alone.value - alone.low, other.high - other.value)
    high = 40 + np.hypot(alone.high - alone.value, other.value - other.low)
    assert (rate.low, rate.high) == pytest.approx((low, high))
    assert awi.low / awi.difference == pytest.approx(low / 40, abs=0.02)


def test_the_table_says_which_minus_which_whatever_the_names_are(sets):
    data = arrange(*sets)
    made = difference_table(compare(data, data, recalls=[0.3], bootstrap=2).differences, ["a[1]", "b[/b]"])
    assert made.title.endswith("difference = a[1] minus b[/b]")
    assert made.head[2:4] == ["a[1]", "b[/b]"]
    assert r"a\[1\] minus b\[/b\]" in markdown_table(made)


def test_without_a_defined_draw_there_is_no_interval():
    """The one object is on one of ten images, and with this seed both draws miss it."""
    known, found = make_truth([(0, "a", [0, 0, 9, 9])], n_images=10), make_found([(0, "a", [0, 0, 9, 9], 0.5)])
    data = arrange(known, found, make_truth([], n_images=10, classes=("elk",)), make_found([]))
    tried = (compare(data, data, recalls=[0.5], bootstrap=2, seed=seed) for seed in range(40))
    rows = next(made.differences for made in tried if made.differences[-1].low is None)
    assert (rows[-1].high, rows[-1].clear) == (None, False)
    assert difference_table(rows, ["a", "b"]).rows[-1][-1] == "-"


def test_other_images_cannot_be_compared():
    known, found, wild, wild_found = pencil_case()
    first = arrange(known, found, wild, wild_found)
    second = arrange(known, found, replace(wild, image_ids=(5, 6, 7, 8)), wild_found)
    with pytest.raises(OpenSetError, match="the same wild images"):
        compare(first, second, recalls=[0.5])
    with pytest.raises(OpenSetError, match="'bootstrap' must be 2 or more"):
        compare(first, first, recalls=[0.5], bootstrap=0)


def test_only_classes_that_both_reach_are_compared():
    """b is lost by the second detector: what is left is alike, and the first is better for it."""
    classes = ("a", "b")
    boxes = [(i, name, [20 * j, 0, 9, 9]) for i in range(30) for j, name in enumerate(classes)]
    known, wild = make_truth(boxes, n_images=30), make_truth([], n_images=40, classes=("elk",), source="wild")
    random = np.random.default_rng(0)
    found = make_found([(*one, float(random.random())) for one in boxes])
    wild_found = make_found([(i, name, [0, 0, 9, 9], float(random.random())) for i in range(40) for name in classes])
    whole = arrange(known, found, wild, wild_found)
    half = arrange(
        known,
        found.select(np.flatnonzero(found.category == 0)),
        wild,
        wild_found.select(np.flatnonzero(wild_found.category == 0)),
    )
    made = compare(whole, half, recalls=[0.5], bootstrap=100)
    assert made.classes[0].both == ("a",)
    assert made.classes[0].only_first == ("b",)
    by_name = {row.name: row for row in made.differences}
    assert by_name["fp_per_1000"].difference == by_name["awi"].difference == by_name["precision"].difference == 0
    assert by_name["map"].better == 1
    assert made.better == 1
    assert "half loses 1 of the classes that the other reaches (b)" in made.conclusion(["whole", "half"])
    back = compare(half, whole, recalls=[0.5], bootstrap=100)
    assert (back.better, back.classes[0].only_second) == (2, ("b",))


def test_a_recall_that_no_class_of_one_detector_reaches_is_left_out(sets):
    known, found, wild, wild_found = sets
    few = found.select(np.argsort(-found.score)[:30])
    made = compare(arrange(*sets), arrange(known, few, wild, wild_found), recalls=[0.05, 0.9], bootstrap=20)
    assert {row.recall for row in made.differences} <= {None, 0.05}
    assert made.classes[1].both == ()
