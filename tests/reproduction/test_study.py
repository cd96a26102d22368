"""Studies: what has results is not run again, what was broken off goes on, a changed recipe is noticed."""

import shutil

import pytest

from openset.errors import OpenSetError
from openset.reproduction import imagenet, openauc, table2
from openset.reproduction.study import DryRun, make_cell, read_study, run_folders, run_study
from openset.studies import cell as training_cell
from openset.studies.cell import Cell
from openset.studies.grid import Execution, Shard
from openset.train.interrupt import Interrupted


@pytest.fixture
def trainings(monkeypatch):
    """Methods that were really trained."""
    seen = []
    real = training_cell.train
    monkeypatch.setattr(
        training_cell,
        "train",
        lambda config, out, **more: (seen.append(config.method.name), real(config, out, **more))[1],
    )
    return seen


@pytest.mark.parametrize("make", [openauc.table1, openauc.fig1, imagenet.fig2])
def test_showing_trains_nothing(make, options, trainings):
    with pytest.raises(OpenSetError, match="is not there: without --show"):
        make(options(show=True))
    assert not trainings


def test_a_study_goes_on_where_it_stopped(options, monkeypatch, trainings):
    chosen = options(methods=("softmax", "maxlogit", "openauc"), splits=(0,))
    real = Cell.run
    monkeypatch.setattr(
        Cell,
        "run",
        lambda cell, **more: real(cell, **more) if cell.key.method != "openauc" else _interrupt(),
    )
    with pytest.raises(Interrupted):
        table2.reproduce(chosen)
    assert trainings == ["softmax"]
    monkeypatch.setattr(Cell, "run", real)
    shutil.rmtree(chosen.out)  # a clean checkout has results, but no run folders
    report = table2.reproduce(chosen)
    assert trainings == ["softmax", "openauc"]
    assert [line.labels["cells"] for line in report.tables[0].lines] == ["1 of 5 splits"] * 3
    assert all(line.difference is None for line in report.tables[0].lines)
    table2.reproduce(chosen)
    assert len(trainings) == 2


def _interrupt():
    raise Interrupted


def test_the_common_beginning_is_trained_once(options):
    epochs = {"maxlogit": [], "openauc": []}

    def watch(config, _):
        from contextlib import nullcontext

        return nullcontext(lambda state, *_: epochs[config.method.name].append(state.epoch))

    changes = ("train.epochs=3", "train.keep=[2]", "backbone.width=8")
    chosen = options(watch=watch, overrides=changes)
    plain = make_cell("test", chosen, "digits", "maxlogit", 0, 0)
    begun = make_cell("test", chosen, "digits", "openauc", 0, 0, overrides=["method.start=2"])
    study = run_study([begun, plain], chosen)
    assert not study.failures
    assert set(epochs["maxlogit"]) == {0, 1, 2}
    assert set(epochs["openauc"]) == {2}


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


def test_results_of_a_recipe_that_is_gone_are_of_another_recipe(options, monkeypatch):
    chosen = options()
    run_study([make_cell("x", chosen, "digits", "maxlogit", 0, 0)], chosen)

    def gone(*_, **__):
        raise OpenSetError("The recipe is missing.")

    monkeypatch.setattr("openset.reproduction.study.cell_config", gone)
    with pytest.raises(OpenSetError, match="missing"):
        make_cell("x", chosen, "digits", "maxlogit", 0, 0)
    shown = options(show=True)
    cells = [make_cell("x", shown, "digits", "maxlogit", 0, 0)]
    assert read_study(cells, shown).changed == [cells[0].key]
    assert not read_study(cells, shown).finished
    assert read_study(cells, options(show=True, keep_changed=True)).finished


def test_a_failed_cell_does_not_stop_the_others(options, monkeypatch):
    real = Cell.run

    def sometimes(cell, **others):
        if cell.key.method == "openauc":
            raise OpenSetError("no luck")
        return real(cell, **others)

    monkeypatch.setattr(Cell, "run", sometimes)
    report = table2.reproduce(options(methods=("openauc", "maxlogit"), splits=(0,)))
    assert report.failures == ("digits openauc split 0 seed 0: no luck",)
    assert [line.ours is None for line in report.tables[0].lines] == [False, True]
    with pytest.raises(OpenSetError, match="no luck"):
        run_study([make_cell("x", options(), "digits", "openauc", 0, 0)], options())
    with pytest.raises(OpenSetError, match="no luck"):
        run_folders([make_cell("x", options(), "digits", "openauc", 0, 0)], options())


def test_the_run_folder_of_a_changed_recipe_is_another_one(options):
    one, two = (
        make_cell("x", options(overrides=(f"backbone.width={width}",)), "digits", "maxlogit", 0, 0) for width in (8, 9)
    )
    assert one.folder != two.folder
    assert one.folder.parent == two.folder.parent


def test_a_dry_run_plans_and_trains_nothing(options, trainings):
    planned = options(methods=("softmax", "maxlogit", "openauc"), splits=(0, 1), execution=Execution(dry_run=True))
    with pytest.raises(DryRun) as told:
        table2.reproduce(planned)
    assert [step.state for step in told.value.plan.steps].count("share a training") == 2
    with pytest.raises(DryRun):
        openauc.table1(planned)
    assert not trainings


def test_shards_of_a_study_make_it_whole(options, trainings):
    for number in (1, 2):
        part = options(
            methods=("softmax", "maxlogit", "openauc"), splits=(0,), execution=Execution(shard=Shard(number, 2))
        )
        report = table2.reproduce(part)
    assert trainings == ["softmax", "openauc"]
    assert [line.labels["cells"] for line in report.tables[0].lines] == ["1 of 5 splits"] * 3


def test_what_is_read_from_run_folders_needs_all_shards(options):
    cells = [make_cell("x", options(), "digits", method, 0, 0) for method in ("softmax", "openauc")]
    part = options(execution=Execution(shard=Shard(1, 2)))
    with pytest.raises(OpenSetError, match="digits openauc split 0 seed 0 belongs to another --shard"):
        run_folders(cells, part)
    run_folders(cells, options(execution=Execution(shard=Shard(2, 2))))
    assert len(run_folders(cells, part)) == 2
