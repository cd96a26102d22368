"""Cells: one training serves several, what is done is not done again, a changed recipe is noticed."""

import json
import shutil
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from openset._io.json_files import write_json
from openset.errors import OpenSetError
from openset.reproduction import imagenet, openauc, table2
from openset.scores import Scores
from openset.studies import bench, study
from openset.studies.cells import Key, fingerprint, read_result, seeds_found
from openset.studies.study import Job, make_job, run_folder, run_study
from openset.train.checkpoint import read_tensors
from openset.train.config import read_config
from openset.train.interrupt import Interrupted
from openset.train.run import begin, reapply, rescore, share_beginning, train

FAST = ["train.epochs=1", "backbone.width=8", "data.batch_size=64"]


@pytest.fixture
def trainings(monkeypatch):
    """Which cells were really trained."""
    seen = []
    real = bench.train

    def counted(config, out, **others):
        seen.append((config.protocol, config.method.name, config.split))
        return real(config, out, **others)

    monkeypatch.setattr(bench, "train", counted)
    return seen


@pytest.fixture
def twins(tmp_path):
    """Two protocols with the same known digits and other unknowns, as CIFAR+10 and CIFAR+50 are."""
    for name, unknown in (("few", [6, 7]), ("many", [5, 6, 8, 9])):
        (tmp_path / f"{name}.yaml").write_text(
            f"data: digits\nknown: ['0', '1', '2', '3']\nunknown: {[str(digit) for digit in unknown]}\n"
        )
    return tmp_path / "few.yaml", tmp_path / "many.yaml"


def test_a_run_applied_to_the_other_protocol_is_what_training_on_it_gives(twins, tmp_path):
    few, many = twins
    configs = {name: read_config(None, FAST, protocol=str(file)) for name, file in (("few", few), ("many", many))}
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
    config = read_config(None, FAST, protocol=str(twins[0]))
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


@pytest.mark.parametrize("make", [openauc.table1, openauc.fig1, imagenet.fig2])
def test_showing_trains_nothing(make, options, trainings):
    with pytest.raises(OpenSetError, match="is not there: without --show"):
        make(options(show=True))
    assert not trainings


def test_one_training_serves_two_protocols_and_two_scores(twins, options, monkeypatch, trainings):
    few, many = map(str, twins)
    monkeypatch.setattr(study, "TRAINED_FOR", {"many": few})
    chosen = options()
    for name, protocol in (("many", many), ("few", few)):
        for method in ("softmax", "maxlogit"):
            config = read_config(None, FAST, protocol=protocol, **{"method.name": method})
            job = Job(Key("test", "smoke", name, method, 0, 0), "fast/digits", config)
            found = study.run_job(job, chosen)
            assert found.content["protocol"] == name
    assert trainings == [(few, "softmax", 0)]
    content = json.loads((chosen.results / "test/smoke/many/maxlogit/split0-seed0.json").read_text())
    assert content["trained_for"] == few
    assert content["recipe"] == "fast/digits"
    assert content["seconds"] > 0
    assert {"cpu", "cores", "device"} <= set(content["hardware"])
    assert {"torch", "openset", "threads"} <= set(content["versions"])


@pytest.mark.parametrize("method", ["openauc", "acc_auc", "partial_openauc"])
def test_a_training_that_begins_as_another_one_goes_on_from_there(method, tmp_path):
    settings = ["train.epochs=3", "train.keep=[2]", "train.ema=0.9", *FAST[1:]]

    def cell(name, kind, *more):
        config = read_config(None, [*settings, *more], **{"method.name": kind})
        return bench.Cell("digits", kind, config, tmp_path / name)

    plain = cell("plain", "maxlogit")
    whole, shared, later, longer = (
        cell(name, method, f"method.start={start}", *more)
        for name, start, more in (
            ("whole", 2, ()),
            ("shared", 2, ()),
            ("later", 1, ()),  # of which no state was kept
            ("longer", 2, ("seed=1",)),  # another training
        )
    )
    first = bench.run_cell(plain, [plain])
    bench.run_cell(whole, [whole])
    steps = {}
    for one in (shared, later, longer):
        counted = steps.setdefault(one.folder.name, [])
        summary = bench.run_cell(one, [one, plain], watch=lambda *_, counted=counted: counted.append(1))
        assert summary["epochs"] == 3
        if one is shared:
            assert summary["seconds"] > first["seconds"] / 3  # the time of the shared beginning counts
    assert len(steps["later"]) == len(steps["longer"]) == 3 * len(steps["shared"])
    assert shared.warm_start_from(plain)
    assert not shared.warm_start_from(cell("plain", "arpl"))
    assert not shared.warm_start_from(cell("plain", "maxlogit", "method.label_smoothing=0.1"))
    assert not share_beginning(read_config(longer.config.as_plain(), ["seed=2"]), 2, plain.folder, tmp_path / "new")
    best, other = (cell(f"best-{kind}", kind, "train.select=accuracy") for kind in ("maxlogit", method))
    bench.run_cell(best, [best])
    assert not share_beginning(other.config, 2, best.folder, tmp_path / "new")
    assert share_beginning(shared.config, 2, plain.folder, tmp_path / "new")
    again = cell("again", "softmax")  # the same training, rescored: weights are copied, states are not
    bench.run_cell(again, [again, plain])
    assert [file.name for file in (again.folder / "checkpoints").iterdir()] == ["last.safetensors"]
    files = [one.folder / "checkpoints/last.safetensors" for one in (whole, shared, plain)]
    weights = [read_tensors(file)[0] for file in files]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


def test_the_study_trains_the_common_beginning_once(options):
    epochs = {"maxlogit": [], "openauc": []}
    settings = ["train.epochs=3", "train.keep=[2]", *FAST[1:]]
    recipe = read_config(None, [*settings, "method.start=2"], **{"method.name": "openauc"})
    chosen = options(
        watch=lambda config, _: nullcontext(lambda state, *_: epochs[config.method.name].append(state.epoch))
    )
    for method in epochs:
        config = read_config(recipe.as_plain(), **{"method.name": method})
        study.run_job(Job(Key("test", "smoke", "digits", method, 0, 0), "fast/digits", config), chosen)
    assert set(epochs["maxlogit"]) == {0, 1, 2}
    assert set(epochs["openauc"]) == {2}


def test_a_study_goes_on_where_it_stopped(options, monkeypatch, trainings):
    chosen = options(methods=("softmax", "maxlogit", "openauc"), splits=(0,))
    real = study.run_job
    monkeypatch.setattr(
        study, "run_job", lambda job, given: real(job, given) if job.key.method != "openauc" else _interrupt()
    )
    with pytest.raises(Interrupted):
        table2.reproduce(chosen)
    assert [method for _, method, _ in trainings] == ["softmax"]
    monkeypatch.setattr(study, "run_job", real)
    shutil.rmtree(chosen.out)  # a clean checkout has results, but no run folders
    report = table2.reproduce(chosen)
    assert [method for _, method, _ in trainings] == ["softmax", "openauc"]
    assert [line.labels["cells"] for line in report.tables[0].lines] == ["1 of 5 splits"] * 3
    assert all(line.difference is None for line in report.tables[0].lines)
    table2.reproduce(chosen)
    assert len(trainings) == 2


def _interrupt():
    raise Interrupted


def test_a_changed_recipe_is_said_and_its_cells_count_as_missing(options, trainings):
    before = options(methods=("maxlogit",), splits=(0,))
    table2.reproduce(before)
    after = options(methods=("maxlogit",), splits=(0,), overrides=("train.epochs=1", "backbone.width=9"), show=True)
    report = table2.reproduce(after)
    assert report.tables[0].lines[0].ours is None
    assert any("Recipes have changed" in note and "split 0" in note for note in report.notes)
    kept = table2.reproduce(options(overrides=after.overrides, methods=("maxlogit",), show=True, keep_changed=True))
    assert kept.tables[0].lines[0].ours is not None
    assert any("used all the same" in note for note in kept.notes)
    report = table2.reproduce(options(methods=("maxlogit",), splits=(0,), overrides=after.overrides))
    assert len(trainings) == 2
    assert report.tables[0].lines[0].ours is not None
    assert not any("Recipes have changed" in note for note in report.notes)


def test_a_failed_cell_does_not_stop_the_others(options, monkeypatch):
    real = bench.run_cell

    def sometimes(cell, cells, **others):
        if cell.method == "openauc":
            raise OpenSetError("no luck")
        return real(cell, cells, **others)

    monkeypatch.setattr(bench, "run_cell", sometimes)
    report = table2.reproduce(options(methods=("openauc", "maxlogit"), splits=(0,)))
    assert report.failures == ("digits openauc split 0 seed 0: no luck",)
    assert [line.ours is None for line in report.tables[0].lines] == [False, True]
    with pytest.raises(OpenSetError, match="no luck"):
        run_study([make_job("x", options(), "digits", "openauc", 0, 0)], options())


def test_the_run_folder_of_a_changed_recipe_is_another_one(options):
    one, two = (
        run_folder(
            make_job("x", options(overrides=("train.epochs=1", f"backbone.width={width}")), "digits", "maxlogit", 0, 0),
            options(),
        )
        for width in (8, 9)
    )
    assert one[0] != two[0]


def test_fingerprints_change_with_what_matters_only():
    config = read_config("fast/digits")
    usual = read_config(None).as_plain()
    mark = fingerprint(config.as_plain(), usual)
    assert mark == fingerprint(read_config("fast/digits", ["schedule.restarts=0"]).as_plain(), usual)
    assert mark != fingerprint(read_config("fast/digits", ["optimizer.lr=0.06"]).as_plain(), usual)
    assert mark != fingerprint(read_config("fast/digits", ["method.weight=0.2"]).as_plain(), usual)
    assert mark == fingerprint(read_config("fast/digits", ["data.workers=7"]).as_plain(), usual, ["data.workers"])


def test_a_broken_results_file_is_named(tmp_path):
    key = Key("openauc/table2", "cpu", "mnist", "openauc", 0, 3)
    (tmp_path / key.file).parent.mkdir(parents=True)
    (tmp_path / key.file).write_text('{"metrics": [{"name": "open_auc"}]}')
    with pytest.raises(OpenSetError, match="split0-seed3.json is not a results file: 'params' is missing; delete it"):
        read_result(tmp_path, key)
    assert seeds_found(tmp_path, "openauc/table2", "cpu") == {3}


@pytest.mark.parametrize("field", ["value", "low", "high", "seconds"])
def test_text_where_a_number_belongs_is_no_result(tmp_path, field):
    key = Key("openauc/table2", "cpu", "mnist", "softmax", 0, 0)
    entry = {"name": "open_auc", "params": {}, "against": "all", "value": 0.5, "low": 0.4, "high": None}
    content = {"metrics": [entry], "recipe_fingerprint": "f", "seconds": 3}
    file = tmp_path / key.file
    write_json(file, content)
    assert read_result(tmp_path, key).value("open_auc").value == 0.5
    (content if field == "seconds" else entry)[field] = "much"
    write_json(file, content)
    with pytest.raises(OpenSetError, match=r"split0-seed0\.json is not a results file; delete it"):
        read_result(tmp_path, key)
