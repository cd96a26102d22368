"""Intervals of AWI and of differences, where few false detections or many comparisons could mislead."""

from dataclasses import replace

import numpy as np
import pytest

from detection_sets import make_found, make_truth
from openset.detection.comparison import Difference, _conclude, compare
from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.intervals import stand_out
from openset.detection.measure.sets import arrange

N_KNOWN = 40


def detector(n_false, *, n_wild=100, classes=("a", "b")):
    """It finds everything; a number of wild images have one false detection each, above all others."""
    boxes = [(i, name, [20 * j, 0, 9, 9]) for i in range(N_KNOWN) for j, name in enumerate(classes)]
    known, wild = make_truth(boxes, n_images=N_KNOWN), make_truth([], n_images=n_wild, classes=("elk",), source="wild")
    scores = np.random.default_rng(0).permutation(len(boxes)) / 1000 + 0.5
    found = make_found([(*box, float(score)) for box, score in zip(boxes, scores, strict=True)])
    wild_found = [(i, classes[0], [0, 0, 9, 9], 0.99) for i in range(n_false)]
    return arrange(known, found, wild, make_found(wild_found, classes=classes))


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
def test_without_false_detections_the_interval_still_has_a_width(variant):
    """No event on 100 images allows 3.69 of them. 20 of 40 objects of each class are accepted at recall .5."""
    data = detector(0)
    (row,) = evaluate_data(data, recalls=[0.5], ratios=[1.0, 2.0], variant=variant, bootstrap=50).wilderness
    assert (row.awi, row.awi_low) == (0, 0)
    mean_images = (40 + 80) / 2
    per_event = {"paper": 1 / 40, "macro": 1 / 20 / 2, "official": 1 / 20 / 2}[variant]
    assert row.awi_high == pytest.approx(3.68888 / 100 * mean_images * per_event, rel=1e-4)


def test_fewer_wild_images_show_less():
    few, many = (
        evaluate_data(detector(0, n_wild=n), recalls=[0.5], ratios=[0.5], bootstrap=50).wilderness[0].awi_high
        for n in (20, 400)
    )
    assert few == pytest.approx(20 * many)


@pytest.mark.parametrize("variant", ["paper", "macro"])
def test_few_false_detections_have_at_least_the_exact_interval_of_their_number(variant):
    """Three of a great many images: Garwood's interval goes from .206 to 2.92 times that; of 100, a little less far."""
    (row,) = evaluate_data(detector(3), recalls=[0.5], ratios=[1.0], variant=variant, bootstrap=200).wilderness
    assert row.awi_low <= 0.21 * row.awi
    assert row.awi_high >= 2.9 * row.awi


@pytest.mark.parametrize(("n_false", "clear"), [(4, False), (8, True)])
def test_a_difference_of_few_false_detections_is_not_clear_until_a_sign_test_would_say_so(n_false, clear):
    """Four against none has p = .125, eight p = .008. Draws of images alone called four clear."""
    found = compare(detector(n_false), detector(0), recalls=[0.5], bootstrap=200)
    rows = {row.name: row for row in found.differences}
    assert rows["fp_per_1000"].clear is clear
    assert rows["awi"].clear is clear


def test_nothing_against_nothing_is_not_known_to_be_equal():
    found = compare(detector(0), detector(0), recalls=[0.5], bootstrap=20)
    row = next(row for row in found.differences if row.name == "fp_per_1000")
    assert (row.difference, row.clear) == (0, False)
    assert row.low == pytest.approx(-36.8888, rel=1e-4)
    assert row.high == pytest.approx(36.8888, rel=1e-4)


def test_looking_at_many_differences_does_not_find_one_by_chance():
    """Ten values that differ from 0 by chance alone: one leaves its interval in 40 % of the cases, none stands out."""
    random = np.random.default_rng(3)
    alone, together = 0, 0
    for _ in range(300):
        values = random.normal(size=10)
        drawn = values + random.normal(size=(200, 10))
        alone += bool((np.abs(values) > 1.96).any())
        together += stand_out(values, drawn).any()
    assert alone > 100
    assert together < 30


def test_what_differs_beyond_chance_stands_out_and_what_never_varies_does_not():
    drawn = np.random.default_rng(4).normal(size=(200, 3))
    drawn[:, 2] = 5.0
    assert stand_out(np.array([0.5, 6.0, 5.0]), drawn).tolist() == [False, True, False]
    drawn[:, 0] = np.nan
    assert stand_out(np.array([np.nan, 6.0, 5.0]), drawn).tolist() == [False, True, False]


def test_a_difference_that_may_be_luck_makes_no_detector_better_but_stands_against_the_other():
    sets = [detector(30), detector(30)]
    lucky = Difference("map", None, "", 0.6, 0.5, 0.1, 0.01, 0.2)
    better, reasons = _conclude([lucky], (), sets)
    assert better == 0
    assert reasons == ((1, "looks better in mAP, which may be luck among 1 comparisons"),)
    sure = Difference("precision", 0.3, "", 0.5, 0.7, -0.2, -0.3, -0.1, stands_out=True)
    assert _conclude([sure], (), sets)[0] == 2
    assert _conclude([lucky, sure], (), sets)[0] == 0
    assert _conclude([replace(lucky, stands_out=True)], (), sets)[0] == 1
