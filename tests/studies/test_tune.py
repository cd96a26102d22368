"""Choosing on held-out classes: the choice, its evidence, and its use."""

import json
from pathlib import Path

import pytest

from openset.cli import main
from openset.errors import OpenSetError
from openset.intervals import over_splits
from openset.studies.bench import Vary
from openset.studies.cell import Cell, Layout
from openset.studies.choice import read_choice
from openset.studies.key import Key
from openset.studies.running import Outcome
from openset.studies.tune import choose, trials, tuning_grid
from openset.train.config import read_config

FAST = ("--set", "train.epochs=2", "--set", "backbone.width=8", "--set", "data.batch_size=64")


def openset(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return end.code or 0
    return 0


def outcomes(table, metric="open_auc"):
    """Made-up runs: {value: {(stand-in, seed): metric value or None}}."""
    made = []
    for value, found in table.items():
        for (number, seed), reached in found.items():
            config = read_config(None, protocol="stand-in:digits", split=number, seed=seed)
            cell = Cell(
                Key("stand-in-digits", "openauc", number, seed, f"x={value}"), config, Layout(Path("out")), value=value
            )
            entry = {"name": metric, "params": {}, "against": "unknown", "value": reached, "low": None, "high": None}
            made.append(Outcome(cell, reason="bad luck") if reached is None else Outcome(cell, {"metrics": [entry]}))
    return made


def decide(table, metric="open_auc"):
    vary = Vary("method.weight", tuple(table))
    return choose(vary, trials(vary, outcomes(table, metric), metric), metric)


def test_the_best_mean_is_chosen_with_its_evidence():
    table = {
        0.1: {(0, 0): 0.80, (1, 0): 0.70, (2, 0): 0.60},
        0.2: {(0, 0): 0.82, (1, 0): 0.73, (2, 0): 0.62},
        0.4: {(0, 0): 0.90, (1, 0): 0.50, (2, 0): 0.60},
    }
    choice = decide(table)
    assert (choice["field"], choice["chosen"], choice["distinguishable"]) == ("method.weight", 0.2, True)
    first, best, last = choice["values"]
    gap = over_splits([0.02, 0.03, 0.02])
    found = {name: first["chosen_minus_this"][name] for name in ("value", "low", "high")}
    assert found == pytest.approx({"value": gap.value, "low": gap.low, "high": gap.high})
    assert best["chosen_minus_this"] is None
    assert best["mean"]["value"] == pytest.approx(0.7233, abs=1e-4)
    assert best["mean"]["sd"] == pytest.approx(over_splits([0.82, 0.73, 0.62]).sd)
    assert [run["value"] for run in last["runs"]] == [0.9, 0.5, 0.6]
    assert "weight=0.2 has the highest mean OpenAUC, .723 over 3 stand-ins" in choice["reason"]
    assert (
        "Difference to weight=0.1, the next best, paired by run: +.023 [+.009, +.038]; the interval excludes 0."
        in choice["reason"]
    )


def test_what_cannot_be_told_apart_is_said():
    choice = decide({1: {(0, 0): 0.9, (1, 0): 0.5}, 2: {(0, 0): 0.8, (1, 0): 0.7}})
    assert (choice["chosen"], choice["distinguishable"]) == (2, False)
    assert "the stand-ins do not distinguish them" in choice["reason"]
    single = decide({1: {(0, 0): 0.9}, 2: {(0, 0): 0.8}})
    assert (single["chosen"], single["distinguishable"]) == (1, False)
    assert "does not tell how sure that is" in single["reason"]
    assert single["values"][1]["chosen_minus_this"]["low"] is None


def test_of_equals_the_first_is_chosen():
    found = {(0, 0): 0.9, (1, 0): 0.8}
    assert decide({3: found, 1: found, 2: found})["chosen"] == 3


def test_seeds_of_a_stand_in_are_one_observation():
    """Two seeds that agree tell no more than one."""
    once = {1: {(0, 0): 0.9, (1, 0): 0.8}, 2: {(0, 0): 0.85, (1, 0): 0.7}}
    twice = {
        value: {(n, seed): reached for (n, _), reached in found.items() for seed in (0, 1)}
        for value, found in once.items()
    }
    one, two = (decide(table)["values"][1]["chosen_minus_this"] for table in (once, twice))
    assert {**one, "n": 4} == pytest.approx(two)


def test_less_is_better_where_the_metric_says_so():
    table = {1: {(0, 0): 0.3, (1, 0): 0.3}, 2: {(0, 0): 0.1, (1, 0): 0.2}}
    assert decide(table, "fpr_at_tpr")["chosen"] == 2
    assert "lowest mean" in decide(table, "fpr_at_tpr")["reason"]
    assert decide(table)["chosen"] == 1


def test_a_value_that_failed_somewhere_takes_no_part():
    choice = decide({1: {(0, 0): 0.99, (1, 0): None}, 2: {(0, 0): 0.5, (1, 0): 0.6}})
    assert choice["chosen"] == 2
    assert [one["complete"] for one in choice["values"]] == [False, True]
    assert "No other value could be trained" in choice["reason"]
    with pytest.raises(OpenSetError, match="nothing is chosen"):
        decide({1: {(0, 0): None}, 2: {(0, 0): None}})


def test_methods_share_their_training(tmp_path):
    cells = tuning_grid("fast/digits", "digits", Vary("method.name", ("softmax", "maxlogit")), tmp_path, n_stand_ins=2)
    assert [cell.key.method for cell in cells] == ["softmax", "softmax", "maxlogit", "maxlogit"]
    assert cells[0].training == cells[2].training
    assert {cell.config.protocol for cell in cells} == {"stand-in:digits"}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    out = tmp_path_factory.mktemp("tune")
    words = ("tune", "fast/digits", "--vary", "method.weight=0.1,0.4", "--stand-ins", 2, "--out", out, *FAST)
    assert openset(*words) == 0
    return out, words


def test_tune_writes_its_choice(tuned, capsys):
    out, _ = tuned
    content = json.loads((out / "choice.json").read_text())
    assert content["chosen"] in (0.1, 0.4)
    assert content["protocol"] == "digits"
    assert content["recipe"] == "fast/digits"
    assert len(content["stand_ins"]) == 2
    assert not set(content["stand_ins"][0]["held_out"]) & set(content["stand_ins"][0]["known"])
    assert not set(content["stand_ins"][0]["held_out"]) & set(content["stand_ins"][1]["held_out"])
    for one in content["values"]:
        for run in one["runs"]:
            entries = json.loads((Path(run["folder"]) / "summary.json").read_text())["metrics"]
            assert run["value"] in [entry["value"] for entry in entries if entry["name"] == "open_auc"]
    assert any("was not opened" in note for note in content["notes"])
    assert content["provenance"]["python"]


def test_tune_goes_on_and_says_the_same(tuned, trainings, tmp_path):
    out, words = tuned
    assert openset(*words, "--json", tmp_path / "again.json") == 0
    assert not trainings
    before, again = (json.loads(file.read_text()) for file in (out / "choice.json", tmp_path / "again.json"))
    assert {**again, "provenance": None} == {**before, "provenance": None}


def test_bench_and_train_use_the_choice(tuned, tmp_path, capsys):
    file = tuned[0] / "choice.json"
    chosen = json.loads(file.read_text())["chosen"]
    words = ("--tuned", file, *FAST)
    assert openset("bench", "-r", "fast/digits", "-m", "openauc", "--splits", 0, "--out", tmp_path / "b", *words) == 0
    assert f"method.weight = {chosen}, from {file}." in capsys.readouterr().out.replace("\n", "")
    config = read_config(tmp_path / "b/digits/openauc/split0-seed0/config.yaml")
    assert config.method.options["weight"] == chosen
    assert config.protocol == "digits"
    assert openset("train", "fast/digits", "-p", "digits", "--out", tmp_path / "t", *words) == 0
    assert read_config(tmp_path / "t/config.yaml").method.options["weight"] == chosen
    capsys.readouterr()
    assert openset("bench", "-p", "mnist", "-m", "openauc", "--dry-run", "--splits", 0, "--out", tmp_path, *words) == 0
    assert "It was chosen for digits, not for mnist." in capsys.readouterr().out.replace("\n", " ")


def test_the_same_field_is_not_set_twice(tuned, tmp_path, capsys):
    file = tuned[0] / "choice.json"
    assert openset("train", "fast/digits", "--tuned", file, "--set", "method.weight=3", "--out", tmp_path) == 2
    assert "'method.weight' is set by" in capsys.readouterr().err
    assert openset("bench", "-m", "openauc", "--tuned", file, "--vary", "method.weight=3,4", "--out", tmp_path) == 2
    assert "'method.weight' cannot be varied: another option sets it already" in capsys.readouterr().err


def test_a_method_that_was_chosen_is_named(tmp_path, capsys):
    file = tmp_path / "choice.json"
    file.write_text(json.dumps({"field": "method.name", "chosen": "scaled", "protocol": "digits"}))
    assert openset("bench", "--tuned", file, "--out", tmp_path) == 2
    assert "chooses the method scaled: name that one instead of --tuned" in capsys.readouterr().err
    assert openset("train", "fast/digits", "--tuned", file, "--out", tmp_path / "run", *FAST) == 0
    assert read_config(tmp_path / "run/config.yaml").method.name == "scaled"


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"field": "method.weight", "chosen": [1], "protocol": "digits"},
        {"field": "data_root", "chosen": "/", "protocol": "digits"},
        {"field": "protocol", "chosen": "/etc", "protocol": "digits"},
        {"field": "../x", "chosen": 1, "protocol": "digits"},
        {"field": 3, "chosen": 1, "protocol": "digits"},
    ],
)
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(OpenSetError, match="x.json is not a file that openset tune has written"):
        read_choice(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say what to choose: --vary"),
        (("--vary", "method.weight=0.1"), "To choose takes two values or more"),
        (("--vary", "seed=1,2"), "'seed' says what is trained on, not how"),
        (("--vary", "method.weigth=1,2"), "Did you mean 'weight'?"),
        (("--vary", "method.weight=1,big"), "'method.weight' must be a number, got 'big'"),
        (("--vary", "method.weight=1,2", "--metric", "open_acu"), "Did you mean 'open_auc'?"),
        (("--vary", "method.weight=1,2", "-p", "digit"), "There is no protocol"),
        (("--vary", "method.weight=1,2", "--shard", "3/2"), "--shard '3/2' is not understood"),
    ],
)
def test_what_cannot_be_tuned_is_said(words, sentence, tmp_path, capsys):
    assert openset("tune", "fast/digits", *words, "--out", tmp_path / "runs", *FAST) == 2
    assert sentence in capsys.readouterr().err


def test_words_can_be_chosen_between(tmp_path, capsys):
    words = ("--vary", "optimizer.nesterov=true,false", "--stand-ins", 1, "--out", tmp_path, *FAST)
    assert openset("tune", "fast/digits", *words) == 0
    assert json.loads((tmp_path / "choice.json").read_text())["chosen"] in (True, False)
    assert sorted(one.name for one in (tmp_path / "stand-in-digits").iterdir()) == [
        "openauc-nesterov=False",
        "openauc-nesterov=True",
    ]


def test_a_dry_run_of_tune_trains_nothing(tmp_path, capsys, trainings):
    assert openset("tune", "fast/digits", "--vary", "method.weight=1,2", "--dry-run", "--out", tmp_path / "r") == 0
    assert "6 cells: 0 done, 6 to train" in capsys.readouterr().out
    assert not trainings
    assert not (tmp_path / "r").exists()
