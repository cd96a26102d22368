"""The figures show the numbers they were given."""

from dataclasses import replace

import numpy as np
import pytest
from detection_sets import pencil_case

from openset.detection.evaluation import evaluate_open_set

pytest.importorskip("matplotlib")

from openset.detection.figures import confusion_matrix, error_bars, wilderness_curve, write_figures


@pytest.fixture
def result():
    known, found, wild, wild_found = pencil_case()
    found = replace(found, background_score=np.full(len(found), 0.25))
    return evaluate_open_set(known, found, wild, wild_found, recalls=[0.5], ratios=[0.5, 1.0], bootstrap=0)


def test_curve(result):
    [line] = wilderness_curve(result.wilderness).axes[0].lines
    assert list(line.get_xdata()) == [0, 0.5, 1.0]
    assert list(line.get_ydata()) == [0, 0.5, 0.75]


def test_bars(result):
    axes = error_bars(result.errors).axes[0]
    widths = [[patch.get_width() for patch in bars] for bars in axes.containers]
    assert widths[0] == pytest.approx([50, 200 / 7])  # localisation: 2 of 4, 2 of 7
    assert widths[3] == pytest.approx([0, 200 / 7])  # unknown unknown
    assert widths[4] == pytest.approx([0, 100 / 7])


def test_confusion_shows_unknown_classes_that_matter(result):
    axes = confusion_matrix(result.confusion).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "elephant", "zebra"]
    assert axes.images[0].get_array()[0, 0] == pytest.approx(np.log10(5))


def test_files_are_written(result, tmp_path):
    files = write_figures(result, tmp_path / "figures")
    assert [file.name for file in files] == ["wilderness.png", "errors.png", "confusion.png", "background.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
