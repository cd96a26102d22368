"""The commands of docs/own-model.md, run in order with a model that knows red and green things."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from sklearn.linear_model import LogisticRegression

from model_samples import run

PAGE = (Path(__file__).parents[2] / "docs" / "own-model.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)[2:]
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ openset ")
]


def write_photos(folder, colour, n, rng):
    folder.mkdir(parents=True)
    for number in range(n):
        pixels = rng.integers(0, 90, (40, 40, 3), dtype=np.uint8)
        pixels[..., colour] += 150
        Image.fromarray(pixels).save(folder / f"{number:03d}.png")


@pytest.fixture
def place(vit, tmp_path, monkeypatch):
    """A folder with a model, photos to train and validate on, and others."""
    from safetensors.numpy import load_file, save_file

    rng = np.random.default_rng(0)
    for part, n in (("training", 60), ("validation", 40)):
        write_photos(tmp_path / part / "cat", 0, n, rng)
        write_photos(tmp_path / part / "dog", 1, n, rng)
        write_photos(tmp_path / part / "fox", [0, 1], n, rng)
    write_photos(tmp_path / "validation" / "unknown", 2, 10, rng)
    write_photos(tmp_path / "photos" / "first", 0, 20, rng)
    write_photos(tmp_path / "photos" / "second", 2, 20, rng)
    shutil.copytree(vit, tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    assert run("outputs", "hf:my-model", "training", "--out", "first.npz") == 0
    found = np.load("first.npz")
    fitted = LogisticRegression(C=100, max_iter=1000).fit(found["features"], found["labels"])
    weights = load_file("my-model/model.safetensors")
    weights["classifier.weight"] = fitted.coef_.astype(np.float32)
    weights["classifier.bias"] = fitted.intercept_.astype(np.float32)
    save_file(weights, "my-model/model.safetensors", metadata={"format": "pt"})
    return tmp_path


def test_the_commands_end_in_decisions(place, capsys):
    assert [words[0] for words in COMMANDS[:3]] == ["outputs", "threshold", "predict"]
    for words in COMMANDS:
        capsys.readouterr()
        assert run(*words) == 0, words
        if words[0] == "predict":
            shown = capsys.readouterr().out
            assert f"The decisions are in {words[-1]}." in shown
            assert "write them all with --out" not in shown
    rows = pl.read_csv(place / "decisions.csv")
    assert rows.columns == ["id", "decision", "prediction", "unknown_score", "margin"]
    known = rows.filter(pl.col("id").str.contains("first"))
    assert known["prediction"].to_list() == ["cat"] * 20
    assert (known["decision"] == "cat").mean() > 0.8
    features = pl.read_parquet(place / "decisions.parquet")
    assert (features.filter(pl.col("id").str.contains("second"))["decision"] == "unknown").mean() > 0.9
    assert (features.filter(pl.col("id").str.contains("first"))["decision"] == "cat").mean() > 0.8


def test_a_threshold_of_other_training_outputs_is_refused(place, capsys):
    for words in COMMANDS:
        if words[0] != "predict":
            assert run(*words) == 0
    assert run("outputs", "hf:my-model", "validation", "--out", "other.npz") == 0
    capsys.readouterr()
    words = ["predict", "hf:my-model", "photos", "--threshold", "features.json", "--fit"]
    assert run(*words, "other.npz") == 2
    assert "its score was fitted on other training outputs" in capsys.readouterr().err
    assert run(*words[:-1]) == 2
    assert "learns from training outputs" in capsys.readouterr().err
    assert run(*words, "train.npz") == 0
    weights = place / "my-model" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert run(*words, "train.npz") == 2
    assert "it was chosen for another model" in capsys.readouterr().err
