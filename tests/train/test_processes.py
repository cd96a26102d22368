"""Several processes: the same training, shared out."""

import json
import os
import socket
import subprocess
import sys

import polars as pl
import pytest

from openset.train.config import read_config
from openset.train.processes import is_first_process

PROGRAM = """
import sys
from pathlib import Path
import numpy as np, torch
from openset.protocols import load
from openset.train.build import make_fabric, make_network
from openset.train.config import read_config
from openset.train.feed import Feed
from openset.train.loop import fit
from openset.train.processes import join, leave

out, devices, method = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

class Vectors:
    shape = (64,)
    def __init__(self, part):
        self.labels, self.rows = part.labels, part.array().reshape(len(part.labels), -1).astype(np.float32)
    def __len__(self):
        return len(self.labels)
    def array(self, positions=None, *, size=None):
        return self.rows[positions]

config = read_config(None, ["train.epochs=5", "data.batch_size=64", "backbone={name: mlp}", "engine.accelerator=cpu",
                            f"engine.devices={devices}", f"method={method}"])
fabric = make_fabric(config)
join(fabric)
torch.set_num_threads(1)
part = Vectors(load("digits").train)
negatives = method in ("entropic", "background")
feed = Feed(part, config.data, np.flatnonzero(part.labels >= (-1 if negatives else 0)))
fit(fabric, make_network(config, feed, 6), feed, feed, config, folder=out / "checkpoints")
leave(fabric)
"""


COMMAND = """
import atexit, torch
from openset.cli import main

def say_how_it_ends():
    in_a_group = torch.distributed.is_initialized()
    print(f"{'in' if in_a_group else 'without'} a group at the end", flush=True)

atexit.register(say_how_it_ends)
main()
"""

LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def launch(tmp_path, program, processes, *arguments):
    """What a program prints, run in several processes."""
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [*LAUNCH, f"--nproc-per-node={processes}", str(file), *arguments],
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def curve(tmp_path, devices, method):
    out = tmp_path / f"on{devices}"
    launch(tmp_path, PROGRAM, devices, str(out), str(devices), method)
    return pl.read_csv(out / "log.csv")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["softmax", "entropic"])
def test_two_processes_learn_what_one_does(method, tmp_path):
    one, two = (curve(tmp_path, devices, method) for devices in (1, 2))
    assert one.height == 5
    for column in ("loss", "accuracy", "val_accuracy"):
        assert (one[column] - two[column]).abs().max() < 1e-4, column
    assert one["loss"][4] < 0.5 * one["loss"][0]


@pytest.mark.slow
def test_the_processes_of_a_run_give_up_their_group_before_they_end(tmp_path):
    """One that does not can die by a signal after all its work is done."""
    out = tmp_path / "run"
    asked = ["train", "--protocol", "digits", "--method", "softmax", "--epochs", "1", "--devices", "2", "--out", out]
    printed = launch(tmp_path, COMMAND, 2, *map(str, asked))
    assert printed.count("without a group at the end") == 2
    assert (out / "summary.json").exists()


def together(out, *settings, **of_each):
    """Two commands at once, with the variables that a launcher gives each of them."""
    words = ["train", "--protocol", "digits", "--method", "softmax", "--epochs", "2", *settings, "--out", str(out)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    program = [sys.executable, "-c", "from openset.cli import main; main()", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    started = [
        subprocess.Popen(program, env={**kept, **{name: values[place] for name, values in of_each.items()}}, **pipes)
        for place in (0, 1)
    ]
    try:
        said = [one.communicate(timeout=300)[0] for one in started]
    finally:
        for one in started:
            one.kill()
    assert [one.returncode for one in started] == [0, 0], said
    return said


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@pytest.mark.slow
def test_two_tasks_of_a_slurm_job_train_one_run(tmp_path):
    said = together(
        tmp_path / "run",
        "--set",
        "engine.nodes=2",
        OMP_NUM_THREADS=("1", "1"),
        MASTER_ADDR=("127.0.0.1", "127.0.0.1"),
        MASTER_PORT=(free_port(),) * 2,
        SLURM_JOB_ID=("7", "7"),
        SLURM_JOB_NAME=("run.sh", "run.sh"),
        SLURM_NTASKS=("2", "2"),
        SLURM_NNODES=("2", "2"),
        SLURM_NTASKS_PER_NODE=("1", "1"),
        SLURM_PROCID=("0", "1"),
        SLURM_NODEID=("0", "1"),
        SLURM_LOCALID=("0", "0"),
    )
    assert [text.count("Training softmax") for text in said] == [1, 0]
    assert json.loads((tmp_path / "run/summary.json").read_text())["devices"] == 2


@pytest.mark.parametrize(("processes", "first"), [(1, True), (2, False)])
def test_tasks_of_a_slurm_job_that_train_alone_are_each_the_first(processes, first, monkeypatch):
    monkeypatch.setenv("SLURM_PROCID", "1")
    assert is_first_process(read_config(None, [f"engine.devices={processes}"])) is first
