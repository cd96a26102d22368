"""The commands of the docs page "In production" are run in the order in which they stand there."""

import re
import shlex
from pathlib import Path

from openset.cli import main

PAGE = (Path(__file__).parents[1] / "docs" / "production.md").read_text(encoding="utf-8")


def test_every_command_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    exec(compile(code, "production.md", "exec"), {})  # noqa: S102
    commands = re.findall(r"^\$ openset (.*?)(?:  # exit code (\d))?$", PAGE, re.MULTILINE)
    assert len(commands) >= 6
    for words, expected in commands:
        found = 0
        try:
            main(shlex.split(words))
        except SystemExit as stop:
            found = stop.code or 0
        assert found == int(expected or 0), (words, capsys.readouterr().err)
    printed = capsys.readouterr().out
    assert "Alarm in window thursday.npz" in printed
    assert "Parameters were chosen by open_auc on" in printed
    for file in ("scores.html", "scores.tex", "monday.csv", "decisions.parquet", "summary.json", "watch.html"):
        assert (tmp_path / file).stat().st_size > 300, file
