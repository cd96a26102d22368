"""Executors: what is said where their packages are missing, and tasks for other processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from openset._io.caller import Caller
from openset.cli import main
from openset.errors import OpenSetError
from openset.studies.bench import make_grid
from openset.studies.executors._remote import RemoteTask

FAST = ["train.epochs=1", "backbone.width=8", "data.batch_size=64"]


@pytest.mark.parametrize(
    ("engine", "package", "sentence"),
    [
        ("ray", "ray", "--engine ray needs Ray: pip install 'openset[ray]'"),
        ("slurm", "submitit", "--engine slurm needs submitit: pip install 'openset[slurm]'"),
        ("condor", "", "There is no engine named 'condor'"),
    ],
)
@pytest.mark.parametrize(
    "command", [["bench"], ["reproduce", "openauc/table2"], ["tune", "--vary", "method.weight=1,2"]]
)
def test_what_is_missing_is_said_before_any_work(command, engine, package, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as end:
        main([*command, "--engine", engine, "--out", str(tmp_path / "runs")])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_task_elsewhere_works_where_the_command_was_given(tmp_path, monkeypatch):
    """Paths are relative to the folder of the command, and the variables that it had are those of the task."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENSET_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "mine.yaml").write_text("data: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    cells = make_grid(["mine.yaml"], ["softmax", "maxlogit"], [0], [0], Path("runs"), overrides=FAST)
    remote = RemoteTask(cells, 2)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("OPENSET_DATA", "nowhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as Ray sets it
    before = torch.get_num_threads()
    try:
        outcomes = remote()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert all(one.summary for one in outcomes)
    assert (tmp_path / "runs/mine/maxlogit/split0-seed0/summary.json").exists()
    assert os.environ["OPENSET_DATA"] == str(tmp_path / "data")
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_folder_that_a_worker_cannot_see_is_named(tmp_path):
    remote = RemoteTask([], caller=Caller(folder=tmp_path / "gone"))
    with pytest.raises(
        OpenSetError, match="A worker cannot see .*gone: start the command in a folder that all machines"
    ):
        remote()


OWN = """
from openset.methods import Method

class Mine(Method):
    title = "Mine"
"""


def test_methods_of_the_users_own_are_found_by_workers_too(tmp_path):
    """In the process of the worker nobody has named the file yet."""
    (tmp_path / "my.py").write_text(OWN)
    code = (
        "import pickle, sys\n"
        "from pathlib import Path\n"
        "from openset._core.plugins import resolve\n"
        "from openset.methods import METHODS\n"
        "from openset.studies.bench import make_grid\n"
        "from openset.studies.executors._remote import RemoteTask\n"
        "name = resolve('my.py:Mine', METHODS)\n"
        f"cells = make_grid(['digits'], [name], [0], [0], Path('runs'), overrides={FAST})\n"
        "Path('task.pickle').write_bytes(pickle.dumps(RemoteTask(cells)))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    code = "import pickle, pathlib\nprint(pickle.loads(pathlib.Path('task.pickle').read_bytes())()[0].reason or 'done')"
    words = {"cwd": tmp_path, "capture_output": True, "text": True}
    assert subprocess.run([sys.executable, "-c", code], check=True, **words).stdout == "done\n"
