"""The page shows what the command prints from results/, and names every name."""

import contextlib
import re
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


def test_the_readme_has_the_figures_of_the_page():
    ours, published = {}, {}
    means = PAGE.partition("**OpenAUC in percent")[2].partition("**Differences")[0]
    for row in re.findall(r"^\|.*5 of 5 splits.*\|$", means, re.MULTILINE):
        protocol, method, _, _, _, _, here, told, _ = (cell.strip() for cell in row.strip("|").split("|"))
        ours[method, protocol], published[method, protocol] = here.partition(" ")[0], told.partition(" ")[0]
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| method | row of the paper |")[2]
    protocols, rows = table.splitlines()[0].strip(" |").split(" | "), table.splitlines()[2:6]
    assert protocols == ["mnist", "cifar10", "cifar+10", "cifar+50"]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    for first, second in (cells[:2], cells[2:]):
        method = first[0].strip("`")
        assert first[2:] == [published[method, protocol] for protocol in protocols]
        assert second[2:] == [ours[method, protocol] for protocol in protocols]
