import json
import re
import subprocess
import sys

import pytest

import openset
from openset._core.numbers import number, p_number
from openset.errors import OpenSetError
from openset.evaluation import evaluate
from openset.intervals import compare
from openset.present.page import evaluation_page
from openset.present.rendering import document_csv
from openset.results.document import Document
from openset.results.metric_bars import needed_by, parse_metric_bar


@pytest.fixture
def document(make_scores):
    """Three models on the same samples, two of them splits of one, and two bars."""
    models = [make_scores(seed=0, n=400)]
    labels = models[0].labels
    for place in (1, 2):
        other = make_scores(seed=place, n=400)
        models.append(openset.Scores(labels, models[0].predictions, other.unknown_score + 0.2 * place * (labels < 0)))
    bars = [parse_metric_bar("open_auc.low>=0.99"), parse_metric_bar("ccr_at_fpr(fpr=0.3)>=0")]
    evaluations = [evaluate(one, n_resamples=30, also=needed_by(bars)) for one in models]
    return Document.of(
        evaluations,
        names=["a", "b", "c"],
        files=["a.csv", "b.csv", "c.csv"],
        models=models,
        groups={"ours": [1, 2]},
        splits=["0", "0", "1"],
        bars=bars,
    )


def test_every_rendering_shows_the_same_numbers(document, tmp_path):
    content = json.loads(json.dumps(document.as_json(), allow_nan=False))
    assert content["schema"] == 2
    page, markdown, lines = evaluation_page(document), document.to_markdown(), document_csv(document)
    plain = markdown.replace("\\", "")
    for file in content["files"]:
        for metric in file["metrics"]:
            shown = f"{number(metric['value'])} [{number(metric['low'])}, {number(metric['high'])}]"
            assert shown in page
            assert f",{metric['value']!r},{metric['low']!r},{metric['high']!r}\n" in lines
        first = file["metrics"][0]
        assert f"{number(first['value'])} [{number(first['low'])}, {number(first['high'])}]" in plain
    for test in content["comparisons"]:
        assert f'<td data-value="{test["p_value"]:.9g}">' in page
        assert p_number(test["p_value"]) in plain
    for bar in content["gate"]:
        assert bar["bar"].replace(">", "&gt;") in page
        assert bar["bar"] in plain
    for sentence in content["verdict"]:
        assert " ".join(sentence.split()) in plain
    group = next(m for m in content["groups"][0]["metrics"] if m["name"] == "open_auc" and not m["params"])
    for text in (page, plain):
        assert f"{number(group['value'])} ± {number(group['sd'])}" in text
        assert "ours (mean ± sd of 2 splits)" in text


def test_the_p_values_are_those_of_holm(document):
    found = document.as_json()["comparisons"]
    best = document.names[document.ranking[0]]
    assert {tuple(one["models"]) for one in found} == {(best, name) for name in "abc" if name != best}
    assert [one["name"] for one in found] == ["open_auc", "auroc"] * 2
    for one in found:
        assert one["p_uncorrected"] <= one["p_value"] <= 4 * one["p_uncorrected"]
        first, second = (document.models[document.names.index(name)] for name in one["models"])
        assert one["p_uncorrected"] == compare(first, second, one["name"]).p_value
    assert min(one["p_value"] for one in found) == min(1.0, 4 * min(one["p_uncorrected"] for one in found))


def test_bars_are_kept_with_what_was_found(document):
    found = document.as_json()["gate"]
    assert [(one["bar"], one["where"], one["reached"]) for one in found] == [
        *(("open_auc.low>=0.99", name, False) for name in "abc"),
        *(("ccr_at_fpr(fpr=0.3)>=0", name, True) for name in "abc"),
    ]
    assert found[0]["low"] == document.evaluations[0].find("open_auc").low


def test_what_was_saved_is_what_is_loaded(document, tmp_path):
    document.save(tmp_path / "d.json")
    again = Document.load(tmp_path / "d.json")
    assert again.as_json() == document.as_json()
    assert again.evaluations == document.evaluations
    assert (again.tests, again.gate, again.groups) == (document.tests, document.gate, document.groups)
    assert again.to_markdown() == document.to_markdown()
    whole = Document.load(tmp_path / "d.json", models=document.models)
    assert whole.to_html() == document.to_html()


def test_the_verdict_speaks_of_means_before_single_splits(document):
    mean = document.groups[0].find(document.evaluations[0].find("open_auc"))
    assert document.verdict[0] == f"The mean OpenAUC of ours is {mean.text} (2 splits)."
    assert "is the best of 3 files by OpenAUC" in document.verdict[1]
    two = Document.of(document.evaluations * 2, names=list("abcdef"), groups={"x": [0, 1], "y": [0, 2]})
    assert re.match(r"[xy] has the largest mean OpenAUC of 2 models, ", two.verdict[0])


def test_one_model_has_its_metrics_at_the_top(make_scores):
    made = Document.of([evaluate(make_scores(), n_resamples=20)]).as_json()
    assert made["metrics"] == made["files"][0]["metrics"]
    assert "comparisons" not in made
    assert "gate" not in made
    assert Document.from_json(made).as_json() == made


def test_scores_of_another_model_are_refused(document, make_scores, tmp_path):
    document.save(tmp_path / "d.json")
    others = [make_scores(seed=9)] * 3
    with pytest.raises(OpenSetError, match="scores of a are not those that were evaluated"):
        Document.load(tmp_path / "d.json", models=others)
    with pytest.raises(OpenSetError, match="scores of model are not those"):
        Document.of([evaluate(make_scores(), n_resamples=20)], models=[make_scores(seed=1)])


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"files": 3}',
        '{"files": [{"name": "a"}]}',
        '{"files": [], "provenance": {}, "verdict": []}',
        "null",
    ],
)
def test_another_file_is_one_sentence(content, tmp_path):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(OpenSetError, match="x.json: "):
        Document.load(tmp_path / "x.json")


def test_names_must_differ(make_scores):
    found = evaluate(make_scores(), n_resamples=20)
    with pytest.raises(OpenSetError, match="a name of its own"):
        Document.of([found, found], names=["a", "a"])
    with pytest.raises(OpenSetError, match="a name of its own"):
        Document.of([found], names=["a", "b"])
    with pytest.raises(OpenSetError, match="at least one"):
        Document.of([])


@pytest.mark.parametrize("room", ["openset", "openset.results", "openset.results.document"])
def test_documents_render_themselves_wherever_they_are_imported_from(room):
    code = f"""
from {room} import Document
from openset import Scores, evaluate
document = Document.of([evaluate(Scores([0, 1, -2], [0, 1, 0], [0.1, 0.2, 0.3]), intervals=False)], names=["ours"])
print(document.to_markdown().splitlines()[0], document.to_html()[:15])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert re.match(r"OpenAUC is 1\.000: .* <!doctype html>", shown)
