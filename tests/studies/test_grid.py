"""Grids: which cells are one task, parts of a grid, and running it."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from openset._io.folder_lock import hold
from openset.errors import OpenSetError
from openset.studies.bench import make_grid
from openset.studies.cell import Cell
from openset.studies.executors import EXECUTORS
from openset.studies.grid import Execution, Shard, make_tasks, run_grid

FAST = ["train.epochs=1", "backbone.width=8", "data.batch_size=64"]


def grid(out, methods=("softmax", "maxlogit", "openauc"), splits=(0, 1), protocols=("digits",), changes=()):
    return make_grid(protocols, methods, splits, [0], out, overrides=[*FAST, *changes])


def names(tasks):
    return [[(one.key.method, one.key.split) for one in task] for task in tasks]


def test_cells_that_share_a_training_are_one_task():
    assert names(make_tasks(grid(Path("out")))) == [
        [("softmax", 0), ("maxlogit", 0)],
        [("softmax", 1), ("maxlogit", 1)],
        [("openauc", 0)],
        [("openauc", 1)],
    ]


def test_cells_that_begin_alike_are_one_task_and_the_plain_one_comes_first():
    longer = ["train.epochs=3"]
    cells = grid(Path("out"), ["openauc", "acc_auc", "maxlogit"], [0], changes=longer)
    started = [
        *grid(Path("out"), ["openauc", "acc_auc"], [0], changes=[*longer, "method.start=2"]),
        *grid(Path("out"), ["maxlogit"], [0], changes=longer),
    ]
    assert names(make_tasks(cells)) == [[("openauc", 0)], [("acc_auc", 0)], [("maxlogit", 0)]]
    assert names(make_tasks(started)) == [[("maxlogit", 0), ("openauc", 0), ("acc_auc", 0)]]
    assert len(make_tasks(started[:2])) == 2  # without the plain one, there is nothing to share


def test_protocols_with_one_training_are_one_task():
    cells = grid(Path("out"), ["softmax"], [0], ["cifar+10", "cifar+50", "cifar10"])
    assert [[one.key.protocol for one in task] for task in make_tasks(cells)] == [["cifar+10", "cifar+50"], ["cifar10"]]


def test_shards_share_the_tasks_out(tmp_path):
    cells = grid(tmp_path, splits=range(5))
    parts = [Shard(number, 3).tasks(cells) for number in (1, 2, 3)]
    every = sorted(name for part in parts for task in names(part) for name in task)
    assert every == sorted((one.key.method, one.key.split) for one in cells)
    assert Shard().tasks(cells) == make_tasks(cells)


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", "1/0", "-1/3", "1/2/3", ""])
def test_shards_that_cannot_be(text):
    with pytest.raises(OpenSetError, match="write 1/4, 2/4, 3/4 and 4/4"):
        Shard.parse(text)


def test_two_protocols_of_one_name_are_refused(tmp_path):
    files = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "mine.yaml")
        files[-1].write_text("data: digits\nknown: ['1', '2']\nunknown: ['3']\n")
    with pytest.raises(OpenSetError, match="have the same name, 'mine', so their runs would share folders"):
        make_tasks(grid(tmp_path, ["softmax"], [0], [str(file) for file in files]))


def test_a_grid_runs_and_goes_on(tmp_path, trainings):
    told = []
    cells = grid(tmp_path, splits=[0])
    outcomes = run_grid(cells, Execution().executor(), tell=told.append)
    assert [one.cell.key for one in outcomes] == [cell.key for cell in cells]
    assert [method for _, method, _ in trainings] == ["softmax", "openauc"]
    assert len(told) == 3
    assert len(run_grid(cells, Execution().executor())) == 3
    assert len(trainings) == 2
    assert run_grid(cells, Execution().executor(), done={cell.key for cell in cells}) == []


def test_what_another_process_works_on_comes_last(tmp_path, trainings):
    cells = grid(tmp_path, ["softmax", "maxlogit", "openauc"], [0])
    told = []
    release = threading.Event()

    def other():
        with hold(cells[0].folder):
            release.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    while not (cells[0].folder / "run.lock").exists():
        time.sleep(0.01)

    def tell(outcome):
        told.append(outcome.cell.key.method)
        release.set()

    assert all(one.summary for one in run_grid(cells, Execution().executor(), tell=tell))
    thread.join()
    assert told == ["openauc", "softmax", "maxlogit"]
    assert [method for _, method, _ in trainings] == ["openauc", "softmax"]


WORK = """
import sys, pathlib, json
from openset.studies import cell as training_cell
from openset.studies.bench import make_grid
from openset.studies.grid import Execution, run_grid
real, seen = training_cell.train, []

def train(config, *more, **others):
    seen.append((config.method.name, config.split))
    return real(config, *more, **others)

training_cell.train = train
methods, out = ["softmax", "maxlogit", "openauc"], pathlib.Path(sys.argv[1])
cells = make_grid(["digits"], methods, [0, 1], [0], out, overrides=json.loads(sys.argv[2]))
outcomes = run_grid(cells, Execution().executor())
assert all(one.summary for one in outcomes), outcomes
print(json.dumps(seen))
"""


def test_two_processes_share_a_grid_and_train_nothing_twice(tmp_path):
    words = [sys.executable, "-c", WORK, str(tmp_path), json.dumps(["train.epochs=4", *FAST[1:]])]
    two = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [one.communicate(timeout=300)[0] for one in two]
    assert [one.returncode for one in two] == [0, 0]
    trained = [tuple(entry) for text in printed for entry in json.loads(text)]
    assert sorted(trained) == [("openauc", 0), ("openauc", 1), ("softmax", 0), ("softmax", 1)]


def test_engines_are_found_by_name():
    assert list(EXECUTORS) == ["local", "ray", "slurm"]
    with pytest.raises(OpenSetError, match="There is no engine named 'rey'. Did you mean 'ray'?"):
        Execution("rey").executor()


def test_a_failed_cell_does_not_stop_the_others(tmp_path, monkeypatch):
    real = Cell.run

    def sometimes(cell, **others):
        if cell.key.method == "openauc":
            raise OpenSetError("no luck")
        return real(cell, **others)

    monkeypatch.setattr(Cell, "run", sometimes)
    outcomes = run_grid(grid(tmp_path, ["openauc", "maxlogit"], [0]), Execution().executor())
    assert [(one.reason, one.summary is None) for one in outcomes] == [("no luck", True), ("", False)]


def test_no_engine_is_started_for_what_is_finished(tmp_path):
    class Guarded(EXECUTORS["local"]):
        started = 0

        def __enter__(self):
            Guarded.started += 1
            return self

    cells = grid(tmp_path, ["softmax", "maxlogit"], [0])
    for _ in range(2):
        assert all(one.summary for one in run_grid(cells, Guarded()))
    assert Guarded.started == 1
    assert run_grid([], Guarded()) == []
    assert Guarded.started == 1
