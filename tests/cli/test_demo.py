"""What a newcomer sees first."""

import re

import pytest

from openset import Scores


@pytest.fixture
def short(monkeypatch):
    """Two choices of known digits and no networks: what comes before them, in a few seconds."""
    monkeypatch.setattr("openset.studies.demo.N_SPLITS", 2)
    monkeypatch.setattr("openset.cli.demo._RESAMPLES", 20)
    monkeypatch.setattr("openset.errors.is_installed", lambda *_: False)


def check_results(folder, load, n_splits):
    content = load(folder / "evaluation.json")
    assert len(content["files"]) == 2 * n_splits
    assert [group["name"] for group in content["groups"]] == ["linear", "neighbours"]
    for group in content["groups"]:
        assert next(m["value"] for m in group["metrics"] if m["name"] == "auroc") > 0.8
    frozen = load(folder / "threshold.json")
    assert frozen["rule"] == "at_acceptance=0.95"
    assert "n" in frozen
    validation = Scores.read(folder / "validation" / "neighbours" / "split0.parquet")
    assert (validation.labels >= 0).all()
    test = Scores.read(folder / "test" / "neighbours" / "split0.parquet")
    assert not set(validation.ids) & set(test.ids)


def test_a_result_and_what_to_look_at_come_before_all_that_takes_long(openset, short, tmp_path, load, monkeypatch):
    from openset.studies import demo

    trained, shown, run = [], [], demo.run_split
    monkeypatch.setattr(demo, "run_split", lambda split, **options: trained.append(split) or run(split, **options))
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append((address, list(trained))) or True)
    monkeypatch.setattr("openset.cli._desktop.has_desktop", lambda: True)
    found = openset("demo", "--out", tmp_path, "--open")
    assert found.code == 0, found.err
    check_results(tmp_path, load, 2)
    page = (tmp_path / "report.html").resolve().as_uri()
    assert shown == [(page, [0])]  # only one split was trained when the page was there
    assert trained == [0, 1]
    parts = ("$ openset compare", "What to look at", page, "$ openset threshold", "$ openset evaluate", "pip install")
    places = [found.out.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize(("asked", "desktop"), [(True, False), (False, True)])
def test_nothing_opens_without_a_desktop_or_unasked(capsys, tmp_path, monkeypatch, asked, desktop):
    from openset.cli.demo import _say_what_to_look_at

    monkeypatch.setattr("openset.cli._desktop.has_desktop", lambda: desktop)
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("opened"))
    _say_what_to_look_at(tmp_path / "report.html", show=asked)
    assert ("no desktop" in capsys.readouterr().out) is asked


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [("win32", {}, True), ("darwin", {}, True), ("linux", {}, False), ("linux", {"DISPLAY": ":0"}, True)],
)
def test_a_desktop_is_where_a_window_can_appear(monkeypatch, platform, variables, expected):
    from openset.cli._desktop import has_desktop

    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert has_desktop() is expected


@pytest.mark.slow
def test_networks_come_last_and_are_compared(openset, tmp_path, load):
    found = openset("demo", "--out", tmp_path)
    assert found.code == 0, found.err
    check_results(tmp_path, load, 5)
    assert found.out.index("$ openset evaluate") < found.out.index("$ openset bench")
    assert re.search(r"OpenAUC of openauc minus maxlogit, mean over 5 splits: [+-]", found.out)
