"""Grids on Ray, with workers, machines and commands that are really killed: the results are the same bits."""

import hashlib
import os
import signal
import subprocess
import time

import polars as pl
import pytest

from killing import in_training, resumptions
from openset._io.folder_lock import is_held
from openset.cli import main
from ray_clusters import OPENSET, command, two_machines

pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")
pytestmark = pytest.mark.slow  # each starts Ray

SHORT = ["--set", "train.epochs=24", "--set", "backbone.width=8"]
GRID = ["bench", "-p", "digits", "-m", "softmax,maxlogit,openauc", "--splits", "0", *SHORT]


def digests(out):
    """Of every number that a grid leaves, by run."""
    found = {}
    for file in sorted(out.rglob("scores_*.parquet")):
        frame = pl.read_parquet(file)
        found[str(file.relative_to(out))] = hashlib.sha256(frame.write_csv().encode()).hexdigest()
    for file in sorted(out.rglob("last.safetensors")):
        found[str(file.relative_to(out))] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The grid, run in one process without any trouble."""
    out = tmp_path_factory.mktemp("undisturbed")
    subprocess.run([*OPENSET, *GRID, "--out", str(out)], check=True, capture_output=True)
    return digests(out)


def test_killed_workers_are_followed_by_others_that_go_on(tmp_path, undisturbed):
    killed = {}
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        for _ in range(2):
            folder, worker = in_training(tmp_path, least=2, most=20, but=killed)
            os.kill(worker, signal.SIGKILL)
            killed[folder] = worker
        printed, errors = running.communicate(timeout=1200)
    assert running.returncode == 0, errors
    assert "3/3" in printed
    assert digests(tmp_path) == undisturbed
    # maxlogit shares the training of softmax. Each killed training went on once, not from its start; no other stopped.
    names = {str(folder.relative_to(tmp_path)).replace("maxlogit", "softmax") for folder in killed}
    for name, places in resumptions(tmp_path).items():
        hit = name.replace("maxlogit", "softmax") in names
        assert [at[0] >= 2 for at in places] == [True] * hit, name


def test_a_killed_command_goes_on_when_it_is_given_again(tmp_path, undisturbed):
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        folder, _ = in_training(tmp_path, least=2, most=20)
        running.send_signal(signal.SIGKILL)
        running.wait(30)
    end = time.monotonic() + 60
    while is_held(folder) and time.monotonic() < end:  # Ray ends what a lost command has left
        time.sleep(0.1)
    assert not is_held(folder)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("summary.json")}
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        _, errors = running.communicate(timeout=1200)
    assert running.returncode == 0, errors
    assert digests(tmp_path) == undisturbed
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert resumptions(tmp_path)[str(folder.relative_to(tmp_path))][0][0] >= 2


def test_ctrl_c_saves_what_is_being_trained(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        folder, _ = in_training(tmp_path, least=2, most=20)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=1200)
    assert running.returncode == 130
    assert "Stopped; checkpoints are saved. Run the same command again to resume." in errors
    assert not is_held(folder)


def test_a_machine_that_is_lost_costs_nothing_but_time(tmp_path, undisturbed):
    with two_machines() as cluster:
        words = ("--engine", "ray", "--gpus-per-cell", "0.25")
        with command(*GRID, "--out", tmp_path, *words, RAY_ADDRESS=cluster.address) as running:
            first, _ = in_training(tmp_path, least=1, most=20)
            in_training(tmp_path, least=1, most=20, but=[first])  # both machines are at work
            cluster.pull_one()
            printed, errors = running.communicate(timeout=1200)
        assert running.returncode == 0, errors
        assert "Ray: 2 cores and 2 GPUs." in printed
    assert digests(tmp_path) == undisturbed
    assert [places for places in resumptions(tmp_path).values() if places]  # somebody was in the middle of it
    assert all(at[0] >= 1 for places in resumptions(tmp_path).values() for at in places)


def test_a_cluster_that_cannot_be_reached_is_said(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray", RAY_ADDRESS="127.0.0.1:1") as running:
        _, errors = running.communicate(timeout=1200)
    assert running.returncode == 2
    assert "Error: The Ray cluster at 127.0.0.1:1 (RAY_ADDRESS) cannot be reached" in errors
    assert "Traceback" not in errors


def test_more_than_this_machine_has_is_said(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray", "--gpus-per-cell", "64") as running:
        _, errors = running.communicate(timeout=1200)
    assert running.returncode == 2
    assert "A cell needs 64 GPU, and this machine has " in errors


def test_a_failed_cell_is_noted_and_the_others_go_on(tmp_path):
    (tmp_path / "mine.yaml").write_text("data: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    words = ["bench", "-p", str(tmp_path / "mine.yaml"), "-m", "entropic,maxlogit", "--set", "train.epochs=1"]
    with command(*words, "--out", tmp_path / "runs", "--engine", "ray") as running:
        printed, errors = running.communicate(timeout=1200)
    assert running.returncode == 1
    assert "1 of 2 runs failed" in errors
    assert "The method 'entropic' learns from negatives" in printed


def test_reproductions_run_on_it_too(tmp_path):
    words = ["reproduce", "openauc/table2", "-m", "softmax,maxlogit", "--splits", "0", "--set", "train.epochs=1"]
    with command(*words, "--out", tmp_path, "--engine", "ray") as running:
        _, errors = running.communicate(timeout=1200)
    assert running.returncode == 0, errors
    assert len(list((tmp_path / "results").rglob("*.json"))) == 2
    with pytest.raises(SystemExit) as end:
        main([*words, "--out", str(tmp_path), "--show"])
    assert not end.value.code


def test_workers_without_openset_are_told_what_to_install():
    import ray

    from openset.studies.executors.ray import _reason

    error = ray.exceptions.RaySystemError("System error: No module named 'openset'\ntraceback: ...")
    assert "pip install 'openset[ray,torch,data]' on every machine" in _reason(error, 3)
    lost = ray.exceptions.WorkerCrashedError()
    assert _reason(lost, 2).startswith("The worker was lost 3 times (WorkerCrashedError: ")
