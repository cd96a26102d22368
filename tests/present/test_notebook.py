"""Results that show themselves: what stands in the table, that it fits, and that nothing in it is run."""

import inspect
import os
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import openset
from openset import Document, Scores, choose, compare, evaluate
from openset._core.numbers import exact
from openset.metrics import METRICS
from openset.present import notebook
from openset.results.table import Cell, Table

NASTY = "<script>alert(1)</script>"


@pytest.fixture
def things(make_scores):
    scores, other = make_scores(groups=True), make_scores(groups=True, seed=1)
    other = Scores(scores.labels, scores.predictions, other.unknown_score)
    result = evaluate(scores, n_resamples=20)
    threshold = choose(scores, "at_fpr=0.1")
    return {
        "evaluation": result,
        "comparison": compare(scores, other),
        "threshold": threshold,
        "rates": threshold.apply(scores),
        "table": Table(["Model", "x"], [["a", Cell(".9", 0.9, best=True)]]),
        "document": Document.of([result], models=[scores]),
    }


@pytest.mark.parametrize("kind", ["evaluation", "comparison", "threshold", "rates", "table", "document"])
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_every_result_fits_a_screen(things, kind, columns, monkeypatch):
    monkeypatch.setattr(notebook.shutil, "get_terminal_size", lambda *_, **__: os.terminal_size((columns, 24)))
    lines = str(things[kind]).splitlines()
    assert lines[0].strip()
    assert max(map(len, lines)) <= min(columns, 100)
    assert len(lines) <= (24 if columns >= 80 and kind != "document" else 60)
    assert "\x1b" not in str(things[kind])


@pytest.mark.parametrize("kind", ["evaluation", "comparison", "threshold", "rates", "table", "document"])
def test_every_result_is_one_small_table_in_a_notebook(things, kind):
    made = things[kind]._repr_html_()
    tree = ET.fromstring(f"<div>{made}</div>")  # noqa: S314  our own
    assert len(tree.findall("table")) == 1
    assert len(made) < 12_000
    assert not tree.findall(".//script")


def test_the_values_are_those_of_the_result(things):
    result = things["evaluation"]
    tree = ET.fromstring(f"<div>{result._repr_html_()}</div>")  # noqa: S314
    rows = [[cell.text for cell in row] for row in tree.iter("tr")][1:]
    assert [row[0] for row in rows] == [one.title for one in result.headline()]
    for row, one in zip(rows, result.headline("negative"), strict=True):
        assert row[2].startswith(f"{one.value:.3f}".lstrip("0"))
        assert f"{one.high:.3f}".lstrip("0") in row[2]
    first = things["comparison"]
    text = str(first)
    assert f"{first.difference.value:+.3f}".replace("0.", ".") in text
    threshold = things["threshold"]
    assert exact(threshold.value) in str(threshold)
    assert "all decided correctly (OOSA)" in str(things["rates"])
    assert "operational_accuracy" not in str(things["rates"])
    assert f"{100 * threshold.achieved['ccr']:.1f}" in str(threshold)


def test_names_are_text(make_scores):
    table = Table([NASTY], [[NASTY]], title=NASTY, note=NASTY)
    assert "<script" not in table._repr_html_()
    assert "[red]x" in str(Table(["[red]x"], [["[bold]y"]]))
    assert "[bold]y" in str(Table(["[red]x"], [["[bold]y"]]))
    plain = make_scores()
    named = Scores(
        plain.labels, plain.predictions, plain.unknown_score, groups=np.where(plain.labels < 0, NASTY, "").tolist()
    )
    assert "<script" not in evaluate(named, intervals=False)._repr_html_()


def test_many_groups_are_cut_and_counted(make_scores):
    plain = make_scores()
    groups = [f"group {i % 9}" if label < 0 else "" for i, label in enumerate(plain.labels)]
    made = evaluate(Scores(plain.labels, plain.predictions, plain.unknown_score, groups=groups), intervals=False)
    assert "9 more kinds of open-set samples." in str(made)  # of all, negatives, unknowns and nine groups


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_a_frame_has_every_metric_value(things, library):
    import narwhals as nw

    result = things["evaluation"]
    frame = nw.from_native(result.to_frame(library), eager_only=True)
    assert frame.implementation.value == library
    assert frame["value"].to_list() == [one.value for one in result.results]
    assert frame["against"].to_list() == [one.against for one in result.results]
    assert frame["low"].to_list() == [one.low for one in result.results]
    with pytest.raises(openset.OpenSetError, match="no frame library 'spark'. Choose from: polars, pandas, pyarrow"):
        result.to_frame("spark")


@pytest.mark.parametrize("name", [*METRICS, "Scores", "Scores.from_logits", "Scores.read", "RejectingClassifier.fit"])
def test_signatures_in_help_are_short(name):
    if name in METRICS:
        function = METRICS[name].function
    else:
        first, _, method = name.partition(".")
        function = getattr(getattr(openset, first), method) if method else getattr(openset, first)
    written = str(inspect.signature(function))
    assert "_typing" not in written
    assert len(written) < 900
