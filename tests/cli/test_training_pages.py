"""Pages and figures of training runs and benches."""

import pytest

pytest.importorskip("lightning_fabric")

QUICK = ("--set", "train.epochs=1", "--recipe", "fast/digits")


def test_a_bench_draws_its_dots_and_writes_its_page(openset, tmp_path):
    found = openset(
        "bench", "--protocols", "digits", "--methods", "maxlogit", "--splits", "0-1", *QUICK,
        "--out", tmp_path / "runs", "--report", tmp_path / "b.html", "--figures", tmp_path / "f",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert {file.name for file in (tmp_path / "f").glob("*.png")} == {"bench.png", "gamma-over-epochs.png"}
    assert "4 figures are in" in found.out
    assert "maxlogit" in (tmp_path / "b.html").read_text()


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


def test_a_page_cannot_be_a_folder(refused, tmp_path):
    assert "it is a folder" in refused("train", "fast/digits", "--out", tmp_path / "run", "--report", tmp_path)
    assert "it is a folder" in refused("bench", *QUICK, "--out", tmp_path / "runs", "--report", tmp_path)
    assert not (tmp_path / "run").exists()
