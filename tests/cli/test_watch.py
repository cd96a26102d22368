"""`openset watch`: the share of unknowns over time."""

import re
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from openset import Scores, choose


@pytest.fixture
def stream(tmp_path):
    """A frozen threshold, and ten days of scores with more unknowns from the seventh on."""
    rng = np.random.default_rng(0)
    choose(Scores([0] * 1000, [0] * 1000, rng.normal(size=1000)), "at_acceptance=0.95").write(tmp_path / "t.json")
    score = rng.normal(size=2400)
    score[1440:] += 4 * (rng.random(960) < 0.3)
    times = [datetime(2026, 3, 1) + timedelta(minutes=6 * n) for n in range(2400)]
    table = pl.DataFrame({"seen": times, "prediction": [0] * 2400, "unknown_score": score})
    table.write_parquet(tmp_path / "log.parquet")
    table.with_columns(pl.col("seen").dt.to_string("%Y-%m-%dT%H:%M:%SZ")).write_csv(tmp_path / "log.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_a_change_raises_the_alarm(openset, stream, name, load):
    words = ["watch", stream / "t.json", stream / name, "--time", "seen", "--json", stream / "w.json"]
    found = openset(*words, "--report", stream / "w.html")
    assert found.code == 1, found.err
    content = load(stream / "w.json")
    assert content["alarm"] == "2026-03-07"
    assert [one["name"] for one in content["windows"]] == [f"2026-03-{day:02}" for day in range(1, 11)]
    assert [one["unknown"]["n"] for one in content["windows"]] == [240] * 10
    value = load(stream / "t.json")["value"]
    score = pl.read_parquet(stream / "log.parquet")["unknown_score"].to_numpy()
    assert [one["unknown"]["count"] for one in content["windows"]] == (score > value).reshape(10, 240).sum(1).tolist()
    assert [one["alarm"] for one in content["windows"]] == [False] * 6 + [True] * 4
    assert "Alarm in window 2026-03-07: more unknowns than the" in " ".join(found.out.split())
    assert "2026-03-07" in (stream / "w.html").read_text()


def test_without_a_change_there_is_none(openset, stream, load):
    pl.read_parquet(stream / "log.parquet").head(1440).write_parquet(stream / "quiet.parquet")
    found = openset("watch", stream / "t.json", stream / "quiet.parquet", "--window", 100, "--json", stream / "w.json")
    assert found.code == 0, found.out
    assert "No alarm" in found.out
    content = load(stream / "w.json")
    assert [one["unknown"]["n"] for one in content["windows"]] == [100] * 14 + [40]
    assert content["windows"][3]["name"] == "row 300"


def test_each_file_is_a_window(openset, stream, load):
    table = pl.read_parquet(stream / "log.parquet")
    files = []
    for day, part in enumerate(table.iter_slices(240)):
        files.append(stream / f"day{day}.csv")
        part.drop("seen").write_csv(files[-1])
    assert openset("watch", stream / "t.json", *files, "--json", stream / "w.json").code == 1
    content = load(stream / "w.json")
    assert content["alarm"] == str(files[6])
    assert len(content["windows"]) == 10
    few = openset("watch", stream / "t.json", *files, "--unknown-share", 0.4)
    assert few.code == 0, few.out  # so many unknowns are expected


def test_the_same_whatever_the_pieces(openset, stream, load, monkeypatch):
    from openset._io import score_stream

    words = ["watch", stream / "t.json", stream / "log.parquet", "--time", "seen", "--every", "6h", "--json"]
    openset(*words, stream / "a.json")
    monkeypatch.setattr(score_stream, "_MOST_ROWS", 7)
    monkeypatch.setattr(score_stream, "_LEAST_ROWS", 1)
    openset(*words, stream / "b.json")
    assert load(stream / "a.json")["windows"] == load(stream / "b.json")["windows"]
    assert load(stream / "a.json")["windows"][1]["name"] == "2026-03-01 06:00:00"


def test_times_that_go_back_are_noticed_wherever_the_pieces_end(stream, refused, monkeypatch):
    from openset._io import score_stream

    monkeypatch.setattr(score_stream, "_MOST_ROWS", 3)
    monkeypatch.setattr(score_stream, "_LEAST_ROWS", 1)
    days = ["01", "05", "09", "07", "08", "09"]
    (stream / "x.csv").write_text("seen,prediction,unknown_score\n" + "".join(f"2026-03-{day},0,0.1\n" for day in days))
    told = refused("watch", stream / "t.json", stream / "x.csv", "--time", "seen")
    assert "'seen' goes back in line 5 (2026-03-07)" in told


def test_a_figure_is_drawn(openset, stream, refused):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    openset("watch", stream / "t.json", stream / "log.parquet", "--figure", stream / "w.png")
    assert (stream / "w.png").read_bytes()[:4] == b"\x89PNG"
    printed = refused("watch", stream / "t.json", stream / "log.parquet", "--figure", stream / "w.gif")
    assert "use a name that ends in .png or .pdf" in printed


def test_bad_input_is_told(stream, refused):
    words = ["watch", stream / "t.json", stream / "x.csv", "--time", "seen"]

    def printed(rows, *more):
        (stream / "x.csv").write_text("seen,prediction,unknown_score\n" + rows)
        return refused(*words, *more)

    assert "'seen' is 'soon' in line 3, which is no time" in printed("2026-03-01,0,0.1\nsoon,0,0.2\n")
    assert "'seen' is missing in line 2" in printed(",0,0.1\n")
    assert "'seen' goes back in line 3 (2026-02-01): sort the rows by time" in printed(
        "2026-03-01,0,0.1\n2026-02-01,0,0.2\n"
    )
    assert "--every 'often' is no length of time" in printed("2026-03-01,0,0.1\n", "--every", "often")
    assert "has no column 'sen'. Did you mean 'seen'" in refused(*words[:-1], "sen")
    assert "give one of the two" in printed("2026-03-01,0,0.1\n", "--window", 5)
    (stream / "old.json").write_text('{"value": 0.5, "rule": "x", "achieved": {}, "n": 3}')
    assert "does not tell on how many knowns" in refused("watch", stream / "old.json", stream / "log.parquet")


@pytest.mark.parametrize("every", ["0d", "", "-1d", "1ns", "9999999999999d", "1", "x"])
def test_lengths_of_time_that_are_none(refused, stream, every):
    told = refused("watch", stream / "t.json", stream / "log.csv", "--time", "seen", "--every", every)
    assert f"--every '{every}' is no length of time" in told


@pytest.mark.parametrize(("alpha", "told"), [("nan", "'alpha' must be in"), ("1e-320", "'alpha' is .* too small")])
def test_chances_that_are_none(refused, stream, alpha, told):
    assert re.search(told, refused("watch", stream / "t.json", stream / "log.csv", "--alpha", alpha))
