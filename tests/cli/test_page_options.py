"""`openset evaluate --samples --threshold`: what the page shows beside results."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from PIL import Image

from openset.operating import choose
from openset.scores import Scores

QUICK = ("--no-intervals",)


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.where(rng.random(60) < 0.5, 0, -2)
    made = Scores(
        labels, np.zeros(60, dtype=int), rng.normal(size=60) + (labels < 0), ids=[f"{i}.png" for i in range(60)]
    )
    made.write(tmp_path / "scores_test.parquet")
    return made


def data_of(path):
    packed = re.search(r'id="data">([^<]*)<', path.read_text(encoding="utf-8")).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_pictures_of_a_folder(openset, scores, tmp_path):
    for name in scores.ids:
        Image.new("L", (8, 8), 100).save(tmp_path / name)
    found = openset(
        "evaluate", tmp_path / "scores_test.parquet", "--report", tmp_path / "r.html", "--samples", tmp_path, *QUICK
    )
    assert found.code == 0
    data = data_of(tmp_path / "r.html")
    assert set(data["contents"]) == set(scores.ids)
    assert data["models"][0]["frozen"] is None


def test_the_threshold_of_the_run_folder_is_marked_unless_another_is_given(openset, scores, tmp_path):
    own, other = (choose(scores, f"at_acceptance={share}") for share in (0.9, 0.5))
    own.write(tmp_path / "threshold.json")
    other.write(tmp_path / "other.json")
    file, page = tmp_path / "scores_test.parquet", tmp_path / "r.html"
    assert openset("evaluate", file, "--report", page, *QUICK).code == 0
    assert data_of(page)["models"][0]["frozen"] == {"value": own.value, "rule": "at_acceptance=0.9"}
    assert openset("evaluate", file, "--report", page, "--threshold", tmp_path / "other.json", *QUICK).code == 0
    assert data_of(page)["models"][0]["frozen"]["rule"] == "at_acceptance=0.5"


def test_a_threshold_of_another_score_is_refused_or_left_out(openset, scores, tmp_path):
    file, page = tmp_path / "scores_test.parquet", tmp_path / "r.html"
    Scores(scores.labels, scores.predictions, scores.unknown_score, meta={"score": "energy"}).write(file)
    other = Scores(scores.labels, scores.predictions, scores.unknown_score, meta={"score": "msp"})
    choose(other, "at_acceptance=0.9").write(tmp_path / "threshold.json")
    assert openset("evaluate", file, "--report", page, *QUICK).code == 0
    assert data_of(page)["models"][0]["frozen"] is None
    found = openset("evaluate", file, "--report", page, "--threshold", tmp_path / "threshold.json", *QUICK)
    assert found.code == 2
    assert "chosen for the score msp, and this is energy" in " ".join(found.err.split())


def test_without_a_page_there_is_nothing_to_show_them_on(openset, scores, tmp_path):
    found = openset("evaluate", tmp_path / "scores_test.parquet", "--samples", tmp_path)
    assert found.code == 2
    assert "add --report FILE.html" in " ".join(found.err.split())
