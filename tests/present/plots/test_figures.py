"""Every figure: it draws what it is given, at the size it promises, for hard names and many classes."""

import subprocess
import sys

import numpy as np
import pytest

from openset.curves import oscr_of, roc_of, unknown_recall_of
from openset.errors import OpenSetError
from openset.evaluation import evaluate
from openset.metrics import open_set_confusion_matrix
from openset.present import plots
from openset.present.plots.style import COLOURS, ONE_COLUMN, TWO_COLUMNS
from openset.results.document import Document
from openset.results.spread import spread_of
from openset.results.views import (
    BenchRow,
    GammaLog,
    Sensitivity,
    TrainingLog,
    class_rates,
    oscr_band,
    probability_histogram,
    risk_curve,
    score_histogram,
)
from openset.scores import Scores

NAMES = ["$x_1$ <b>", "模型", "नमूना", "نموذج"]


def drawn(figure, tmp_path):
    """Draw for real: layout and fonts are only worked out then."""
    (file,) = plots.save(figure, tmp_path / "figure", formats=["png"])
    assert file.read_bytes().startswith(b"\x89PNG")
    return figure


def line(axis, label):
    return next(found for found in axis.get_lines() if found.get_label() == label)


@pytest.mark.parametrize("log", [True, False])
def test_oscr_shows_negatives_and_unknowns_side_by_side(make_scores, tmp_path, log):
    scores = make_scores()
    curves = {part: {"ours": oscr_of(scores.counts(part))} for part in ("negative", "unknown")}
    bands = {part: {"ours": oscr_band(scores, against=part, n_resamples=20)} for part in curves}
    figure = drawn(plots.oscr(curves, bands=bands, log=log), tmp_path)
    assert figure.get_figwidth() == TWO_COLUMNS
    left, right = figure.axes
    assert left.get_xlabel() == "negatives accepted (FPR)"
    assert right.get_xlabel() == "unknowns accepted (FPR)"
    assert left.get_xscale() == ("log" if log else "linear")
    assert np.array_equal(line(right, "ours").get_ydata(), curves["unknown"]["ours"].ccr)
    assert len(left.collections) == 1  # the band


def test_one_open_set_sample_still_has_a_logarithmic_axis(tmp_path):
    scores = Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3])
    figure = drawn(plots.oscr({"all": {"m": oscr_of(scores.counts())}}), tmp_path)
    assert figure.axes[0].get_xlim() == (0.1, 1)


def test_roc(make_scores, tmp_path):
    curve = roc_of(make_scores().counts())
    figure = drawn(plots.roc(dict.fromkeys(NAMES, curve)), tmp_path)
    assert figure.get_figwidth() == ONE_COLUMN
    assert np.array_equal(line(figure.axes[0], "模型").get_ydata(), curve.tpr)
    styles = {(found.get_color(), found.get_linestyle()) for found in figure.axes[0].get_lines()[1:]}
    assert len(styles) == len(NAMES)


def test_many_models_keep_a_short_legend(make_scores, tmp_path):
    curve = roc_of(make_scores().counts())
    figure = drawn(plots.roc({f"model {i}": curve for i in range(50)}), tmp_path)
    shown = [words.get_text() for words in figure.axes[0].get_legend().get_texts()]
    assert len(shown) == len(COLOURS) + 1
    assert shown[-1] == "42 more"


def test_unknown_recall(make_scores, tmp_path):
    curve = unknown_recall_of(make_scores().counts())
    axis = drawn(plots.unknown_recall(curve), tmp_path).axes[0]
    assert np.array_equal(line(axis, "F-score, macro").get_ydata(), curve.f_macro)
    assert np.array_equal(line(axis, "CCR").get_xdata(), curve.unknown_recall)


def test_risk(make_scores, tmp_path):
    curve = risk_curve(make_scores(), unknown_share=0.2)
    axis = drawn(plots.risk({"ours": curve}), tmp_path).axes[0]
    assert np.array_equal(line(axis, "ours").get_ydata(), curve.unknown + curve.misclassified)
    assert "20%" in axis.get_ylabel()


def shown_in_legend(figure):
    return [words.get_text() for axis in figure.axes if axis.get_legend() for words in axis.get_legend().get_texts()]


def test_a_name_that_begins_with_an_underscore_is_in_every_legend(make_scores, tmp_path):
    scores, names = make_scores(), ["a", "_b"]
    figures = [
        plots.oscr({"all": dict.fromkeys(names, oscr_of(scores.counts()))}),
        plots.roc(dict.fromkeys(names, roc_of(scores.counts()))),
        plots.risk(dict.fromkeys(names, risk_curve(scores))),
        plots.gamma_over_epochs(dict.fromkeys(names, GammaLog([1, 2], [0.1, 0.5], [1.0, 0.8]))),
        plots.sensitivity(
            dict.fromkeys(names, Sensitivity([0.1, 0.2], [spread_of([0.8, 0.9]), spread_of([0.7, 0.7])]))
        ),
        plots.quality_against_time({name: [(20.0, 0.9), (5.0, 0.8)] for name in names}),
    ]
    for figure in figures:
        assert shown_in_legend(drawn(figure, tmp_path))[:2] == names


@pytest.mark.parametrize(
    ("against", "called"), [("all", "open-set samples"), ("negative", "negatives"), ("unknown", "unknowns")]
)
def test_only_unknowns_are_called_so(make_scores, against, called):
    scores = make_scores()
    axis = plots.unknown_recall(unknown_recall_of(scores.counts(against)), against=against).axes[0]
    assert axis.get_xlabel() == f"{called} caught (1 - FPR)"
    figure = plots.risk({"m": risk_curve(scores, against=against)}, against=against)
    assert shown_in_legend(figure) == ["m", f"accepted {called}"]
    assert f"10% {called} arriving" in figure.axes[0].get_ylabel()


def test_histograms(make_scores, tmp_path):
    scores = make_scores(probabilities=True)
    figure = drawn(plots.score_histograms({"a": score_histogram(scores), "b": probability_histogram(scores)}), tmp_path)
    assert [axis.get_xlabel() for axis in figure.axes] == ["unknown score", "probability"]
    assert [words.get_text() for words in figure.legends[0].get_texts()] == ["known", "negative", "unknown"]


@pytest.mark.parametrize("n_classes", [2, 12, 150])
def test_confusion_from_two_to_150_classes(make_scores, tmp_path, n_classes):
    scores = make_scores(n=3000, n_classes=n_classes)
    matrix = open_set_confusion_matrix(
        scores.labels, scores.predictions, scores.unknown_score, threshold=0.5, n_classes=n_classes
    )
    figure = drawn(plots.confusion(matrix), tmp_path)
    axis = figure.axes[0]
    assert np.allclose(axis.images[0].get_array(), matrix.shares)
    assert figure.get_figheight() <= 9
    labels = [words.get_text() for words in axis.get_yticklabels()]
    assert len(labels) <= 62
    assert labels[-1] == "unknown"
    assert axis.get_xticklabels()[-1].get_text() == "rejected"
    assert bool(axis.texts) == (n_classes == 2)


@pytest.mark.parametrize("n_classes", [4, 100])
def test_classes_weakest_first(make_scores, tmp_path, n_classes):
    found = class_rates(make_scores(n=3000, n_classes=n_classes), 1.0)
    axis = drawn(plots.per_class_ccr(found), tmp_path).axes[0]
    heights = axis.containers[0].lines[0].get_ydata()
    assert np.array_equal(heights, np.sort(found.ccr))
    assert axis.get_xticklabels()[0].get_text() == found.names[int(found.ccr.argmin())]


def test_training_figures(tmp_path):
    epochs = [1, 2, 3]
    figure = drawn(plots.gamma_over_epochs({"S": GammaLog(epochs, [0.1, 0.5, 0.9], [1.0, 0.8, 0.7])}), tmp_path)
    assert line(figure.axes[1], "S").get_ydata().tolist() == [1.0, 0.8, 0.7]
    figure = drawn(
        plots.sensitivity({"CIFAR10": Sensitivity([0.1, 0.2], [spread_of([0.8, 0.9]), spread_of([0.7, 0.7])])}),
        tmp_path,
    )
    assert line(figure.axes[0], "CIFAR10").get_ydata() == pytest.approx([0.85, 0.7])
    figure = drawn(plots.training_curves(TrainingLog(epochs, {"loss": [3, None, 1], "$acc": [0, 1, 1]})), tmp_path)
    assert np.isnan(figure.axes[0].get_lines()[0].get_ydata()[1])


def test_quality_against_time_shows_the_published_value_as_a_line(tmp_path):
    points = [(20.0, 0.9), (5.0, 0.8)]
    figure = drawn(plots.quality_against_time({"$ours": points}, published=0.92), tmp_path)
    assert line(figure.axes[0], r"\$ours").get_xdata().tolist() == [5.0, 20.0]
    assert line(figure.axes[0], r"\$ours").get_ydata().tolist() == [0.8, 0.9]
    assert set(line(figure.axes[0], "published").get_ydata()) == {0.92}
    bare = plots.quality_against_time({"ours": points})
    assert [found.get_label() for found in bare.axes[0].get_lines()] == ["ours"]


def test_bench_shows_mean_and_spread(tmp_path):
    rows = [BenchRow(p, m, [0.7, 0.9]) for p in ("mnist", "svhn") for m in ("softmax", "ours")]
    figure = drawn(plots.bench(rows), tmp_path)
    assert [axis.get_title() for axis in figure.axes] == ["mnist", "svhn"]
    mean, _, (spread,) = figure.axes[0].containers[0]
    assert mean.get_xdata() == pytest.approx([0.8])
    assert spread.get_segments()[0][:, 0] == pytest.approx([0.8 - 0.1 * 2**0.5, 0.8 + 0.1 * 2**0.5])


def test_nothing_to_draw_is_said():
    for call in (
        lambda: plots.oscr({}),
        lambda: plots.roc({}),
        lambda: plots.risk({}),
        lambda: plots.score_histograms({}),
        lambda: plots.gamma_over_epochs({}),
        lambda: plots.sensitivity({}),
        lambda: plots.quality_against_time({"a": []}),
        lambda: plots.wilderness({}),
        lambda: plots.detection_errors({}),
        lambda: plots.bench([]),
    ):
        with pytest.raises(OpenSetError, match="nothing to draw"):
            call()


def test_figures_leave_the_users_settings_alone(make_scores, tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    drawn(plots.roc({"m": roc_of(make_scores().counts())}), tmp_path)
    assert dict(mpl.rcParams) == before


def test_no_pyplot_is_needed():
    code = "import sys, openset.present.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_same_figure_makes_the_same_files(make_scores, tmp_path):
    curve = {"m": roc_of(make_scores().counts())}
    first = plots.save(plots.roc(curve), tmp_path / "a")
    second = plots.save(plots.roc(curve), tmp_path / "b")
    assert [file.suffix for file in first] == [".pdf", ".png"]
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


def test_a_bad_place_is_one_sentence(make_scores, tmp_path):
    figure = plots.roc({"m": roc_of(make_scores().counts())})
    (tmp_path / "file").write_text("")
    with pytest.raises(OpenSetError, match="Cannot write"):
        plots.save(figure, tmp_path / "file" / "roc")
    (tmp_path / "roc.pdf").mkdir()
    with pytest.raises(OpenSetError, match="it is a folder"):
        plots.save(figure, tmp_path / "roc")


def test_all_figures_of_several_models(make_scores, tmp_path):
    models = [make_scores(n=300, seed=seed, probabilities=seed == 1) for seed in range(2)]
    evaluations = [evaluate(scores, intervals=False) for scores in models]
    made = plots.write_figures(tmp_path, Document.of(evaluations, names=["../up", "b"], models=models), formats=["svg"])
    assert {path.parent for path in made} == {tmp_path}
    assert sorted(path.stem for path in made) == [
        "confusion-best",
        "oscr-linear",
        "oscr-log",
        "per-class-ccr-best",
        "probability-histograms",
        "risk",
        "roc",
        "score-histograms",
        "unknown-recall-best",
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_figures_where_only_one_of_the_models_has_negatives(make_scores, tmp_path, monkeypatch, order):
    full = make_scores(n=300)
    kept = full.labels != -1
    without = Scores(full.labels[kept], full.predictions[kept], full.unknown_score[kept])
    models = [full, without][::order]
    names = ["full", "without"][::order]
    oscr, drawn_curves = plots.oscr, []
    monkeypatch.setattr(
        "openset.present.plots.curves.oscr", lambda shown, **rest: drawn_curves.append(shown) or oscr(shown)
    )
    evaluations = [evaluate(scores, intervals=False) for scores in models]
    assert plots.write_figures(tmp_path, Document.of(evaluations, names=names, models=models), formats=["svg"])
    assert {part: list(lines) for part, lines in drawn_curves[0].items()} == {"negative": ["full"], "unknown": names}


def test_a_model_looks_the_same_in_every_panel_and_the_legend_has_all(make_scores, tmp_path):
    curve = oscr_of(make_scores().counts())
    figure = drawn(plots.oscr({"negative": {"b": curve}, "unknown": {"a": curve, "b": curve}}), tmp_path)
    left, right = figure.axes
    assert line(left, "b").get_color() == line(right, "b").get_color() != line(right, "a").get_color()
    (legend,) = [axis.get_legend() for axis in figure.axes if axis.get_legend()]
    assert [words.get_text() for words in legend.get_texts()] == ["a", "b"]


def test_histograms_name_every_kind_that_a_panel_shows(make_scores, tmp_path):
    full = make_scores()
    kept = full.labels != -1
    without = Scores(full.labels[kept], full.predictions[kept], full.unknown_score[kept])
    figure = drawn(plots.score_histograms({"w": score_histogram(without), "f": score_histogram(full)}), tmp_path)
    assert {words.get_text() for words in figure.legends[0].get_texts()} == {"known", "negative", "unknown"}


def test_figures_against_the_only_group_there_is(make_scores, tmp_path):
    full = make_scores(n=300)
    groups = np.where(full.labels < 0, "far", "")
    scores = Scores(full.labels, full.predictions, full.unknown_score, groups=groups)
    found = evaluate(scores, against=["far"], intervals=False)
    made = plots.write_figures(tmp_path, Document.of([found], models=[scores]), formats=["svg"])
    named = {file.stem for file in made if "<!-- samples of 'far' " in file.read_text()}
    assert named == {"oscr-log", "oscr-linear", "roc", "unknown-recall"}
    assert "accepted samples of 'far'" in (tmp_path / "risk.svg").read_text()
