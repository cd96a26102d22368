"""Grids on Ray, with workers, machines and commands that are really killed: the results are the same bits."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import polars as pl
import pytest

from killing import in_training, resumptions
from openset._io.folder_lock import is_held
from openset.cli import main

pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")

METHODS = ("softmax", "maxlogit", "openauc")
GRID = ["bench", "-p", "digits", "-m", ",".join(METHODS), "--splits", "0-1", "--set", "train.epochs=60"]
OPENSET = [sys.executable, "-c", "from openset.cli import main; main()"]


@contextmanager
def command(*words, **environment):
    """`openset` in a process of its own; it does not outlive the test."""
    process = subprocess.Popen(
        [*OPENSET, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**{name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


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


def test_a_killed_worker_is_followed_by_another_that_goes_on(tmp_path, undisturbed):
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        folder, worker = in_training(tmp_path)
        os.kill(worker, signal.SIGKILL)
        said, errors = running.communicate(timeout=600)
    assert running.returncode == 0, errors
    assert "6/6" in said
    assert digests(tmp_path) == undisturbed
    found = resumptions(tmp_path)
    (at,) = found[str(folder.relative_to(tmp_path))]
    assert at[0] >= 3  # not from the start
    others = {
        name: places
        for name, places in found.items()
        if name.replace("maxlogit", "softmax") != str(folder.relative_to(tmp_path))
    }
    assert len(others) >= 4
    assert all(places == [] for places in others.values())


def test_a_killed_command_goes_on_when_it_is_given_again(tmp_path, undisturbed):
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        folder, _ = in_training(tmp_path)
        running.send_signal(signal.SIGKILL)
        running.wait(30)
    end = time.monotonic() + 60
    while is_held(folder) and time.monotonic() < end:  # Ray ends what a lost command has left
        time.sleep(0.1)
    assert not is_held(folder)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("summary.json")}
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        _, errors = running.communicate(timeout=600)
    assert running.returncode == 0, errors
    assert digests(tmp_path) == undisturbed
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert resumptions(tmp_path)[str(folder.relative_to(tmp_path))][0][0] >= 3


def test_ctrl_c_saves_what_is_being_trained(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray") as running:
        folder, _ = in_training(tmp_path)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=600)
    assert running.returncode == 130
    assert "Stopped; checkpoints are saved. Run the same command again to resume." in errors
    assert not is_held(folder)


CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
nodes = [cluster.add_node(num_cpus=1, num_gpus=1) for _ in range(2)]
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(nodes[0], allow_graceful=False)
print("gone", flush=True)
sys.stdin.readline()
cluster.shutdown()
"""


@pytest.mark.slow
def test_a_machine_that_is_lost_costs_nothing_but_time(tmp_path, undisturbed):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], text=True, **pipes) as cluster:
        address = cluster.stdout.readline().strip()
        try:
            words = ("--engine", "ray", "--gpus-per-cell", "0.25")
            with command(*GRID, "--out", tmp_path, *words, RAY_ADDRESS=address) as running:
                in_training(tmp_path)
                cluster.stdin.write("\n")
                cluster.stdin.flush()
                assert cluster.stdout.readline() == "gone\n"
                said, errors = running.communicate(timeout=600)
            assert running.returncode == 0, errors
            assert "Ray: 2 cores and 2 GPUs." in said
        finally:
            cluster.communicate("\n\n", timeout=60)
    assert digests(tmp_path) == undisturbed
    assert [places for places in resumptions(tmp_path).values() if places]  # somebody was in the middle of it
    assert all(at[0] >= 1 for places in resumptions(tmp_path).values() for at in places)


def test_a_cluster_that_cannot_be_reached_is_said(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray", RAY_ADDRESS="127.0.0.1:1") as running:
        _, errors = running.communicate(timeout=600)
    assert running.returncode == 2
    assert "Error: The Ray cluster at 127.0.0.1:1 (RAY_ADDRESS) cannot be reached" in errors
    assert "Traceback" not in errors


def test_more_than_this_machine_has_is_said(tmp_path):
    with command(*GRID, "--out", tmp_path, "--engine", "ray", "--gpus-per-cell", "64") as running:
        _, errors = running.communicate(timeout=600)
    assert running.returncode == 2
    assert "A cell needs 64 GPU, and this machine has " in errors


def test_a_failed_cell_is_noted_and_the_others_go_on(tmp_path):
    (tmp_path / "mine.yaml").write_text("data: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    words = ["bench", "-p", str(tmp_path / "mine.yaml"), "-m", "entropic,maxlogit", "--set", "train.epochs=1"]
    with command(*words, "--out", tmp_path / "runs", "--engine", "ray") as running:
        said, errors = running.communicate(timeout=600)
    assert running.returncode == 1
    assert "1 of 2 runs failed" in errors
    assert "The method 'entropic' learns from negatives" in said


def test_reproductions_run_on_it_too(tmp_path):
    words = ["reproduce", "openauc/table2", "-m", "softmax,maxlogit", "--splits", "0", "--set", "train.epochs=1"]
    with command(*words, "--out", tmp_path, "--engine", "ray") as running:
        _, errors = running.communicate(timeout=600)
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
