"""The generated pages of the site: every public module, command and card is on them, with what it takes."""

import importlib
import re

import pytest
import typer

from openset.cli import app
from openset.metrics import METRICS
from openset.operating import RULES
from openset.posthoc import SCORES
from test_docs import reference

PAGES = reference().pages() if importlib.util.find_spec("torch") else {}
pytestmark = pytest.mark.skipif(not PAGES, reason="PyTorch is not installed")


def test_every_public_module_has_a_page_with_every_name_it_offers():
    made = {place.rpartition("/")[2].removesuffix(".md"): text for place, text in PAGES["Python"].items()}
    for name in ("scores", "curves", "metrics", "intervals", "operating", "posthoc", "methods", "detection", "models"):
        module = importlib.import_module(f"openset.{name}")
        listed = re.search(r"members: \[(.*)\]", made[module.__name__]).group(1).split(", ")
        assert set(getattr(module, "__all__", listed)) == set(listed)
        assert all(getattr(module, one) is not None for one in listed)
        assert not [one for one in listed if one.startswith("_")]
    assert not [name for name in made if "._" in name or ".cli" in name]
    assert {"Scores", "open_auc"} <= set(re.findall(r"\[`(\w+)`\]", made["openset"]))


def every_command(group, before=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*before, name))
        else:
            yield (*before, name), command


def test_every_command_has_its_options_and_an_example():
    for words, command in every_command(typer.main.get_command(app)):
        page = PAGES["Command line"][f"reference/commands/{words[0]}.md"]
        part = page if len(words) == 1 else page.partition(f"## {words[1]}\n")[2].partition("\n## ")[0]
        assert f"$ openset {' '.join(words)}" in part, words
        for option in command.params:
            if option.param_type_name == "option":
                assert f"`{option.opts[0]}`" in part, (words, option.opts)
            else:
                assert f"| `{option.name.upper()}` |" in part, (words, option.name)


def test_every_card_is_shown_once():
    from openset.methods import METHODS

    for kind, cards in {"metrics": METRICS, "scores": SCORES, "methods": METHODS, "rules": RULES}.items():
        found = re.findall(r"^## (\w+) \{", PAGES["Cards"][f"reference/cards/{kind}.md"], re.MULTILINE)
        assert sorted(found) == sorted(cards)


def test_a_bar_inside_of_a_cell_does_not_end_it():
    assert reference().table(["a"], [["x|y"]]).splitlines()[-1] == "| x\\|y |"


def test_pages_of_the_project_link_nowhere_that_the_site_does_not_have():
    for place, text in reference().project_pages().items():
        assert not re.findall(r"\]\((?!http)[^)]*/", text), place
