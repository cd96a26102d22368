"""The page shows what the command prints from results/, and names every name."""

import contextlib
from pathlib import Path

from openset.cli import main
from openset.reproduction import ENTRIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


def test_the_table_is_what_the_command_prints(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    with contextlib.suppress(SystemExit):
        main(["reproduce", "openauc/table2", "--scale", "cpu", "--show"])
    printed = capsys.readouterr().out
    shown = PAGE.partition("<!-- table 2 from results/ -->")[2].partition("<!-- end of table 2 -->")[0]
    assert shown.strip() == printed.strip(), "run: python docs/make_reproduction.py"


def test_every_name_is_on_the_page():
    assert all(f"`{name}`" in PAGE for name in ENTRIES)
