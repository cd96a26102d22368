"""The release gate: bars on metrics of detectors, and the guards that come with them."""

import numpy as np
import pytest

from detection_sets import make_found, make_truth, pencil_case
from openset.detection.gate import check_detection_bars, not_shown, out_of_reach, parse_detection_bar
from openset.detection.measure.evaluation import evaluate_open_set
from openset.detection.thresholds import Thresholds
from openset.errors import OpenSetError


@pytest.fixture
def result():
    """AWI .5625, 750 false detections per 1,000, b unreached."""
    return evaluate_open_set(*pencil_case(), recalls=[0.5], ratios=[0.5, 1.0], bootstrap=0)


def check(result, *texts, **options):
    found = check_detection_bars(result, [parse_detection_bar(text) for text in texts], **options)
    return {one.bar: one.reached for one in found}


def test_bars_are_reached_or_missed(result):
    found = check(result, "awi<=0.5625", "fp_per_1000 <= 750", "map>=0.28", "awi<=0.56", "map_wild>=0.9")
    assert list(found.values()) == [True, True, True, False, False, False, True, True]
    assert list(found)[-3:] == ["unreached<=0", "untested<=0", "silent<=0"]
    [missed, *_] = check_detection_bars(result, [parse_detection_bar(text) for text in ("awi<=0.56", "map>=0")])
    assert missed.sentence == "recall 0.5, paper: awi<=0.56, found .5625."


def test_lost_classes_fail_a_gate_unless_allowed(result):
    assert check(result, "recall>=0")["unreached<=0"] is False
    assert "unreached<=0" not in check(result, "recall>=0", allow_unreached=True)
    assert check(result, "unreached<=1") == {"unreached<=1": True, "untested<=0": True, "silent<=0": True}
    assert check(result, "unreached<=0")["unreached<=0"] is False
    assert check(result) == {}  # without a bar there is no gate


def test_a_recall_that_no_class_reaches_loses_all_of_them():
    result = evaluate_open_set(*pencil_case(), recalls=[0.5, 0.9], bootstrap=0)
    found = check_detection_bars(result, [parse_detection_bar("unreached<=1")])
    assert [(one.where, one.value, one.reached) for one in found][:2] == [
        ("recall 0.5", 1, True),
        ("recall 0.9", 2, False),
    ]


def test_ends_of_intervals(result):
    found = check(result, "fp_per_1000.high<=1000", "fp_per_1000.low<=750", "precision_open.low>=0.2")
    assert list(found.values())[:3] == [False, True, False]
    with pytest.raises(OpenSetError, match=r"'awi.high<=1': recall 0.5, paper has no interval; give --bootstrap 1000"):
        check(result, "awi.high<=1", "map>=0")
    with pytest.raises(OpenSetError, match="map has no interval; set the bar for its value"):
        check(result, "map.low>=0.1")


def test_options_choose_among_values():
    result = evaluate_open_set(*pencil_case(), recalls=[0.25, 0.5], variant=["paper", "macro"], bootstrap=0)
    both = {"allow_unreached": True, "allow_silent": True}
    for text, n in (("awi(recall=0.5, variant=macro)<=1", 1), ("awi(variant=macro)<=1", 2), ("awi<=1", 4)):
        bars = [parse_detection_bar(text), parse_detection_bar("map>=0")]
        found = [one.where for one in check_detection_bars(result, bars, **both)]
        assert len(found) == n + 1
        assert "recall 0.5, macro" in found
    with pytest.raises(OpenSetError, match="awi has no option 'recal' here; it has recall, variant"):
        check(result, "awi(recal=0.5)<=1", "map>=0")
    with pytest.raises(OpenSetError, match="no such value"):
        check(result, "awi(recall=0.7)<=1", "map>=0")


def test_what_is_not_defined_passes_no_gate():
    known, found, _, wild_found = pencil_case()
    wild = make_truth([], n_images=4, classes=("elk",), source="wild")
    result = evaluate_open_set(known, found, wild, wild_found, recalls=[0.5], bootstrap=0)
    with pytest.raises(OpenSetError, match="a_ose is not defined for these data"):
        check(result, "a_ose<=1000")


@pytest.mark.parametrize("text", ["awi", "<=1", "awi=0.5", "awi<=0.5!"])
def test_bars_that_cannot_be_read(text):
    with pytest.raises(OpenSetError, match=r"is not understood; write for example 'recall>=0.5'"):
        parse_detection_bar(text)


def test_unknown_metrics_are_named():
    with pytest.raises(OpenSetError, match="Did you mean 'awi'"):
        parse_detection_bar("aw<=1")
    with pytest.raises(OpenSetError, match="bars on detectors have no '@wild'"):
        parse_detection_bar("awi@wild<=1")


def test_a_rate_that_so_few_images_cannot_show():
    bars = [parse_detection_bar(text) for text in ("fp_per_1000.high<=20", "fp_per_1000<=1", "recall>=0.5")]
    assert out_of_reach(bars, 185) == []
    [printed] = out_of_reach(bars, 100)
    assert printed.startswith("fp_per_1000.high<=20: it takes 185 wild images without a false detection")
    known = make_truth([(0, "a", [0, 0, 9, 9])], n_images=10)
    wild = make_truth([], n_images=100, classes=("elk",), source="wild")
    found = make_found([(0, "a", [0, 0, 9, 9], 0.5)])
    silent = evaluate_open_set(known, found, wild, make_found([]), recalls=[0.5], bootstrap=0)
    assert check(silent, "fp_per_1000<=0", "fp_per_1000.high<=20") == {
        "fp_per_1000<=0": True, "fp_per_1000.high<=20": False, "unreached<=0": True, "untested<=0": True,
        "silent<=0": True,
    }  # fmt: skip
    assert any("no false detection on 100 wild images" in note and "3,689" in note for note in silent.notes)
    assert np.isclose(silent.operating[0].total.fp_per_1000.high, 36.9, atol=0.1)
    [printed] = not_shown(silent, bars)
    assert printed.startswith("recall 0.5: fp_per_1000<=1, as its interval ends at 36.9 with 100 wild images")
    assert not_shown(silent, [parse_detection_bar("fp_per_1000<=37")]) == []


def test_bars_that_a_worse_detector_could_pass_need_another_one(result):
    for text in ("awi<=0.1", "slope<=0.1"):
        with pytest.raises(
            OpenSetError,
            match="false detections on known images lower it.*add a bar on map, precision or precision_open",
        ):
            check(result, text)
        check(result, text, "precision>=0.1")
    frozen = evaluate_open_set(
        *pencil_case(), thresholds=Thresholds("by hand", {"a": 0.5, "b": 0.5}, None, {}), bootstrap=0
    )
    for text in ("fp_per_1000<=20", "precision>=0.1"):
        with pytest.raises(OpenSetError, match="lower scores improve it.*add a bar on recall or worst_recall"):
            check(frozen, text)
        check(frozen, text, "worst_recall>=0.1")
        check(result, text)  # at a recall, finding less is not possible
