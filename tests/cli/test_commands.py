"""The other commands, and what all of them share."""

import re
import subprocess
import sys

import numpy as np
import pytest
import typer

from openset import Scores
from openset._core.numbers import percent
from openset.cli import app
from openset.cli._numbers import numbers
from openset.errors import OpenSetError
from openset.metrics import METRICS

EVERYTHING = typer.main.get_command(app).commands
COMMANDS = [name for name, command in EVERYTHING.items() if not hasattr(command, "commands")]


def test_compare_says_which_is_better_and_how_sure(openset, scores_file, tmp_path, load):
    good, poor = scores_file("good.parquet"), scores_file("poor.parquet", noise=5.0)
    found = openset("compare", good, poor, "--resamples", 50, "--json", tmp_path / "c.json")
    assert found.code == 0
    assert "difference" in found.out
    entry = next(m for m in load(tmp_path / "c.json")["comparisons"] if m["name"] == "open_auc")
    assert entry["value"] == pytest.approx(entry["first"]["value"] - entry["second"]["value"])
    assert entry["low"] > 0
    assert entry["p_value"] < 0.001
    back = openset("compare", poor, good, "--resamples", 50, "--json", tmp_path / "c.json")
    assert back.code == 0
    reverse = next(m for m in load(tmp_path / "c.json")["comparisons"] if m["name"] == "open_auc")
    assert reverse["value"] == pytest.approx(-entry["value"])


def test_compare_says_how_small_a_p_value_can_be(openset, scores_file):
    printed = openset("compare", scores_file("a.parquet"), scores_file("b.parquet", noise=0.5), "--resamples", "99").out
    assert "99 resamples cannot show a p-value below 0.02" in " ".join(printed.split())


def test_compare_refuses_different_samples(refused, scores_file):
    short = scores_file("short.parquet", n=200)
    assert "not run on the same samples: 300 and 200" in refused("compare", scores_file(), short)


def test_a_threshold_is_chosen_frozen_and_applied(openset, scores_file, tmp_path, load):
    validation, test = scores_file("val.parquet"), scores_file("test.parquet", noise=0.5)
    found = openset(
        "threshold", validation, "--rule", "at_fpr=0.1", "--apply", test, "--out", tmp_path / "t.json",
        "--json", tmp_path / "r.json", "--unknown-share", 0.2,
    )  # fmt: skip
    assert found.code == 0
    frozen = load(tmp_path / "t.json")
    assert set(frozen) == {"schema", "value", "rule", "achieved", "n", "score", "fit", "classes", "model", "made"}
    assert frozen["achieved"]["fpr"] <= 0.1
    scores = Scores.read(test)
    accepted = (scores.unknown_score <= frozen["value"])[scores.labels < 0].mean()
    assert load(tmp_path / "r.json")["applied"]["fpr"] == pytest.approx(accepted)
    assert load(tmp_path / "r.json")["unknown_share"] == 0.2
    assert percent(accepted) in found.out
    assert "If 20\u00a0% of what arrives is unknown" in found.out
    again = openset("threshold", tmp_path / "t.json", "--apply", test)
    assert again.code == 0
    assert percent(accepted) in again.out


def test_a_threshold_against_some_is_applied_against_the_same(openset, refused, tmp_path, load):
    rows = "0,0,.1\n0,0,.2\n1,1,.3\n1,1,.4\n-1,0,.15\n-1,0,.16\n-1,0,.17\n-1,0,.18\n-2,0,.5\n-2,0,.6\n"
    path = tmp_path / "n.csv"
    path.write_text("label,prediction,unknown_score\n" + rows)
    words = ["threshold", path, "--rule", "at_fpr=0", "--apply", path, "--unknown-share", 0.005]
    printed = openset(*words, "--against", "unknown", "--json", tmp_path / "t.json").out
    assert re.search(r"open-set samples accepted .FPR.\s+0\.0.%\s+0\.0.%", printed)
    assert "If 0.5\u00a0% of what arrives is unknown, 100.0\u00a0% of what is accepted is known." in printed
    found = load(tmp_path / "t.json")
    assert (found["achieved"]["fpr"], found["applied"]["fpr"], found["known_precision"]) == (0, 0, 1)
    assert "negatives accepted" not in printed
    printed = refused(*words, "--against", "far")
    assert f"{path}: against='far' is not" in printed


def test_a_threshold_is_refused_where_it_does_not_belong(openset, refused, scores_file, tmp_path, load):
    energy = scores_file("energy.parquet", meta={"score": "energy", "model": "m1"})
    msp = scores_file("msp.parquet", meta={"score": "msp", "model": "m1"})
    silent, frozen = scores_file("silent.csv"), tmp_path / "t.json"
    words = ("threshold", energy, "--rule", "at_acceptance=0.95", "--out", frozen)
    printed = refused(*words, "--apply", msp)
    assert printed.startswith(
        f"Error: {msp}: The threshold (at_acceptance=0.95) does not belong to this: it was chosen for"
    )
    assert "for the score energy, and this is msp. Choose one on validation scores of the same kind" in printed
    assert not frozen.exists()
    assert openset(*words, "--apply", energy).code == 0
    assert "--force" in refused("threshold", frozen, "--apply", msp)
    forced = openset("threshold", frozen, "--apply", msp, "--force", "--json", tmp_path / "r.json")
    assert forced.code == 0
    assert load(tmp_path / "r.json")["applied"]["acceptance"] == load(frozen)["achieved"]["acceptance"]
    doubted = " ".join(openset("threshold", frozen, "--apply", silent).out.split())
    assert f"Note: {silent}: The threshold was chosen for the score energy; these scores do not tell" in doubted


def test_a_threshold_file_of_before_is_read_with_a_note(openset, scores_file, tmp_path, load):
    (tmp_path / "t.json").write_text('{"value": 0.5, "rule": "at_fpr=0.1", "achieved": {}, "n": 9}')
    words = ("--apply", scores_file(meta={"score": "msp"}), "--json", tmp_path / "r.json")
    found = openset("threshold", tmp_path / "t.json", *words)
    assert found.code == 0
    assert not found.err
    assert "Note: The threshold file is of schema 1" in found.out
    assert load(tmp_path / "r.json")["notes"][0].startswith("The threshold file is of schema 1, which does not tell")


def test_rates_are_shown_with_intervals_and_a_row_per_group(openset, tmp_path):
    labels = np.r_[np.zeros(120, dtype=int), np.full(60, -1), np.full(60, -2)]
    score = np.r_[np.linspace(0, 1, 120), np.linspace(0.8, 2, 120)]
    groups = np.where(labels == -2, np.where(np.arange(240) % 2, "near", "[bold]far"), "")
    Scores(labels, np.zeros_like(labels), score, groups=groups).write(tmp_path / "s.parquet")
    printed = openset(
        "threshold", tmp_path / "s.parquet", "--rule", "at_acceptance=0.95", "--apply", tmp_path / "s.parquet"
    )
    rows = {
        line[:34].strip(): re.split("  +", line[34:].strip()) for line in printed.out.splitlines() if "accepted" in line
    }
    assert rows["knowns accepted"] == ["95.0\u00a0%", "95.0\u00a0% [89.4\u00a0%, 98.1\u00a0%]"]
    assert rows["unknowns accepted"] == ["0.0\u00a0%", "0.0\u00a0% [0.0\u00a0%, 6.0\u00a0%]"]
    assert rows["negatives accepted"][0] == "25.0\u00a0%"
    assert {"near accepted", "[bold]far accepted"} <= set(rows)
    assert "95 % intervals, exact (Clopper-Pearson)" in printed.out


def test_the_rules_are_listed_from_their_cards(openset):
    from openset.operating import RULES

    printed = " ".join(openset("threshold", "--rules").out.split())
    for rule in RULES.values():
        assert rule.example in printed
        assert all(option in printed for option in rule.options)


def test_a_threshold_that_does_nothing_is_told(openset, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.r_[np.zeros(200, dtype=int), np.full(200, -2)]
    Scores(labels, np.zeros(400, dtype=int), rng.normal(size=400)).write(tmp_path / "s.csv")
    printed = " ".join(openset("threshold", tmp_path / "s.csv", "--rule", "at_acceptance=0.95").out.split())
    assert "Note: The threshold accepts 9" in printed
    assert "rejects next to nothing of what it should" in printed


def test_a_threshold_is_printed_in_full(openset, tmp_path):
    for dtype, text in ((np.float32, "0.99999994"), (np.float64, "0.9999999999999999")):
        score = np.array([0.5, float(text), 1.0], dtype=dtype)
        Scores([0, 0, -2], [0, 0, 0], score).write(tmp_path / "s.parquet")
        assert f"Threshold {text} by rule" in openset("threshold", tmp_path / "s.parquet", "--rule", "at_fpr=0").out


def test_files_without_unknowns_are_named(refused, openset, tmp_path):
    path, other = tmp_path / "known.csv", tmp_path / "whole.csv"
    path.write_text("label,prediction,unknown_score\n0,0,.1\n1,1,.2\n")
    other.write_text("label,prediction,unknown_score\n0,0,.1\n1,1,.2\n-2,1,.3\n")
    assert f"{path}: Found 2 known samples and 0" in refused("audit", path)
    assert f"{path} and {path}: Found 2 known" in refused("compare", path, path)
    assert f"{path}: The rule 'at_fpr=0.1' needs open-set" in refused("threshold", path, "--rule", "at_fpr=0.1")
    rule = ("--rule", "at_fpr=0.1", "--apply", path, "--unknown-share", 0.1)
    assert f"{path}: Found 2 known" in refused("threshold", other, *rule)
    assert openset("threshold", other, "--rule", "at_acceptance=1").out.startswith("Threshold 0.2 by rule")
    assert "chosen on 2 samples" in openset("threshold", other, "--rule", "at_acceptance=1").out


def test_results_do_not_overwrite_what_a_reproduction_reads(refused, tmp_path):
    names = ("known.json", "wild.json", "a.json", "b.json")
    for name in names:
        (tmp_path / name).write_text("{}")
    known, wild, first, second = (tmp_path / name for name in names)
    words = ["reproduce", "elephant/table2", "--known-gt", known, "--wild-gt", wild]
    words += ["--known-dt", f"d={first}", "--wild-dt", f"d={second}"]
    for name in names:
        assert f"{name}: it is read by this command" in refused(*words, "--json", tmp_path / name)


def test_a_closed_folder_and_one_place_for_two_results_are_told_before_the_work(refused, scores_file, monkeypatch):
    path = scores_file()
    out = path.parent / "out"
    assert "out: it is already the place of another" in refused("evaluate", path, "--figures", out, "--json", out)
    closed = path.parent / "closed" / "r.json"
    stat = type(path).stat

    def refuse(self, **options):
        if self == closed:
            raise PermissionError(13, "Permission denied")
        return stat(self, **options)

    monkeypatch.setattr(type(path), "stat", refuse)
    assert f"Cannot write {closed}: permission denied." in refused("evaluate", path, "--json", closed)


def test_names_that_look_like_formulas_stay_names_in_a_spreadsheet(openset, tmp_path):
    path = tmp_path / "i.csv"
    path.write_text("label,prediction,unknown_score,group\n0,0,.1,\n1,1,.2,\n-2,0,.3,=1+1\n-2,1,.15,b\n")
    openset("evaluate", path, "--no-intervals", "--csv", tmp_path / "o.csv")
    text = (tmp_path / "o.csv").read_text()
    assert ",'=1+1," in text
    assert ",=1+1" not in text


def test_the_score_and_the_accuracy_where_a_threshold_was_chosen_are_told(openset, tmp_path):
    rows = ["label,logit_0,logit_1", "0,3,1", "0,1,2", "1,0,2", "1,1,4", "unknown,1,1"]
    (tmp_path / "val.csv").write_text("\n".join(rows))
    printed = openset("threshold", tmp_path / "val.csv", "--rule", "at_acceptance=1", "--score", "max_logit").out
    assert "score max_logit." in printed
    assert re.search(r"accuracy on accepted knowns +75\.0.%", printed)
    assert "score max_logit" in openset("evaluate", tmp_path / "val.csv", "--score", "max_logit", "--no-intervals").out


def test_the_share_of_unknowns_is_used_or_refused(openset, refused, scores_file, tmp_path, load):
    path = scores_file()
    values = []
    for share in (0.01, 0.5):
        found = openset(
            "threshold", path, "--rule", "min_cost=10", "--unknown-share", share, "--out", tmp_path / "t.json"
        )
        assert found.code == 0
        values.append(load(tmp_path / "t.json")["value"])
        assert load(tmp_path / "t.json")["rule"] in found.out
    assert values[0] > values[1]
    words = ("--unknown-share", 0.01, "--out", tmp_path / "none.json")
    for unused in ((path, "--rule", "at_fpr=0.1"), (tmp_path / "t.json",)):
        assert "--unknown-share is for --rule best_accuracy or min_cost" in refused("threshold", *unused, *words)
    assert not (tmp_path / "none.json").exists()


def test_wrong_rules_are_explained(refused, scores_file, tmp_path):
    path = scores_file()
    out = ("--out", tmp_path / "t.json")
    assert "Did you mean 0.95?" in refused("threshold", path, "--rule", "at_fpr=95", *out)
    assert "--rule at_acceptance=0.95" in refused("threshold", path, *out)
    assert "Did you mean 'at_fpr'" in refused("threshold", path, "--rule", "at_frp=0.1", *out)
    assert not (tmp_path / "t.json").exists()
    openset_file = tmp_path / "frozen.json"
    openset_file.write_text('{"value": 1.0, "rule": "x", "achieved": {}, "n": 3}')
    assert "is a frozen threshold" in refused("threshold", openset_file, "--rule", "at_fpr=0.1")


def test_audit_tells_and_writes_its_findings(openset, scores_file, tmp_path, load):
    found = openset("audit", scores_file(), "--json", tmp_path / "a.json")
    assert found.code == 0
    text = " ".join(found.out.split())
    assert "is also reached by a model that catches" in text
    assert "Table 1 on these scores" in text
    content = load(tmp_path / "a.json")
    assert {finding["construction"] for finding in content["findings"]} == {"Prop. 1", "Prop. 2", "Prop. 3"}
    assert content["curve"][0]["unknown_recall"] == 0.0
    assert content["curve"][0]["ccr"] >= content["curve"][-1]["ccr"]


def test_audit_says_which_samples_it_calls_unknowns(openset, scores_file):
    printed = " ".join(openset("audit", scores_file(), "--against", "negative").out.split())
    assert printed.startswith("Unknowns below are the negatives alone (--against negative).")
    assert "alone (--against" not in openset("audit", scores_file()).out


def test_audit_does_not_overwrite_the_scores(refused, scores_file):
    path = scores_file()
    before = path.read_bytes()
    assert "it is read by this command" in refused("audit", path, "--json", path)
    assert path.read_bytes() == before


def test_metrics_lists_every_metric(openset, tmp_path, load):
    found = openset("metrics", "--json", tmp_path / "m.json")
    assert found.code == 0
    for name in METRICS:
        assert name in found.out
    assert [entry["name"] for entry in load(tmp_path / "m.json")["metrics"]] == list(METRICS)


def test_scores_are_listed_with_what_they_need(openset, tmp_path, load):
    from openset.posthoc import SCORES

    found = openset("scores", "--json", tmp_path / "s.json")
    assert found.code == 0
    assert all(name in found.out for name in SCORES)
    entries = {entry["name"]: entry for entry in load(tmp_path / "s.json")["scores"]}
    assert set(entries) == set(SCORES)
    assert entries["vim"]["needs"] == ["logits", "features", "head", "fit"]
    assert entries["knn"]["parameters"][0]["default"] == 50
    assert next(iter(entries.values()))["needs"] == ["logits"]  # those that need least come first


def test_a_score_with_parameters_and_one_that_the_file_does_not_allow(openset, tmp_path, load):
    labels = np.array([0, 1, 0, 1, -2, -2])
    logits = np.array([[3.0, 0], [0, 3], [2, 0], [0, 1], [0.5, 0.4], [0.1, 0]])
    np.savez(tmp_path / "l.npz", labels=labels, logits=logits)
    words = ("--no-intervals", "--json", tmp_path / "r.json")
    assert openset("evaluate", tmp_path / "l.npz", "--score", "msp(temperature=2)", *words).code == 0
    assert load(tmp_path / "r.json")["files"][0]["meta"]["score"] == {"name": "msp", "params": {"temperature": 2.0}}
    refused = openset("evaluate", tmp_path / "l.npz", "--score", "vim", *words)
    assert refused.code == 2
    assert "The score 'vim' needs features" in refused.err
    assert "Scores that work with it: energy," in refused.err
    assert "Did you mean 'k'?" in openset("evaluate", tmp_path / "l.npz", "--score", "knn(kk=1)", *words).err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(openset, name):
    found = openset(name, "--help")
    assert found.code == 0
    assert "Example:" in found.out
    assert f"openset {name}" in found.out


def every_command(group=None, before=()):
    """Names and options of all commands, those in groups as well."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*before, name))
        else:
            yield " ".join((*before, name)), {option for one in command.params for option in one.opts}


def test_every_command_writes_json_for_machines():
    # The folders that these leave behind hold their results as JSON already.
    in_a_folder = {"demo", "detect demo"}
    assert {name for name, options in every_command() if "--json" not in options} <= in_a_folder


def test_debug_shows_the_traceback(openset, tmp_path):
    from openset.errors import OpenSetError

    with pytest.raises(OpenSetError):
        openset("evaluate", tmp_path / "none.csv", "--debug")


def test_an_unexpected_failure_is_not_a_traceback(openset, scores_file, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a defect of ours")

    monkeypatch.setattr("openset.evaluation.evaluate", broken)
    found = openset("evaluate", scores_file())
    assert found.code == 3
    assert "failed unexpectedly (ZeroDivisionError: a defect of ours)" in found.err
    assert "Traceback" not in found.err


def test_a_wrong_option_is_explained(openset):
    found = openset("evaluate", "--reprot", "x")
    assert found.code == 2
    assert "No such option" in found.err


def test_the_installed_command_works_and_a_closed_pipe_does_not_hurt(scores_file):
    path = scores_file()
    command = [sys.executable, "-c", "from openset.cli import main; main()", "evaluate", str(path), "--no-intervals"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


def test_lists_of_numbers_may_hold_ranges():
    assert numbers("0-2, 5,7-7", "--seeds") == [0, 1, 2, 5, 7]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0-999999999999", "--seeds: '0-999999999999' makes more than 10,000 numbers"),
        ("0-9000,0-9000", "--seeds: '0-9000' makes more than 10,000 numbers"),
        ("²", "--seeds: '²' is neither a number nor a range"),
        ("0-²", "--seeds: '0-²' is neither a number nor a range"),
        ("9" * 5000, "is neither a number nor a range"),
        ("5-2", "--seeds: '5-2' ends before it begins"),
        ("5-", "--seeds: '5-' is neither a number nor a range"),
        (",", "--seeds: give at least one number"),
    ],
)
def test_lists_that_are_no_numbers_or_too_many_are_refused(text, words):
    with pytest.raises(OpenSetError, match=words):
        numbers(text, "--seeds")


@pytest.mark.parametrize("group", [EVERYTHING, EVERYTHING["detect"].commands], ids=["openset", "detect"])
def test_every_command_file_begins_with_its_summary(group):
    for name in group:
        summary = group.summary(name)
        assert summary[0].isupper() or summary.startswith("COCO"), name
        assert summary.endswith("."), name
        assert len(summary) > 20, name


def test_the_overview_of_commands_imports_none_of_them():
    program = "import sys, openset.cli\ntry: openset.cli.main(['--help'])\nfinally: print(sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "Every open-set metric of one or several models" in found
    assert "'openset.cli.evaluate'" not in found
    assert "'openset.cli'" in found
