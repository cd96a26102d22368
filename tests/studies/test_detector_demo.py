"""The demo end to end, with little training: the files it leaves are real and agree with its result."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("PIL.Image")

from openset.cli import main
from openset.detection import evaluate_open_set
from openset.studies.detector_demo import run_demo


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def done(folder):
    printed = []
    demo = run_demo(
        folder,
        steps=250,
        n_train=300,
        n_known=40,
        n_wild=60,
        bootstrap=20,
        report=lambda what, share: printed.append((what, share)),
    )
    assert printed[0][0] == "drawing scenes"
    assert any("training, loss" in what for what, _ in printed)
    return demo


def test_result_is_what_its_files_say(done, folder):
    files = [folder / f"{name}.json" for name in ("known", "known_dt", "wild", "wild_dt")]
    assert evaluate_open_set(*files, bootstrap=20).wilderness == done.result.wilderness
    assert json.loads((folder / "result.json").read_text())["images"] == {"known": 40, "wild": 60}


def test_it_learns_and_is_fooled(done):
    assert done.result.mean_average_precision.known["all_point"] > 0.2
    assert done.result.wilderness[0].point.total.fp_per_1000.value > 0
    assert done.result.owod.a_ose > 0


def test_pictures_are_there(done, folder):
    assert len(list((folder / "images").glob("*.png"))) == 100
    assert done.gallery.sheet == folder / "gallery" / "gallery.png"
    assert done.gallery.sheet.exists()


def test_its_detector_can_be_run_again(done, folder, capsys):
    words = ["detect", "predict", "--model", f"yolo:{folder / 'detector.npz'}", "--known-gt", folder / "known.json"]
    words += ["--gt", folder / "wild.json", "--images", folder / "images", "--out", folder / "again.json"]
    words += ["--json", folder / "said.json"]
    with pytest.raises(SystemExit) as stop:
        main([*map(str, words), "--min-score", "0.01"])
    assert not stop.value.code
    assert "on 60 images" in capsys.readouterr().out
    printed = json.loads((folder / "said.json").read_text())
    first, again = (json.loads((folder / name).read_text()) for name in ("wild_dt.json", "again.json"))
    assert len(first) == len(again) == printed["n_detections"]
    assert (printed["n_images"], printed["out"]) == (60, str(folder / "again.json"))
    assert [row["image_id"] for row in first] == [row["image_id"] for row in again]
    assert [row["score"] for row in first] == pytest.approx([row["score"] for row in again], abs=2e-6)
