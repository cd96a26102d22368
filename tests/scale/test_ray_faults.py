"""Counting on a Ray cluster of two machines, one of which is pulled in the middle: the results are the same bits."""

import json
import time

import numpy as np
import pytest

from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
from ray_clusters import command, two_machines
from samples import random_dataset

pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")


@pytest.mark.slow
def test_a_machine_that_is_pulled_changes_nothing(write_parts, tmp_path):
    folder = write_parts(*random_dataset(1_500_000, dtype=np.float32), parts=30, group_rows=50_000)
    expected = evaluate_source(open_source(str(folder)), mode="exact", n_resamples=5)
    out, temp = tmp_path / "r.json", tmp_path / "temp"
    asked = ("evaluate", folder, "--engine", "ray", "--exact", "--resamples", "5", "--json", out, "--temp", temp)
    with two_machines() as cluster, command(*asked, RAY_ADDRESS=cluster.address) as running:
        while len(list(temp.rglob("rows-*"))) < 3:  # parts are being sorted
            assert running.poll() is None, running.communicate()
            time.sleep(0.01)
        cluster.pull_one()
        assert running.poll() is None  # it was in the middle
        printed, errors = running.communicate(timeout=1200)
    assert running.returncode == 0, errors + printed
    found = json.loads(out.read_text())["metrics"]
    assert found == json.loads(json.dumps([one.as_json() for one in expected.results]))
