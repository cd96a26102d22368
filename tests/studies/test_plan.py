"""Dry runs: what is done, what is left, and how long that may take."""

import json

import pytest

from openset._io.folder_lock import hold
from openset.cli import main
from openset.studies.bench import make_grid
from openset.studies.grid import Shard
from openset.studies.plan import Plan, Step, make_plan
from openset.train.interrupt import Interrupted

CHANGES = ["train.epochs=4", "backbone.width=8", "data.batch_size=64"]


def grid(out, methods=("softmax", "maxlogit", "openauc"), splits=(0, 1), changes=()):
    return make_grid(["digits"], methods, splits, [0], out, overrides=[*CHANGES, *changes])


def pretend(cell, seconds, epochs=4):
    """A finished run, as far as a plan looks at it."""
    cell.config.write(cell.folder / "config.yaml")
    (cell.folder / "summary.json").write_text(json.dumps({"seconds": seconds, "epochs": epochs}))


def test_before_anything_is_trained_nobody_knows_how_long_it_takes(tmp_path):
    plan = make_plan(grid(tmp_path))
    assert [step.state for step in plan.steps] == ["train", "share a training"] * 2 + ["train"] * 2
    assert (plan.n_done, plan.n_trainings, plan.n_unknown, plan.hours) == (0, 4, 4, 0)
    assert plan.summary() == "6 cells: 0 done, 4 to train; how long that takes can be told when one has been trained."
    assert not (tmp_path / "digits").exists()


def test_finished_cells_tell_how_long_the_others_take(tmp_path):
    cells = grid(tmp_path)
    pretend(cells[0], 7200.0)  # softmax, split 0
    plan = make_plan(cells)
    states = {step.cell.key.title: (step.state, step.seconds) for step in plan.steps}
    assert states["digits softmax split 0 seed 0"] == ("done", 0)
    assert states["digits maxlogit split 0 seed 0"] == ("share a training", 0)
    assert states["digits softmax split 1 seed 0"] == ("train", 7200)
    assert states["digits openauc split 1 seed 0"] == ("train", 7200)  # by the same protocol, for want of better
    pretend(cells[4], 3600.0)  # openauc, split 0
    assert make_plan(cells).hours == 2 + 1
    assert make_plan(cells).summary() == "6 cells: 2 done, 2 to train, about 3.0 hours one after the other."
    longer = make_grid(["digits"], ["softmax"], [2], [0], tmp_path, overrides=[*CHANGES[1:], "train.epochs=8"])
    assert make_plan([*cells, *longer]).hours == 3 + 4  # twice the epochs


def test_other_protocols_tell_nothing(tmp_path):
    cells = grid(tmp_path, ["softmax"], [0])
    pretend(cells[0], 3600.0)
    other = make_grid(["mnist"], ["softmax"], [0], [0], tmp_path)
    plan = make_plan([*cells, *other])
    assert plan.n_unknown == 1
    both = Plan([*plan.steps, Step(cells[0], "train", 1, 3600.0)])
    assert both.summary().endswith("about 1.0 hours one after the other, and 1 that nothing finished is like.")


def test_a_training_that_was_broken_off_goes_on(tmp_path):
    (cell,) = grid(tmp_path, ["softmax"], [0])

    def stop(state, *_):
        if state.epoch == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        cell.run(watch=stop)
    (step,) = make_plan([cell]).steps
    assert (step.state, step.epochs) == ("resume at epoch 3 of 4", 2)
    assert step.seconds > 0  # from its own pace
    with hold(cell.folder):
        (step,) = make_plan([cell]).steps
    assert step.state.startswith("resume at epoch 3 of 4; in use by process ")


def test_a_shared_beginning_is_not_trained_again(tmp_path):
    cells = grid(tmp_path, ["openauc"], [0], ["method.start=3"]) + grid(tmp_path, ["maxlogit"], [0])
    plain, begun = make_plan(cells).steps
    assert (plain.cell.key.method, plain.state) == ("maxlogit", "train")
    assert (begun.state, begun.epochs) == ("train from epoch 4", 1)


def test_a_shard_has_a_plan_of_its_own(tmp_path):
    cells = grid(tmp_path)
    steps = [step.cell.key for number in (1, 2) for step in make_plan(cells, shard=Shard(number, 2)).steps]
    assert sorted(key.title for key in steps) == sorted(cell.key.title for cell in cells)


def test_the_commands_say_it(tmp_path, capsys):
    main_words = ["bench", "-m", "softmax", "--splits", "0-1", "--out", str(tmp_path), "--dry-run"]
    with pytest.raises(SystemExit) as end:
        main(main_words)
    assert not end.value.code
    printed = capsys.readouterr().out
    assert "digits softmax split 1 seed 0" in printed
    assert "2 cells: 0 done, 2 to train" in printed
    assert "Nothing was run." in printed
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "openauc/table2", "--out", str(tmp_path), "--dry-run"])
    assert not end.value.code
    assert "25 cells: 0 done, 15 to train" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "elephant/table1", "--out", str(tmp_path), "--dry-run"])
    assert not end.value.code
    assert "elephant/table1 has no cells to train." in capsys.readouterr().out
