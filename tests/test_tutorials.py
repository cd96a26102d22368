"""Tutorials are followed: files written, commands typed in order, and what they print is what the page shows."""

import re
import shlex
from pathlib import Path

import pytest

from openset.cli import main

DOCS = Path(__file__).parents[1] / "docs"


def steps(page):
    """Commands of a page in order, each with the lines that the page shows below it."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.splitlines()
            yield shlex.split(line), shown


def follow(name, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("OPENSET_DATA", str(place / "data"))  # no pretrained network of the developer's
    page = (DOCS / name).read_text(encoding="utf-8")
    for file, text in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", page, re.DOTALL):
        (place / file).write_text(text, encoding="utf-8")
    for (program, *words), shown in steps(page):
        if program == "python":
            exec(compile((place / words[0]).read_text(encoding="utf-8"), words[0], "exec"), {})  # noqa: S102
        else:
            with pytest.raises(SystemExit) as stop:
                main(words)
            assert not stop.value.code, (words, capsys.readouterr().err)
        printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        for line in shown:
            assert " ".join(line.split()) in printed, (words, line, printed)
    return page


def test_from_a_csv_to_a_decision(tmp_path, monkeypatch, capsys):
    page = follow("first-decision.md", tmp_path, monkeypatch, capsys)
    for file in ("test.csv", "decisions.csv"):
        begin = "".join((tmp_path / file).read_text().splitlines(keepends=True)[:2])
        assert begin.strip() in page
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_training_on_own_photos(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    follow("own-photos.md", tmp_path, monkeypatch, capsys)
    decisions = (tmp_path / "decisions.csv").read_text().splitlines()
    assert len(decisions) == 51
    assert sum(",unknown," in line for line in decisions) > 25
