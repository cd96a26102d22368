"""One training serves several cells, and what is done is not done again."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

from openset._io.folder_lock import hold
from openset.errors import OpenSetError
from openset.protocols import PROTOCOLS
from openset.protocols.definition import parse
from openset.scores import Scores
from openset.studies import cell as training_cell
from openset.studies.cell import Cell, Layout
from openset.studies.key import Key
from openset.studies.running import run_task
from openset.train.checkpoint import read_tensors
from openset.train.config import read_config
from openset.train.interrupt import Interrupted
from openset.train.run import begin, reapply, rescore, share_beginning, train

FAST = ["train.epochs=1", "backbone.width=8", "data.batch_size=64"]


@pytest.fixture
def twins(tmp_path, monkeypatch):
    """Two protocols with the same known digits and other unknowns, as CIFAR+10 and CIFAR+50 are."""
    for name, unknown, card in (("few", [6, 7], {}), ("many", [5, 6, 8, 9], {"trained_as": "few"})):
        content = {"data": "digits", "known": ["0", "1", "2", "3"], "unknown": [str(digit) for digit in unknown]}
        monkeypatch.setitem(PROTOCOLS._entries, name, parse({**content, **card}, name=name, where=name))
    return "few", "many"


def cell(out, method, *changes, protocol="digits"):
    config = read_config(None, [*FAST, *changes], protocol=protocol, **{"method.name": method})
    return Cell(Key(protocol, method, 0, 0), config, Layout(out))


def test_a_run_applied_to_the_other_protocol_is_what_training_on_it_gives(twins, tmp_path):
    configs = {name: read_config(None, FAST, protocol=name) for name in twins}
    for name, config in configs.items():
        begin(config, tmp_path / name, resume=False)
        train(config, tmp_path / name)
    begin(configs["many"], tmp_path / "applied", resume=False)
    summary = reapply(configs["many"], tmp_path / "few", tmp_path / "applied")
    applied, trained = (Scores.read(tmp_path / name / "scores_test.parquet") for name in ("applied", "many"))
    np.testing.assert_array_equal(applied.labels, trained.labels)
    np.testing.assert_array_equal(applied.unknown_score, trained.unknown_score)
    assert summary["threshold"] == json.loads((tmp_path / "many" / "summary.json").read_text())["threshold"]


def test_a_run_is_not_applied_to_a_protocol_with_other_training_data(twins, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("data: digits\nknown: ['0', '1', '2', '4']\nunknown: ['9']\n")
    config = read_config(None, FAST, protocol="few")
    begin(config, tmp_path / "run", resume=False)
    train(config, tmp_path / "run")
    with pytest.raises(OpenSetError, match="trained for other classes or another method"):
        reapply(read_config(None, FAST, protocol=str(other)), tmp_path / "run", tmp_path / "x")
    smaller = tmp_path / "smaller.yaml"
    smaller.write_text("data: digits\nknown: ['0', '1', '2', '3']\nunknown: ['9']\nvalidation: 0.3\n")
    changed = read_config(None, FAST, protocol=str(smaller))
    with pytest.raises(OpenSetError, match="outputs_train.npz is of other samples"):
        reapply(changed, tmp_path / "run", tmp_path / "x")
    with pytest.raises(OpenSetError, match="outputs_train.npz is of other samples"):
        rescore(changed, tmp_path / "run", tmp_path / "x")


def test_one_training_serves_two_protocols_and_two_scores(twins, tmp_path, trainings):
    few, many = twins
    for protocol in (many, few):
        for method in ("softmax", "maxlogit"):
            assert cell(tmp_path, method, protocol=protocol).run()["protocol"] == protocol
    assert trainings == [("few", "softmax", 0)]
    assert (tmp_path / "few/softmax/split0-seed0/summary.json").exists()  # it is trained where it belongs


def test_a_training_of_its_own_that_was_begun_is_finished(twins, tmp_path, trainings):
    few, many = twins
    own = cell(tmp_path, "softmax", "train.epochs=2", protocol=many)
    begin(own.config, own.folder, resume=False)

    def stop(state, *_):
        if state.epoch == 1:
            raise Interrupted

    with pytest.raises(Interrupted):
        training_cell.train(own.config, own.folder, watch=stop)
    own.run()
    assert {protocol for protocol, *_ in trainings} == {many}
    assert not (tmp_path / few).exists()


@pytest.mark.parametrize("method", ["openauc", "acc_auc", "partial_openauc"])
def test_a_training_that_begins_as_another_one_goes_on_from_there(method, tmp_path):
    settings = ["train.epochs=3", "train.keep=[2]", "train.ema=0.9"]
    plain = cell(tmp_path, "maxlogit", *settings)
    whole = cell(tmp_path / "whole", method, *settings, "method.start=2")
    shared = cell(tmp_path, method, *settings, "method.start=2")
    first = plain.run()
    whole.run()
    steps = []
    summary = shared.run(watch=lambda *_: steps.append(1))
    assert summary["epochs"] == 3
    assert summary["seconds"] > first["seconds"] / 3  # the time of the shared beginning counts
    unshared = {
        "later": ["method.start=1"],  # of which no state was kept
        "other": ["method.start=2", "seed=1"],  # another training
    }
    for name, changes in unshared.items():
        counted = []
        one = cell(tmp_path / name, method, *settings, *changes)
        shutil.copytree(plain.folder, one.beginnings[0].folder)
        one.run(watch=lambda *_, counted=counted: counted.append(1))
        assert len(counted) == 3 * len(steps), name
    files = [one.folder / "checkpoints/last.safetensors" for one in (whole, shared, plain)]
    weights = [read_tensors(file)[0] for file in files]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


def test_what_cannot_be_shared_is_refused(tmp_path):
    settings = ["train.epochs=3", "train.keep=[2]"]
    plain = cell(tmp_path, "maxlogit", *settings)
    plain.run()
    shared = read_config(plain.config.as_plain(), ["method.start=2"], **{"method.name": "openauc"})
    assert not share_beginning(read_config(shared.as_plain(), ["seed=2"]), 2, plain.folder, tmp_path / "new")
    best = cell(tmp_path / "best", "maxlogit", *settings, "train.select=accuracy")
    best.run()
    chosen = read_config(shared.as_plain(), ["train.select=accuracy"])
    assert not share_beginning(chosen, 2, best.folder, tmp_path / "new")
    assert share_beginning(shared, 2, plain.folder, tmp_path / "new")


def test_a_rescored_run_has_the_weights_and_no_state(tmp_path):
    cell(tmp_path, "maxlogit", "train.keep=[1]").run()
    again = cell(tmp_path, "softmax", "train.keep=[1]")
    again.run()
    assert [file.name for file in (again.folder / "checkpoints").iterdir()] == ["last.safetensors"]


def test_a_sibling_of_another_recipe_serves_nobody(tmp_path, trainings):
    cell(tmp_path, "maxlogit").run()
    cell(tmp_path, "softmax", "optimizer.lr=0.01").run()
    assert [method for _, method, _ in trainings] == ["maxlogit", "softmax"]


def test_what_another_process_works_on_is_left_to_it_with_what_shares_it(tmp_path, trainings):
    task = [cell(tmp_path, method) for method in ("softmax", "maxlogit", "scaled")]
    task[0].run()
    with hold(task[1].folder):
        outcomes = list(run_task(task))
    assert [(one.summary is not None, one.busy) for one in outcomes] == [(True, False), (False, True), (False, True)]
    assert [one.summary is not None for one in run_task(task)] == [True] * 3
    assert len(trainings) == 1


def test_a_failure_is_noted_and_the_others_go_on(tmp_path):
    task = [cell(tmp_path, "softmax", protocol="nowhere"), cell(tmp_path, "softmax")]
    failed, done = run_task(task, watch=lambda _: nullcontext())
    assert failed.reason.startswith("There is no protocol")
    assert done.summary["method"] == "softmax"


def test_a_stop_is_not_a_failure(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise Interrupted

    monkeypatch.setattr(training_cell, "train", stop)
    with pytest.raises(Interrupted):
        list(run_task([cell(tmp_path, "softmax")]))


def test_a_finished_run_of_another_recipe_is_said(tmp_path):
    cell(tmp_path, "softmax").run()
    (outcome,) = run_task([cell(tmp_path, "softmax", "optimizer.lr=0.5")])
    assert "was made with optimizer.lr = 0.05, now it is 0.5" in outcome.reason
    assert Path(cell(tmp_path, "softmax").folder / "summary.json").exists()


def test_a_finished_run_on_other_data_is_said(tmp_path, trainings):
    """A protocol of one's own may be edited between two calls: yesterday's results are not today's."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("data: digits\nknown: ['0', '1', '2', '3']\nunknown: ['9']\n")
    asked = cell(tmp_path, "softmax", protocol=str(mine))
    first = asked.run()
    assert asked.run() == first
    mine.write_text("data: digits\nknown: ['0', '1', '2', '3']\nunknown: ['8']\n")
    (outcome,) = run_task([asked])
    assert f"was trained on other data than {mine} describes now (fingerprint {first['data']}" in outcome.reason
    assert len(trainings) == 1
