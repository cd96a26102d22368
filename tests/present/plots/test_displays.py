"""Displays draw what the curves say, on given axes or on new ones."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from openset import OscrDisplay, RejectingClassifier, RejectionDisplay, calibrate
from openset.curves import oscr_curve
from openset.metrics import open_auc

mpl.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fitted():
    samples, y = load_digits(return_X_y=True)
    model = make_pipeline(StandardScaler(), RejectingClassifier(LogisticRegression(max_iter=500), score="energy"))
    model.fit(samples[y < 6][::2], y[y < 6][::2])
    return model, samples[1::2], y[1::2]


def test_the_oscr_curve_of_an_estimator_is_that_of_its_predictions(fitted):
    model, samples, y = fitted
    display = OscrDisplay.from_estimator(model, samples, y, color="black")
    labels = np.where(y < 6, y, -2)
    scores = model[-1].scores(model[:-1].transform(samples), y)  # the best known classes, whether rejected or not
    arrays = (labels, scores.predictions, scores.unknown_score)
    curve = oscr_curve(*arrays)
    assert np.array_equal(display.line_.get_xdata(), curve.fpr)
    assert np.array_equal(display.line_.get_ydata(), curve.ccr)
    assert display.line_.get_color() == "black"
    assert display.line_.get_label() == f"RejectingClassifier (OpenAUC {open_auc(*arrays):.3f})"
    again = OscrDisplay.from_predictions(*arrays, name="mine", ax=display.ax_)
    assert again.figure_ is display.figure_
    assert [text.get_text().split(" ")[0] for text in display.ax_.get_legend().get_texts()] == [
        "RejectingClassifier",
        "mine",
    ]
    assert np.array_equal(again.line_.get_ydata(), curve.ccr)


def test_rejection_marks_the_threshold_of_a_calibrated_estimator(fitted):
    model, samples, y = fitted
    bare = RejectionDisplay.from_estimator(LogisticRegression(max_iter=3000).fit(samples[y < 6], y[y < 6]), samples, y)
    assert bare.threshold_ is None
    value = calibrate(model, samples[y < 6], y[y < 6], rule="at_acceptance=0.9").value
    display = RejectionDisplay.from_estimator(model, samples, y)
    assert display.threshold_.get_xdata() == [value, value]
    at = np.searchsorted(display.known_.get_xdata(), value)
    rejected = model.predict(samples) == -2
    assert display.known_.get_ydata()[at] == pytest.approx(rejected[y < 6].mean())
    assert display.open_.get_ydata()[at] == pytest.approx(rejected[y >= 6].mean())
    assert display.ax_.get_title() == "RejectingClassifier"


def test_names_are_drawn_as_they_are():
    display = OscrDisplay.from_predictions([0, 0, -2], [0, 0, 0], [0.1, 0.4, 0.3], name="$x^2")
    display.figure_.canvas.draw()
    assert display.line_.get_label().startswith(r"\$x^2")


def test_groups(fitted):
    groups = ["", "", "easy", "hard"]
    display = OscrDisplay.from_predictions(
        [0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.4, 0.9, 0.3], groups=groups, against="hard"
    )
    assert display.open_auc == 0.5
