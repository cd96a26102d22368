"""Several processes: the same training, shared out."""

import os
import subprocess
import sys

import polars as pl
import pytest

PROGRAM = """
import sys
from pathlib import Path
import numpy as np, torch
from openset.protocols import load
from openset.train.build import make_fabric, make_network
from openset.train.config import read_config
from openset.train.feed import Feed
from openset.train.loop import fit

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
fabric.launch()
torch.set_num_threads(1)
part = Vectors(load("digits").train)
negatives = method in ("entropic", "background")
feed = Feed(part, config.data, np.flatnonzero(part.labels >= (-1 if negatives else 0)))
fit(fabric, make_network(config, feed, 6), feed, feed, config, folder=out / "checkpoints")
"""


LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def curve(tmp_path, devices, method):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    out = tmp_path / f"on{devices}"
    subprocess.run(
        [*LAUNCH, f"--nproc-per-node={devices}", str(program), str(out), str(devices), method],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        timeout=180,
    )
    return pl.read_csv(out / "log.csv")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["softmax", "entropic"])
def test_two_processes_learn_what_one_does(method, tmp_path):
    one, two = (curve(tmp_path, devices, method) for devices in (1, 2))
    assert one.height == 5
    for column in ("loss", "accuracy", "val_accuracy"):
        assert (one[column] - two[column]).abs().max() < 1e-4, column
    assert one["loss"][4] < 0.5 * one["loss"][0]
