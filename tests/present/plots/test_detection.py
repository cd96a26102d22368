"""Figures of detectors show the numbers of the results they are given."""

from dataclasses import replace

import numpy as np
import pytest

from detection_sets import pencil_case
from openset.detection.measure.evaluation import evaluate_open_set
from openset.present import plots


@pytest.fixture
def result():
    known, found, wild, wild_found = pencil_case()
    found = replace(found, background_score=np.full(len(found), 0.25))
    return evaluate_open_set(
        known, found, wild, wild_found, recalls=[0.5], ratios=[0.5, 1.0], variant=["paper", "macro"], bootstrap=0
    )


def test_the_curve_begins_at_zero_and_names_its_variant(result):
    one = plots.wilderness({"yolo": result.wilderness[:1]}).axes[0].lines
    assert [line.get_label() for line in one] == ["recall 0.5"]
    assert list(one[0].get_xdata()) == [0, 0.5, 1.0]
    assert list(one[0].get_ydata()) == [0, 0.375, 0.75]
    both = plots.wilderness({"yolo": result.wilderness}).axes[0].lines
    assert [line.get_label() for line in both] == ["recall 0.5, paper", "recall 0.5, macro"]


def test_panels_share_their_height(result):
    steep = replace(result.wilderness[0], ratios=(1.0,), impact=(3.0,))
    axes = plots.wilderness({"flat": result.wilderness[:1], "steep": [steep]}).axes
    assert axes[0].get_ylim()[1] > 3  # both panels show the steeper one whole


def test_bars(result):
    axis = plots.detection_errors({"recall 0.5": result.errors[0]}).axes[0]
    widths = [[patch.get_width() for patch in bars] for bars in axis.containers]
    assert widths[0] == pytest.approx([2 / 4, 2 / 7])  # localisation
    assert widths[3] == pytest.approx([0, 2 / 7])  # unknown unknown
    assert widths[5] == pytest.approx([0, 1 / 7])  # on an image without annotations
    annotated = replace(result.errors[0], open_set=(2, 2, 0, 0, 2, 1, 0))
    axis = plots.detection_errors({"recall 0.5": annotated}).axes[0]
    assert len(axis.containers) == 5  # what does not occur is not in the legend


def test_confusion_shows_counts_and_the_unknown_classes_that_matter(result):
    table = result.confusion
    with_bear = replace(table, columns=(*table.columns, "bear"), counts=tuple((*row, 0) for row in table.counts))
    axis = plots.detection_confusion(with_bear).axes[0]  # the bear is annotated, but taken for nothing
    assert [label.get_text() for label in axis.get_xticklabels()] == ["a", "b", "elephant", "zebra"]
    assert axis.images[0].get_array()[0, 0] == 4
    assert {words.get_text() for words in axis.texts} >= {"4", "1", ""}


def test_a_panel_per_class(result):
    rows = {f"class {i}": result.background["a"] for i in range(7)}
    figure = plots.object_versus_background(rows)
    assert sum(axis.get_visible() for axis in figure.axes) == 7


def test_all_figures_of_a_detector_are_written(result, tmp_path):
    files = plots.write_detection_figures(tmp_path / "figures", "../$yolo", result, formats=["png"])
    assert [file.name for file in files] == [
        "wilderness.png", "detection-errors.png", "detection-confusion.png", "object-versus-background.png",
    ]  # fmt: skip
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    assert len(plots.write_detection_figures(tmp_path, "yolo", replace(result, background=None))) == 6
