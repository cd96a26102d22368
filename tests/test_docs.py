"""What README and docs show is run: each block of Python prints what stands below it, each file named is there."""

import contextlib
import importlib.util
import inspect
import io
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [
    pytest.param(code, printed, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (code, printed) in enumerate(
        re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    )
]


@pytest.mark.parametrize(("code", "printed"), SHOWN)
def test_python_prints_what_stands_below_it(code, printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "example", "exec"), {})  # noqa: S102
    assert out.getvalue().strip() == printed.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def reference():
    """What makes the generated pages of the site."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_page_of_the_docs_can_be_found():
    found = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    written = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert sorted(found) == sorted([*written, *reference().project_pages()])


def test_every_room_that_contributing_names_is_there():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| room |")[2].partition("##")[0]
    rows = [re.findall(r"`([^`]+)`", line.strip(" |").rpartition("|")[2]) for line in table.splitlines()[2:]]
    assert sum(map(len, rows)) > 10
    for room in rows:
        folder = ROOT / "src" / "openset" / Path(room[0]).parent if room else ROOT
        for name in room:
            assert (ROOT / "src" / "openset" / name).exists() or (folder / name).exists(), name


def test_the_rules_are_those_of_their_cards():
    from openset.operating import RULES

    rows = re.findall(r"^\| `([^`]+)` \|.*\| (yes|no) \|$", (ROOT / "docs/thresholds.md").read_text(), re.MULTILINE)
    assert dict(rows) == {rule.example: "yes" if rule.needs_open_set else "no" for rule in RULES.values()}


def test_the_table_of_scores_is_that_of_their_cards():
    spec = importlib.util.spec_from_file_location("make_scores", ROOT / "docs" / "make_scores.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = (ROOT / "docs" / "scores.md").read_text(encoding="utf-8")
    assert made.page(text) == text, "python docs/make_scores.py writes it anew"


def test_the_readme_keeps_to_its_order():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    places = [
        text.index(part) for part in ("I don't know this", "readme.jpg", "$ pip install", "```python", "make demo")
    ]
    assert places == sorted(places)


def test_the_readme_counts_what_there_is():
    from openset.methods import METHODS
    from openset.posthoc import SCORES
    from openset.protocols import PROTOCOLS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for n, what in ((len(SCORES), "scores of"), (len(METHODS), "methods"), (len(PROTOCOLS), "protocols,")):
        assert f" {n} {what}" in text, f"there are {n} {what}"
    assert f" {len(PROTOCOLS)} bundled protocols" in text


def test_every_command_in_the_readme_exists():
    import typer

    from openset.cli import app

    names = set(typer.main.get_command(app).commands)
    named = set(re.findall(r"^\| `openset (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert named == names


@pytest.mark.parametrize("start", ["| method | in short", "| name | what is"])
def test_tables_of_methods_have_every_method(start):
    from openset.methods import METHODS

    text = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    tables = [part for part in text.split("\n\n") if part.startswith(start)]
    rows = [re.findall(r"^\| `(\w+)` .*?\|([^|]*)\|$", one, re.MULTILINE) for one in tables]
    assert len(rows) == 1
    assert sorted(name for name, _ in rows[0]) == sorted(METHODS)
    if start.startswith("| name"):
        assert {name for name, last in rows[0] if last.strip()} == {n for n in METHODS if METHODS[n].uses_negatives}


GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
PICTURES = set(re.findall(r"\(pictures/([\w-]+)\.png\)", GALLERY))


def test_the_gallery_shows_every_figure():
    plots = pytest.importorskip("openset.present.plots", reason="matplotlib is not installed")
    figures = [
        name
        for name, function in vars(plots).items()
        if inspect.isfunction(function) and inspect.signature(function).return_annotation.__name__ == "Figure"
    ]
    assert len(figures) >= 15
    for name in figures:
        dashed = name.replace("_", "-")
        assert any(picture == dashed or picture.startswith(f"{dashed}-") for picture in PICTURES), name
        assert f"`{dashed}" in GALLERY, name  # and says under which name it is written


def test_the_gallery_shows_every_picture_that_is_made():
    made = {file.stem: file.stat().st_size for file in (ROOT / "docs" / "pictures").glob("*.png")}
    assert set(made) == PICTURES
    assert max(made.values()) < 250_000


def test_commands_of_the_gallery_are_understood():
    """They take minutes, so they are only read here; docs/make_pictures.py runs them."""
    import typer

    from openset.cli import app

    lines = re.findall(r"^\$ openset (.*)$", GALLERY, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        command, (name, *words) = typer.main.get_command(app), shlex.split(line)
        command = command.commands[name]
        if hasattr(command, "commands"):
            command, words = command.commands[words[0]], words[1:]
        command.make_context(name, words)  # raises where an option does not exist


INTENTS = (ROOT / "docs" / "intents.md").read_text(encoding="utf-8")


def test_the_table_of_intents_has_every_score_best_first():
    from openset.posthoc import SCORES

    rows = re.findall(r"^\| `(\w+)` \| \**(0\.\d+)\** \| \**0\.\d+\** \| \**0\.\d+\** \| ", INTENTS, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(SCORES)
    assert [value for _, value in rows] == sorted((value for _, value in rows), reverse=True)


def test_commands_of_the_intents_are_understood():
    """They need the data, so they are only read here."""
    import typer

    from openset.cli import app

    lines = re.findall(r"^\$ openset (.*)$", INTENTS, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        name, *words = shlex.split(line)
        typer.main.get_command(app).commands[name].make_context(name, words)
