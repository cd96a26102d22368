"""The page shows what the command prints from results/, and names every name."""

import contextlib
import re
from pathlib import Path

import pytest

from openset.cli import main
from openset.reproduction import ENTRIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("part", "commands"),
    [
        ("table 2", [["openauc/table2"]]),
        ("tables 4 and 5", [["openauc/table4"], ["openauc/table5"]]),
        ("gains of the loss", [["openauc/when"]]),
        ("families", [["elephant/families", "--seeds", "5-9"]]),
    ],
)
def test_a_table_is_what_the_command_prints(part, commands, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    printed = []
    for words in commands:
        with contextlib.suppress(SystemExit):
            main(["reproduce", *words, "--scale", "cpu", "--show"])
        printed.append(capsys.readouterr().out.strip())
    shown = PAGE.partition(f"<!-- {part} from results/ -->")[2].partition(f"<!-- end of {part} -->")[0]
    assert shown.strip() == "\n\n".join(printed), "run: python docs/make_reproduction.py"


def numbers(text):
    """All numbers of a cell, to three decimals."""
    return [float(one) for one in re.findall(r"-?\d*\.\d+", text)]


def test_the_page_on_detection_has_the_results_of_real_detectors():
    page = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    report = (ROOT / "results/elephant/table2/cpu/report.md").read_text(encoding="utf-8")
    for name in ("yolo-lite", "fastest-v2", "nano-yolov3"):
        [row] = re.findall(rf"^\| {name} \|[^|]*\|(.*)\|$", page, re.MULTILINE)
        full = re.findall(rf"^\| {name} \|(?:[^|]*\|){{4}} ([^|]*) \|[^|]*\|$", report, re.MULTILINE)
        assert numbers(row) == pytest.approx([value for cell in full for value in numbers(cell)], abs=6e-4)


def test_the_page_on_detection_has_the_results_of_families():
    page = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    for name in ("background class", "one versus rest", "objectness", "dropout sampling"):
        [row] = re.findall(rf"^\| {name} \|(.*)\|$", page, re.MULTILINE)
        full = re.findall(rf"^\| {name} \| 0\.[135] \|[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|", PAGE, re.MULTILINE)
        ours = [value for _, cell, _ in full for value in numbers(cell)]
        assert numbers(row) == pytest.approx(
            [numbers(full[0][0])[0], *ours, *(numbers(told)[0] for _, _, told in full)], abs=1.1e-3
        )


def test_every_name_is_on_the_page():
    assert all(f"`{name}`" in PAGE for name in ENTRIES)


def test_the_readme_has_the_values_of_the_page():
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
