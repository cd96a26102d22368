"""Kills, full disks, jumping clocks, closed folders, narrow terminals, few file handles."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from openset import Scores
from openset.train.config import read_config
from openset.train.run import begin, train

TESTS = Path(__file__).parents[1]
A, B = TESTS / "golden" / "a.csv", TESTS / "golden" / "b.csv"


def run(words, before="", **environment):
    """A command in a process of its own, `before` which something is done to it."""
    code = f"import os, resource, sys, time\n{before}\nfrom openset.cli import main\nmain(sys.argv[1:])"
    kept = {name: value for name, value in os.environ.items() if name not in environment}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env=kept | {name: value for name, value in environment.items() if value is not None},
    )


def refused(found):
    assert found.returncode == 2, found.stderr
    assert found.stderr.startswith("Error: ")
    assert "Traceback" not in found.stderr
    return found.stderr


@pytest.mark.slow
def test_killed_commands_leave_what_undisturbed_ones_do():
    path = f"{TESTS}:{TESTS.parent / 'src'}"
    found = subprocess.run(
        [sys.executable, "-m", "chaos", "4"],
        cwd=TESTS,
        env=os.environ | {"OPENSET_CHAOS_SEED": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "4 kills: 4 identical" in found.stdout


@pytest.mark.parametrize("limit", [500, 40_000])
def test_training_on_a_full_disk_ends_in_a_sentence(tmp_path, limit):
    full = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    told = refused(run(["train", "--protocol", "digits", "--epochs", "1", "--out", tmp_path / "run"], full))
    assert "Cannot write" in told
    assert "file too large" in told
    assert not (tmp_path / "run" / "summary.json").exists()


def test_clocks_may_jump(tmp_path, monkeypatch):
    settings = ["train.epochs=2", "backbone.width=2", "method.name=softmax", "train.save_minutes=0.001"]
    steady = tmp_path / "steady"
    train(begin(read_config(None, settings), steady, resume=False), steady)
    jumps = iter(np.random.default_rng(0).uniform(-1e6, 1e6, 10**6).tolist())
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    jumping = tmp_path / "jumping"
    train(begin(read_config(None, settings), jumping, resume=False), jumping)
    monkeypatch.undo()
    one, two = (Scores.read(folder / "scores_test.parquet") for folder in (steady, jumping))
    assert np.array_equal(one.unknown_score, two.unknown_score)
    assert json.loads((jumping / "summary.json").read_text())["seconds"] >= 0


@pytest.mark.parametrize("name", ["HOME", "TMPDIR", "OPENSET_CACHE", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("place", ["missing", "file"])
def test_folders_of_the_system_may_be_closed(tmp_path, name, place):
    (tmp_path / "file").write_text("x")
    where = tmp_path / ("missing/deep" if place == "missing" else "file/deep")
    found = run(["evaluate", A, "--no-intervals", "--json", tmp_path / "r.json"], **{name: str(where)})
    assert found.returncode == 0, found.stderr
    assert json.loads((tmp_path / "r.json").read_text())["files"][0]["n_known"] == 60


@pytest.mark.parametrize("encoding", [None, "ascii", "latin-1"])
def test_names_in_any_script_in_a_plain_locale(tmp_path, encoding):
    path = tmp_path / "\u00fcn\u00ef\u6f22.csv"
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": None, "PYTHONIOENCODING": encoding}
    path.write_text("label,prediction,unknown_score\n\u732b,\u732b,0.1\nunknown,\u732b,0.9\n", encoding="utf-8")
    found = run(["evaluate", path, "--no-intervals", "--json", tmp_path / "r.json"], **plain)
    assert found.returncode == 0, found.stderr
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["files"][0]["n_classes"] == 1
    path.write_text("label,prediction,unknown_score\n\u732b,\u732b,x\n", encoding="utf-8")
    refused(run(["evaluate", path], **plain))
    path.write_text("label,prediction,unknown_score\n\u732b,\u732b,1\n\u732b\u200b,\u732b,1\n", encoding="utf-8")
    refused(run(["evaluate", path], **plain))


@pytest.mark.parametrize(
    "words", [["evaluate", A, B, "--resamples", "5"], ["compare", A, B, "--resamples", "5"], ["metrics"]]
)
def test_a_terminal_of_twenty_columns(words):
    found = run(words, COLUMNS="20", TERM="xterm", FORCE_COLOR="1")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", A, B, "--resamples", "5", "--report", "OUT/r.html"],
        ["train", "--protocol", "digits", "--epochs", "1", "--set", "backbone.width=2", "--out", "OUT/run"],
    ],
    ids=["evaluate", "train"],
)
def test_thirty_two_file_handles(tmp_path, words):
    few = "resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))"
    found = run([str(word).replace("OUT", str(tmp_path)) for word in words], few)
    if found.returncode:
        assert "too many open files" in refused(found)
    assert not [file for file in tmp_path.rglob(".*") if file.is_file()]
