"""Every name runs on embedded data and leaves a table, and is refused with one sentence where it cannot run."""

import json

import pytest

from openset.cli import main
from openset.reproduction import ENTRIES

TINY = ("--set", "train.epochs=2", "--set", "backbone.width=8")


def openset(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """One folder for all, as a user has it: runs are shared."""
    return tmp_path_factory.mktemp("reproduce")


@pytest.mark.parametrize("name", ENTRIES)
def test_every_name_runs_at_scale_smoke(name, out, capsys):
    some = ("--splits", "0", "--methods", "maxlogit,openauc") if name == "openauc/table2" else ()
    assert openset("reproduce", name, *TINY, *some, "--out", out) == 0
    printed = capsys.readouterr().out
    assert "Needs at scale smoke: no data" in printed
    report = json.loads((out / name / "report.json").read_text())
    assert report["scale"] == "smoke"
    assert report["tables"][0]["lines"]
    assert report["claims"]
    assert (out / name / "report.md").read_text().startswith(f"# {name}: ")
    assert (out / name / "report.csv").read_text().count("\n") > 1
    assert "fig" not in name or any((out / name).glob("*.png"))


def test_a_column_of_ours_says_what_it_is(out):
    openset("reproduce", "openauc/table1", *TINY, "--out", out)
    assert "| OpenAUC before | OpenAUC after |" in (out / "openauc/table1/report.md").read_text()
    assert ",OpenAUC after," in (out / "openauc/table1/report.csv").read_text()


def test_the_list_names_everything_and_what_it_needs(capsys, tmp_path):
    assert openset("reproduce", "--json", tmp_path / "list.json") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ENTRIES)
    content = json.loads((tmp_path / "list.json").read_text())
    assert content["schema"] == 1
    listed = {one["name"]: one["needs"] for one in content["entries"]}
    assert set(listed) == set(ENTRIES)
    assert listed["openauc/time"]["paper"] == "-"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("openauc/tabel2",), "There is nothing named 'openauc/tabel2' to reproduce. Did you mean 'openauc/table2'?"),
        (("openauc/table2", "--scale", "big"), "'--scale' cannot be 'big'"),
        (("openauc/time", "--scale", "paper"), "openauc/time has no scale 'paper': choose from smoke, cpu."),
        (("openauc/when", "--protocols", "mnist"), "openauc/when has no protocol 'mnist' at scale smoke."),
        (("openauc/table2", "--splits", "a"), "--splits: 'a' is neither a number nor a range"),
        (("elephant/table1", "--scale", "paper"), "Scale paper evaluates your detectors: give --known-gt"),
        (("elephant/table1", "--known-gt", "x"), "Detection needs --known-gt and --wild-gt"),
        (("elephant/table1", "--scale", "cpu"), "There are no results of detectors: put known_gt.json.gz"),
        (("openauc/table2", "--scale", "cpu", "--protocols", "mnist", "--methods", "openauc"), "mnist"),
    ],
)
def test_what_cannot_run_is_said_in_one_sentence(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("OPENSET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert openset("reproduce", *words) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("Error: ")
    assert message in printed
    assert printed.count("\n") == 1


def test_a_users_own_detectors_are_evaluated(out, tmp_path, capsys):
    openset("reproduce", "elephant/table1", "--out", out)
    here = out / "simulated"
    words = ("--known-gt", here / "known.json", "--wild-gt", here / "wild.json")
    for part in ("known", "wild"):
        words += (f"--{part}-dt", f"yolov2={here / f'simulated-B-{part}.json'}")
    assert openset("reproduce", "elephant/table2", "--scale", "paper", *words, "--out", tmp_path) == 0
    report = json.loads((tmp_path / "elephant/table2/report.json").read_text())
    line = report["tables"][0]["lines"][0]
    assert line["published"]["value"] == 0.1603
    assert line["difference"] == pytest.approx(line["ours"]["value"] - 0.1603)
