"""Counting on Ray, with workers that are really killed: the results are the same bits."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from openset._io import ray_cluster
from openset.errors import OpenSetError
from openset.scale.engines import ENGINES
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
from samples import random_dataset

pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")

OPENSET = [sys.executable, "-c", "from openset.cli import main; main()"]
WORKER = "ray::_call"


def parent(pid):
    """The process that started another; 0 where it is gone."""
    try:
        return int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def workers(of):
    """Processes, started by process `of` or by those it started, that run one of our tasks at the moment."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or WORKER not in (folder / "cmdline").read_text():
                continue
        except OSError:
            continue
        pid = int(folder.name)
        while pid > 1 and pid != of:
            pid = parent(pid)
        if pid == of:
            found.append(int(folder.name))
    return found


@pytest.fixture
def command(tmp_path):
    """`openset evaluate` in a process of its own, which does not outlive the test."""
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    started = []

    def start(*words, **more):
        process = subprocess.Popen(
            [*OPENSET, "evaluate", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, **more},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_killed_workers_change_nothing(write_parts, tmp_path, command):
    data = random_dataset(1_500_000, dtype=np.float32)
    folder = write_parts(*data, parts=30, group_rows=50_000)
    expected = evaluate_source(open_source(str(folder)), mode="exact", n_resamples=5)
    out = tmp_path / "r.json"
    running = command(folder, "--engine", "ray", "--exact", "--resamples", "5", "--json", out)
    killed, began = set(), time.monotonic()
    while len(killed) < 2 and running.poll() is None and time.monotonic() - began < 300:
        for worker in workers(running.pid):
            if worker not in killed and len(killed) < 2:
                os.kill(worker, signal.SIGKILL)
                killed.add(worker)
        time.sleep(0.01)
    printed, errors = running.communicate(timeout=600)
    assert running.returncode == 0, errors + printed
    assert len(killed) == 2
    found = json.loads(out.read_text())["metrics"]
    assert found == json.loads(json.dumps([one.as_json() for one in expected.results]))


def test_a_cluster_that_nobody_answers_at(command, write_parts):
    folder = write_parts(*random_dataset(60))
    process = command(folder, "--engine", "ray", RAY_ADDRESS="127.0.0.1:9")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "The Ray cluster at 127.0.0.1:9 (RAY_ADDRESS) cannot be reached or started" in errors


@pytest.mark.slow
def test_a_bad_row_is_told(command, write_parts):
    labels, predictions, score = random_dataset(60)
    score[7] = np.nan
    process = command(write_parts(labels, predictions, score), "--engine", "ray", "--bounds")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "unknown_score is nan in row" in errors


def test_a_cluster_that_does_not_start(monkeypatch):
    def late(**_):
        raise Exception("The current node timed out during startup.\nMore.")  # noqa: TRY002 (as Ray does)

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.init", late)
    with pytest.raises(OpenSetError, match="A local Ray cluster cannot be reached or started: The current node timed"):
        ENGINES["ray"](1).__enter__()


def test_a_cluster_that_others_have_started_here_is_left_alone(monkeypatch):
    asked = []

    def init(**options):
        asked.append(options["address"])
        raise OSError("enough")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.init", init)
    for start in (ENGINES["ray"](1).__enter__, ray_cluster.connect):
        with pytest.raises(OpenSetError, match="enough"):
            start()
    assert asked == ["local", "local"]
