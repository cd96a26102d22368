"""Two detectors on the same images."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from detection_sets import make_found, make_truth, pencil_case, random_set, random_wild
from openset.detection.comparison import compare
from openset.detection.measure.sets import arrange
from openset.detection.tables import difference_table, for_terminal
from openset.errors import OpenSetError


@pytest.fixture
def sets():
    known, found = random_set(1, n_images=60, n_objects=200, n_detections=600)
    wild, wild_found = random_wild(1, n_images=80, n_detections=200)
    return known, found, wild, wild_found


def test_a_detector_does_not_differ_from_itself(sets):
    data = arrange(*sets)
    for row in compare(data, data, recalls=[0.1, 0.3], bootstrap=20):
        assert (row.difference, row.low, row.high, row.clear) == (0, 0, 0, False)


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
def test_more_false_detections_of_the_first_are_a_clear_difference_above_zero(sets, variant):
    known, found, wild, wild_found = sets
    better = wild_found.select(np.flatnonzero(np.arange(len(wild_found)) % 4 == 0))
    rows = compare(arrange(*sets), arrange(known, found, wild, better), recalls=[0.3], variant=variant, bootstrap=200)
    assert [row.name for row in rows] == ["awi", "fp_per_1000"]
    for row in rows:
        assert row.second < row.first
        assert row.difference == pytest.approx(row.first - row.second)
        assert 0 < row.low <= row.difference <= row.high
        assert row.clear


def test_the_table_says_which_minus_which_whatever_the_names_are(sets):
    data = arrange(*sets)
    made = difference_table(compare(data, data, recalls=[0.3], bootstrap=2), ["a[1]", "b[/b]"])
    console = Console(file=StringIO(), width=120)
    console.print(for_terminal(made))
    text = console.file.getvalue()
    assert "difference = a[1] minus b[/b]" in text
    assert text.count("a[1]") == text.count("b[/b]") == 2  # the columns too


def test_without_a_defined_draw_there_is_no_interval():
    """The one object is on one of ten images, and with this seed both draws miss it."""
    known, found = make_truth([(0, "a", [0, 0, 9, 9])], n_images=10), make_found([(0, "a", [0, 0, 9, 9], 0.5)])
    data = arrange(known, found, make_truth([], n_images=10, classes=("elk",)), make_found([]))
    tried = (compare(data, data, recalls=[0.5], bootstrap=2, seed=seed) for seed in range(40))
    rows = next(rows for rows in tried if rows[0].low is None)
    assert (rows[0].high, rows[0].clear) == (None, False)
    assert difference_table(rows, ["a", "b"]).rows[0][-2:] == ["-", "no"]


def test_other_images_cannot_be_compared():
    known, found, wild, wild_found = pencil_case()
    first = arrange(known, found, wild, wild_found)
    second = arrange(known, found, replace(wild, image_ids=(5, 6, 7, 8)), wild_found)
    with pytest.raises(OpenSetError, match="the same wild images"):
        compare(first, second, recalls=[0.5])
    with pytest.raises(OpenSetError, match="'bootstrap' must be 2 or more"):
        compare(first, first, recalls=[0.5], bootstrap=0)
