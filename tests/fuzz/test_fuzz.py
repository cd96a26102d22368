"""The fuzz itself: it finds what breaks a rule, and a few inputs keep them all. `make fuzz N=20000` tries more."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from fuzz.given import Attempt
from fuzz.judge import Outcome, half_file, judge
from fuzz.mutators import BY_KIND
from fuzz.readers import UnreadableError, read_detections_slowly, read_scores_slowly
from openset import Scores

GOLDEN = Path(__file__).parents[1] / "golden"


def judged(folder, outcome, words=("evaluate", "a.csv"), before=frozenset(), **told):
    return " ".join(judge(Attempt(list(words), **told), outcome, folder, set(before)))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "here" / "out").mkdir(parents=True)
    return tmp_path / "here"


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome(3, "", "Error: openset failed unexpectedly"), "exit 3"),
        (Outcome(None, "", "KeyError"), "exit None"),
        (Outcome(2, "", "Traceback (most recent call last)"), "a traceback"),
        (Outcome(0, "", "x.py:3: RuntimeWarning: divide by zero"), "a warning of a library"),
        (Outcome(2, "", ""), "exit 2 without a sentence"),
        (Outcome(1, "red \x1b[31m", ""), "a control character"),
        (Outcome(1, "", "\x9b2J"), "a control character"),
    ],
)
def test_bad_manners_are_found(folder, outcome, told):
    assert told in judged(folder, outcome)


def test_good_manners_are_none_of_its_business(folder):
    assert not judged(folder, Outcome(2, "", "Error: a sentence.\n"))
    assert not judged(folder, Outcome(1, "table\n\tcell", ""))


def test_files_elsewhere_are_found(folder):
    (folder / "out" / "fine.txt").write_text("x")
    assert not judged(folder, Outcome(1, "", ""))
    (folder / "stray.txt").write_text("x")
    assert "outside --out: stray.txt" in judged(folder, Outcome(1, "", ""))
    assert not judged(folder, Outcome(1, "", ""), before={folder / "stray.txt"})
    (folder.parent / "above.txt").write_text("x")
    assert "beside the folder: above.txt" in judged(folder, Outcome(1, "", ""), before={folder / "stray.txt"})


@pytest.mark.parametrize(
    ("name", "whole", "half"),
    [
        ("a.json", '{"a": 1}', '{"a": '),
        ("a.html", "<html></html>\n", "<html>"),
        ("a.csv", "a,b\n1,2\n", "a,b\n1\n"),
        ("a.tex", r"\begin{t}\end{t}", r"\begin{t}"),
        ("a.md", "x", ""),
    ],
)
def test_half_files_are_found(folder, name, whole, half):
    (folder / "out" / name).write_text(whole)
    assert not judged(folder, Outcome(2, "", "Error: x"))
    (folder / "out" / name).write_text(half)
    assert f"half a file: out/{name}" in judged(folder, Outcome(2, "", "Error: x"))
    assert half_file(folder / "out" / ".a.tmp")


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_misread_labels_are_found(folder, kind, monkeypatch):
    file = folder / f"a.{kind}"
    Scores([0, 1, -2, -1], [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], class_names=("cat", "dog")).write(file)
    files = [{"n_known": 2, "n_negative": 1, "n_unknown": 1}]
    (folder / "out" / "r.json").write_text(json.dumps({"files": files}))
    told = {"words": ("evaluate", file.name), "before": {file}, "judged": [file.name]}
    assert not judged(folder, Outcome(0, "", ""), **told)
    (folder / "out" / "r.json").write_text(json.dumps({"files": [files[0] | {"n_unknown": 2}]}))
    assert "is told to hold" in judged(folder, Outcome(0, "", ""), **told)
    other = Scores([0, 0, -2, -1], [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], class_names=("cat", "dog"))
    monkeypatch.setattr(Scores, "read", lambda path: other)
    assert "labels of a" in judged(folder, Outcome(0, "", ""), **told)


def test_the_slow_reader_by_hand(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeffsep=;\nID;Label ;prediction\n"x;y";dog;cat\n\nz; Unknown;dog\nw;-1;cat\n')
    found = read_scores_slowly(tmp_path / "a.csv")
    assert (found.labels, found.classes) == (["dog", -2, -1], {"cat", "dog"})
    pl.DataFrame({"label": [3, -2], "prediction": [0, 1]}).write_parquet(tmp_path / "a.parquet")
    found = read_scores_slowly(tmp_path / "a.parquet")
    assert (found.labels, found.classes) == ([3, -2], 4)
    np.savez(tmp_path / "a.npz", gt=[1, -1], logits=np.zeros((2, 5)))
    found = read_scores_slowly(tmp_path / "a.npz")
    assert (found.labels, found.classes) == ([1, -1], 5)
    with pytest.raises(UnreadableError):
        read_scores_slowly(tmp_path / "a.txt")


def test_the_slow_reader_of_detections(tmp_path):
    for part in ("known", "wild"):
        (tmp_path / f"{part}.json").write_text((GOLDEN / f"{part}.json").read_text())
        (tmp_path / f"{part}_found.json").write_text("[{}, {}]")
    found = read_detections_slowly(tmp_path)
    assert found == {"images": {"known": 12, "wild": 16}, "detections": {"known": 2, "wild": 2}}
    (tmp_path / "wild.json").write_text('{"images": [], "images": []}')
    with pytest.raises(UnreadableError, match="occurs twice"):
        read_detections_slowly(tmp_path)


@pytest.mark.parametrize("file", ["a.csv", "known.json"])
def test_the_same_seed_gives_the_same_damage(file):
    data, mutate = (GOLDEN / file).read_bytes(), BY_KIND[Path(file).suffix]
    made = [mutate(Random(seed), data) for seed in range(30)]
    assert made == [mutate(Random(seed), data) for seed in range(30)]
    assert len(set(made)) > 20


@pytest.mark.slow
def test_a_few_inputs_keep_the_rules():
    found = subprocess.run(
        [sys.executable, "-m", "fuzz", "40"],
        cwd=Path(__file__).parents[1],
        env={
            **os.environ,
            "OPENSET_FUZZ_SEED": "1",
            "PYTHONPATH": f"{Path(__file__).parents[1]}:{Path(__file__).parents[2] / 'src'}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "40 inputs with seed 1: 0 broken rules" in found.stdout
