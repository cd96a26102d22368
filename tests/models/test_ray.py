"""A model over many samples on Ray, with workers and machines that are really lost: none is missing, none is twice."""

import os
import signal
import time
from collections import Counter

import numpy as np
import polars as pl
import pytest
from PIL import Image

from openset.operating import Threshold
from ray_clusters import command, two_machines

pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")
pytestmark = pytest.mark.slow

N, BATCH = 96, 4  # so that there are 24 parts
MODEL = """
import os, time
from pathlib import Path
import numpy as np
from openset.models import Family, register
from openset.models.card import Answers

class Means:
    '''The mean colours of a picture as logits; slow, and it writes down who ran what.'''
    name, takes, class_names, background, fingerprint = "means:it", "images", ("red", "green", "blue"), False, "f"
    preparation, score, own_score, notes = {}, {"name": "max_logit", "params": {}}, None, []
    head = None

    def prepare(self, picture):
        return np.asarray(picture, dtype=np.float64).mean(axis=(0, 1))

    def run(self, batch):
        if "BAD" in os.environ.get("HF_HOME", "") and np.stack(batch)[:, 0].max() > 254:
            os.kill(os.getpid(), 9)
        time.sleep(0.3)
        with open("who.txt", "a") as stream:
            stream.write(f"{os.getpid()} {round(float(batch[0][0]))}\\n")
        return Answers(np.stack(batch), np.stack(batch) ** 2)

register(Family("means", "for tests", "means:it", (), (), lambda name, options: Means()))
"""


@pytest.fixture
def place(tmp_path):
    """A folder with a model of the user's own, pictures of which the red level is the number, and a threshold."""
    (tmp_path / "means.py").write_text(MODEL)
    (tmp_path / "photos").mkdir()
    for number in range(N):
        Image.new("RGB", (6, 5), (number, 255 - number, 100)).save(tmp_path / f"photos/{number:03d}.png")
    (tmp_path / "photos/050.png").write_text("no picture")
    Threshold(-200.0, "at_fpr=0.1", {}, 10).write(tmp_path / "t.json")
    return tmp_path


def start(place, name, *words, **environment):
    asked = (name, "--plugin", "means.py", "means:it", "photos", "--batch", BATCH, *words)
    return command(*asked, cwd=place, **environment)


def finish(process, code):
    printed, errors = process.communicate(timeout=1200)
    assert process.returncode == code, printed + errors
    assert "Traceback" not in errors
    return errors


def run(place, code, *words, **environment):
    with start(place, *words, **environment) as process:
        return finish(process, code)


def who_ran(place):
    """Which process ran the batches that begin with these numbers, in their order."""
    file = place / "who.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(process), int(first)) for process, first in map(str.split, lines)]


def wait_for(place, n, process):
    """Until so many batches have been run."""
    while len(found := who_ran(place)) < n:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return found


def same(one, other):
    one, other = np.load(one), np.load(other)
    assert sorted(one) == sorted(other)
    for name in one:
        assert one[name].dtype == other[name].dtype
        assert np.array_equal(one[name], other[name]), name


def test_a_killed_worker_loses_nothing_and_doubles_nothing(place):
    run(place, 1, "outputs", "--out", "whole.npz")
    (place / "who.txt").unlink()
    with start(place, "outputs", "--out", "o.npz", "--engine", "ray", "--workers", "2") as process:
        worker, _ = wait_for(place, 4, process)[-1]
        os.kill(worker, signal.SIGKILL)
        errors = finish(process, 1)
    assert "Left out: photos/050.png cannot be decoded" in errors
    same(place / "whole.npz", place / "o.npz")
    ran = Counter(first for runner, first in who_ran(place) if runner != process.pid)
    assert sorted(ran) == list(range(0, N, BATCH))
    assert sum(ran.values()) <= N // BATCH + 2  # what the killed worker was at is run again, and nothing else
    assert not list(place.glob(".*parts"))


def test_a_killed_command_goes_on(place):
    decide = ("predict", "--threshold", "t.json", "--force", "--out")
    run(place, 1, *decide, "whole.parquet")
    (place / "who.txt").unlink()
    with start(place, *decide, "decisions", "--engine", "ray", "--workers", "2") as process:
        wait_for(place, 6, process)
        process.kill()
        process.wait()
    assert len(list((place / ".decisions.parts").glob("part-*.parquet"))) >= 4
    assert not (place / "decisions").exists()
    assert "Resuming: " in run(place, 1, *decide, "decisions", "--engine", "ray", "--workers", "2")
    files = sorted((place / "decisions").glob("*"))
    assert [one.name for one in files] == [*(f"part-{one:06d}.parquet" for one in range(N // BATCH)), "parts.json"]
    found = pl.concat([pl.read_parquet(one) for one in files[:-1]])
    assert found.equals(pl.read_parquet(place / "whole.parquet"))
    assert found["id"].n_unique() == found.height == N - 1
    assert len(who_ran(place)) <= N // BATCH + 3  # workers end a moment after their command


def test_a_lost_machine_loses_nothing(place):
    run(place, 1, "outputs", "--out", "whole.npz")
    (place / "who.txt").unlink()
    with (
        two_machines() as cluster,
        start(place, "outputs", "--out", "o.npz", "--engine", "ray", RAY_ADDRESS=cluster.address) as process,
    ):
        while len({runner for runner, _ in who_ran(place)}) < 2:  # both machines are at work
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        cluster.pull_one()
        finish(process, 1)
    same(place / "whole.npz", place / "o.npz")


def test_a_sample_that_brings_workers_down_is_named(place):
    Image.new("RGB", (6, 5), (255, 0, 0)).save(place / "photos/007.png")
    words = ("outputs", "--out", "o.npz", "--engine", "ray", "--workers", "1")
    errors = run(place, 2, *words, HF_HOME="BAD")
    assert "The worker was lost 4 times with the samples from photos/004.png to photos/007.png" in errors
    assert not (place / "o.npz").exists()


def test_what_a_worker_finds_wrong_is_told(place):
    (place / "means.py").write_text(MODEL.replace("np.stack(batch) ** 2", "np.stack(batch) / (batch[0][0] != 8)"))
    errors = run(place, 2, "outputs", "--out", "o.npz", "--engine", "ray", "--workers", "1")
    assert "the features of photos/008.png are not finite numbers" in errors


def test_where_the_decisions_go_must_be_said(place):
    errors = run(place, 2, "predict", "--threshold", "t.json", "--engine", "ray")
    assert "--engine ray: say where the decisions go, with --out" in errors
