"""Release bars."""

import pytest

from detection_sets import pencil_case
from openset.detection.gate import check_bars, parse_bar
from openset.detection.measure.evaluation import evaluate_open_set
from openset.errors import OpenSetError


def test_bars_are_kept_or_missed():
    result = evaluate_open_set(*pencil_case(), recalls=[0.5], ratios=[0.5, 1.0], bootstrap=0)  # AWI .625, FP 750
    assert check_bars(result, [parse_bar("awi<=0.625"), parse_bar("fp_per_1000 <= 750"), parse_bar("map>=0.28")]) == []
    missed = check_bars(result, [parse_bar("awi<=0.6"), parse_bar("map_wild>=0.9")])
    assert missed[0] == "Missed: awi is 0.625 (recall 0.5, paper), required <= 0.6."
    assert missed[1].startswith("Missed: map_wild is 0.")


@pytest.mark.parametrize("text", ["awi", "awi<0.1", "awi<=x", "<=1", "awi<=1e"])
def test_bars_that_cannot_be_read(text):
    with pytest.raises(OpenSetError, match=r"write it like 'awi<=0.05'"):
        parse_bar(text)


def test_unknown_figures_are_named():
    with pytest.raises(OpenSetError, match="Did you mean 'awi'"):
        parse_bar("aw<=1")
