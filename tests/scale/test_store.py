"""Temporary files: none stay behind, unless a folder for them was named and the command was stopped."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest

from openset._io import passing
from openset.errors import OpenSetError
from openset.scale import passes
from openset.scale.evaluation import evaluate_source
from openset.scale.source import open_source
from samples import random_dataset


@pytest.fixture
def source(write_parts):
    return open_source(str(write_parts(*random_dataset(200, dtype=np.float32), parts=4, group_rows=10)), part_rows=20)


def stopping(real, after):
    """Ctrl-C when so many tasks have been done."""
    calls = []

    def work(self, task):
        calls.append(task)
        if len(calls) > after:
            raise KeyboardInterrupt
        return real(self, task)

    return work


@pytest.mark.parametrize("step", ["_Count", "_Sort", "_Fold"])
def test_ctrl_c_leaves_nothing_behind(source, monkeypatch, tmp_path, step):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    kind = getattr(passes, step)
    monkeypatch.setattr(kind, "__call__", stopping(kind.__call__, 2))
    with pytest.raises(KeyboardInterrupt):
        evaluate_source(source, mode="exact", range_rows=20)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_second_run_reuses_finished_parts_and_cleans_up(source, monkeypatch, tmp_path):
    monkeypatch.setattr("openset.scale.store._EVERY", 0.0)
    expected = evaluate_source(source, mode="exact", range_rows=20, n_resamples=5)
    options = {"mode": "exact", "range_rows": 20, "n_resamples": 5, "temp": tmp_path / "temp", "workers": 1}
    done = []
    for step, after in (("_Count", 4), ("_Sort", 6)):
        with monkeypatch.context() as patch:
            kind = getattr(passes, step)
            patch.setattr(kind, "__call__", stopping(kind.__call__, after))
            with pytest.raises(KeyboardInterrupt):
                evaluate_source(source, **options)
        assert len(list((tmp_path / "temp").iterdir())) == 1
    for step in ("_Count", "_Sort"):
        real = getattr(passes, step).__call__
        spy = lambda self, task, real=real, step=step: (done.append(step), real(self, task))[1]  # noqa: E731
        monkeypatch.setattr(getattr(passes, step), "__call__", spy)
    found = evaluate_source(source, **options)
    assert found == expected
    assert done.count("_Count") == 0  # all were counted before the second run was stopped
    assert 0 < done.count("_Sort") <= len(source.parts) - 6
    assert list((tmp_path / "temp").iterdir()) == []


@pytest.mark.slow
def test_after_kill_9_the_same_command_goes_on(write_parts, tmp_path):
    folder = write_parts(*random_dataset(1_200_000, dtype=np.float32), parts=12, group_rows=50_000)
    expected = evaluate_source(open_source(str(folder)), mode="exact", n_resamples=5)
    words = ["evaluate", folder, "--exact", "--resamples", "5", "--temp", tmp_path / "t", "--json", tmp_path / "r.json"]
    command = [sys.executable, "-c", "from openset.cli import main; main()", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began = time.monotonic()
    while not any((tmp_path / "t").glob("*/rows-*.npz")) and time.monotonic() - began < 120:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    kept = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "t").glob("*/rows-*.npz")}
    assert kept
    assert not (tmp_path / "r.json").exists()
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads((tmp_path / "r.json").read_text())["metrics"]
    assert found == json.loads(json.dumps([one.as_json() for one in expected.results]))
    assert list((tmp_path / "t").iterdir()) == []


def test_what_is_left_of_other_files_is_not_reused(source, tmp_path, monkeypatch):
    kind = passes._Sort
    with monkeypatch.context() as patch:
        patch.setattr(kind, "__call__", stopping(kind.__call__, 3))
        with pytest.raises(KeyboardInterrupt):
            evaluate_source(source, mode="exact", temp=tmp_path / "temp")
    fewer = replace(source, parts=source.parts[:-1])
    assert evaluate_source(fewer, mode="exact", temp=tmp_path / "temp", n_resamples=5) == evaluate_source(
        fewer, mode="exact", n_resamples=5
    )


def test_a_damaged_part_is_made_again(source, tmp_path, monkeypatch):
    expected = evaluate_source(source, mode="exact", n_resamples=5)
    kind = passes._Fold
    with monkeypatch.context() as patch:
        patch.setattr(kind, "__call__", stopping(kind.__call__, 0))
        with pytest.raises(KeyboardInterrupt):
            evaluate_source(source, mode="exact", temp=tmp_path / "temp")
    (left,) = (tmp_path / "temp").iterdir()
    for name in ("counted.npz", "rows-0.npz", "rows-1.bin"):
        (left / name).write_bytes((left / name).read_bytes()[:-5])
    assert evaluate_source(source, mode="exact", temp=tmp_path / "temp", n_resamples=5) == expected


def test_a_full_disk_is_told_before_the_second_pass(source, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100, 0, 100))
    with pytest.raises(OpenSetError, match="Exact values need 1.6 kB in .*, where 100 bytes are free: .* --temp"):
        evaluate_source(source, mode="exact")


def test_a_disk_that_fills_up_on_the_way(source, monkeypatch, tmp_path):
    def full(file, array):
        file.write_bytes(bytes(10))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("openset.scale.ranges.write_passing", full)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with pytest.raises(OpenSetError, match=r"rows-\d+.bin: no space left on device. Name another folder with --temp"):
        evaluate_source(source, mode="exact")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_large_temporary_files_are_let_go_and_read_back_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(passing, "_LARGE", 100)
    rows = np.arange(1000, dtype=np.uint64)
    passing.write_passing(tmp_path / "rows.bin", rows)
    assert np.array_equal(passing.read_passing(str(tmp_path / "rows.bin"), rows.dtype, 700, 50), rows[700:750])
    assert len(passing.read_passing(str(tmp_path / "rows.bin"), rows.dtype, 990, 50)) == 10


@pytest.mark.slow
def test_ctrl_c_on_the_command_leaves_nothing_behind(write_parts, tmp_path):
    folder = write_parts(*random_dataset(1_200_000, dtype=np.float32), parts=12, group_rows=50_000)
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", "from openset.cli import main; main()", "evaluate", str(folder), "--exact"],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    began = time.monotonic()
    while not any((tmp_path / "temporary").glob("openset-*/rows-*")) and time.monotonic() - began < 120:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors + printed
    assert "Traceback" not in errors
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_folder_that_cannot_be(source, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OpenSetError, match="Cannot make a folder for temporary files"):
        evaluate_source(source, temp=tmp_path / "file")
