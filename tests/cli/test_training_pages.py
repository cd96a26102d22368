"""Pages and figures of training runs and benches."""

import pytest

pytest.importorskip("lightning_fabric")

from openset import Scores
from openset._core.numbers import interval

QUICK = ("--set", "train.epochs=1", "--recipe", "fast/digits")


@pytest.mark.slow
def test_a_bench_draws_its_dots_and_writes_its_page(openset, tmp_path):
    found = openset(
        "bench", "--protocols", "digits", "--methods", "maxlogit", "--splits", "0-1", *QUICK,
        "--out", tmp_path / "runs", "--report", tmp_path / "b.html", "--figures", tmp_path / "f",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert {file.name for file in (tmp_path / "f").glob("*.png")} == {"bench.png", "gamma-over-epochs.png"}
    assert "4 figures are in" in found.out
    assert "maxlogit" in (tmp_path / "b.html").read_text()


@pytest.mark.slow
def test_a_run_writes_its_page_with_curves(openset, tmp_path):
    found = openset(
        "train", "fast/digits", "--method", "maxlogit", "--epochs", 2, "--out", tmp_path / "run",
        "--report", tmp_path / "t.html", "--figures", tmp_path / "f",
    )  # fmt: skip
    assert found.code == 0, found.err
    drawn = {file.stem for file in (tmp_path / "f").glob("*.pdf")}
    assert {"training-curves", "gamma-over-epochs", "oscr-log", "confusion"} <= drawn
    page = (tmp_path / "t.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<h1>maxlogit on digits, split 0</h1>" in page
    assert "val_gamma_minus" in page


@pytest.mark.slow
def test_summary_page_and_evaluate_show_the_same_intervals(openset, tmp_path, load):
    run = tmp_path / "run"
    words = ("train", "fast/digits", "--method", "maxlogit", "--epochs", 1, "--out", run, "--json", tmp_path / "t.json")
    assert openset(*words, "--report", tmp_path / "t.html").code == 0
    summary = load(run / "summary.json")
    assert load(tmp_path / "t.json") == summary
    words = ("evaluate", run / "scores_test.parquet", "--json", tmp_path / "e.json", "--report", tmp_path / "e.html")
    assert openset(*words).code == 0
    evaluated = load(tmp_path / "e.json")
    assert evaluated["metrics"] == summary["metrics"] == summary["files"][0]["metrics"]
    assert len(summary["metrics"]) > 50
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("t.html", "e.html")]
    for metric in summary["metrics"]:
        shown = interval(metric["value"], metric["low"], metric["high"])
        for page in pages:
            assert f'<td data-value="{metric["value"]:.9g}">{shown}</td>' in page
    assert summary["verdict"] == evaluated["verdict"]
    # A page made later shows what was stored, and refuses other scores.
    again = ("train", "--resume", "--out", run, "--report", tmp_path / "again.html")
    assert openset(*again).code == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == pages[0]
    scores = Scores.read(run / "scores_test.parquet")
    Scores(scores.labels, scores.predictions, -scores.unknown_score).write(run / "scores_test.parquet")
    found = openset(*again)
    assert found.code == 2
    assert "not those that were evaluated" in found.err


def test_a_page_cannot_be_a_folder(refused, tmp_path):
    assert "it is a folder" in refused("train", "fast/digits", "--out", tmp_path / "run", "--report", tmp_path)
    assert "it is a folder" in refused("bench", *QUICK, "--out", tmp_path / "runs", "--report", tmp_path)
    assert not (tmp_path / "run").exists()
