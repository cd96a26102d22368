import base64
import gzip
import json
import re

import numpy as np
import pytest

from openset.errors import OpenSetError
from openset.evaluation import evaluate
from openset.present.page import evaluation_page, write_page
from openset.present.page.html import section, table, text
from openset.present.page.page import render
from openset.results.document import Document
from openset.results.table import Cell, Table
from openset.scores import Scores

NASTY = "<script>alert(1)</script>"


def data_of(page):
    packed = re.search(r'id="data">([^<]*)<', page).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def page_of(*scores, names=None, **options):
    evaluations = [evaluate(one, n_resamples=20) for one in scores]
    return evaluation_page(Document.of(evaluations, names=names, models=scores, **options))


def test_every_name_is_escaped():
    labels = [0, 1, 0, -2, -2]
    scores = Scores(
        labels,
        [0, 1, 1, 0, 1],
        [0.1, 0.2, 0.6, 0.5, 0.9],
        class_names=[NASTY, "</script>{{script}}"],
        open_classes=["", "", "", NASTY, "'\"&"],
        meta={NASTY: NASTY},
    )
    page = page_of(scores, names=[NASTY])
    assert NASTY not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "&lt;script&gt;alert(1)" in page
    assert data_of(page)["class_sets"][0] == [NASTY, "</script>{{script}}"]


def test_the_page_loads_nothing_and_runs_only_its_own_script(make_scores):
    page = page_of(make_scores())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "script-src 'unsafe-inline'" not in policy
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_placeholders_in_content_are_not_filled():
    page = render("{{data}}", ["{{style}}"], {"a": 1})
    assert "{{style}}" in page
    assert "<title>{{data}}</title>" in page


def test_html_helpers_escape():
    assert text("<&\"'>") == "&lt;&amp;&quot;&#x27;&gt;"
    made = table(Table([NASTY], [[NASTY], [Cell(NASTY, 1.5)]], title=NASTY), name="a")
    assert NASTY not in made
    assert 'data-value="1.5"' in made
    assert NASTY not in section(NASTY, name="a")


def test_the_data_are_the_cores_numbers(make_scores):
    scores = make_scores(groups=True)
    model = data_of(page_of(scores))["models"][0]
    assert set(model["fpr"]) == {"all", "negative", "unknown", "easy", "hard"}
    acceptance = np.cumsum(model["acceptance"]) / 1e6
    known = scores.labels >= 0
    for step in (1, len(acceptance) // 2, len(acceptance) - 1):
        accepted = scores.unknown_score <= model["thresholds"][step]
        assert acceptance[step] == pytest.approx(accepted[known].mean(), abs=1e-6)
    assert model["thresholds"][0] is None
    assert len(model["thresholds"]) <= 1001


def test_thresholds_are_not_rounded(make_scores):
    plain = make_scores()
    for close in (1 / (1 + np.exp(-15 - plain.unknown_score)), 1234567 + plain.unknown_score / 10):
        model = data_of(page_of(Scores(plain.labels, plain.predictions, close)))["models"][0]
        assert set(model["thresholds"][1:]) <= set(close.tolist())


@pytest.mark.parametrize("scores", [[0.3, 0.3, 0.1 + 0.2], [-1e308, 0.0, 1e308], [1.7e308] * 3, [0.0, 0.0, 5e-324]])
def test_scores_at_the_limits_of_numbers_have_a_page(scores):
    page_of(Scores([0, 1, -2], [0, 1, 0], scores))


@pytest.mark.slow
def test_the_page_stays_small(make_scores):
    page = page_of(make_scores(n=4000, n_classes=300))
    assert len(page.encode()) < 1_000_000
    many = [make_scores(n=400, n_classes=40, seed=i) for i in range(30)]
    page = page_of(*many)
    assert len(page.encode()) < 3_000_000
    assert len(data_of(page)["models"][0]["thresholds"]) <= 1001


def test_a_perfect_and_a_useless_model_have_pages(make_scores):
    labels = [0, 1, -2, -2]
    page_of(Scores(labels, [0, 1, 0, 0], [0.0, 0.1, 0.8, 0.9]))
    page_of(Scores(labels, [1, 0, 0, 0], [3.0, 3.0, 3.0, 3.0]))
    page_of(Scores([0, -2], [0, 0], [1e12, 1e12 + 1]))


def test_models_with_different_groups_and_classes_share_a_page(make_scores):
    data = data_of(page_of(make_scores(groups=True), make_scores(n_classes=7, seed=1)))
    assert data["parts"] == ["all", "negative", "unknown", "easy", "hard"]
    assert "easy" not in data["models"][1]["fpr"]
    assert len(data["class_sets"][data["models"][1]["classes"]]) == 7


@pytest.mark.parametrize("order", [1, -1])
def test_the_verdict_speaks_of_the_kinds_that_the_best_model_met(make_scores, order):
    full = make_scores()
    kept = full.labels != -1
    better = full.unknown_score[kept] + 3 * (full.labels[kept] < 0)
    without = Scores(full.labels[kept], full.predictions[kept], better)
    page = page_of(*[full, without][::order], names=["full", "without"][::order])
    assert "without is the best of 2 models" in page
    assert "Negatives, seen in training" not in page


def test_a_page_without_tests_claims_nothing_about_the_samples(make_scores):
    models = make_scores(), make_scores(n=200)
    evaluations = [evaluate(one, intervals=False) for one in models]
    assert "not run on the same samples" not in evaluation_page(Document.of(evaluations))
    assert "not run on the same samples" in page_of(*models)


def test_a_document_without_scores_has_a_page_of_tables(make_scores):
    document = Document.of([evaluate(make_scores(), n_resamples=20)], names=["ours"])
    page = evaluation_page(document)
    assert 'id="metrics"' in page
    assert 'id="operating"' not in page
    assert "models" not in data_of(page)


def test_a_folder_or_an_unwritable_place_is_one_sentence(tmp_path):
    with pytest.raises(OpenSetError, match="it is a folder"):
        write_page(tmp_path, "page")
    (tmp_path / "file").write_text("")
    with pytest.raises(OpenSetError, match="Cannot write"):
        write_page(tmp_path / "file" / "report.html", "page")


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    write_page(target, "old")
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OpenSetError, match="no space left"):
        write_page(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
