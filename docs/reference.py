"""The generated pages of the reference: public modules, commands and cards. mkdocs runs it as a hook (mkdocs.yml).

Nothing is listed here: modules are found by what they export, commands by their files, cards by their registries.
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES, COMMANDS, CARDS = "reference/modules", "reference/commands", "reference/cards"


def pages() -> dict[str, dict[str, str]]:
    """Every generated page by its place in the docs, grouped by the heading under which it is found."""
    modules = {f"{MODULES}/{one.__name__}.md": module_page(one) for one in public_modules()}
    commands = {f"{COMMANDS}/{name}.md": command_page(name, command) for name, command in top_commands().items()}
    cards = {f"{CARDS}/{name}.md": page for name, page in card_pages().items()}
    return {"Command line": commands, "Cards": cards, "Python": modules}


def project_pages() -> dict[str, str]:
    """What lies at the root of the repository, for the site; links to what the site does not have become words."""
    root = Path(__file__).parents[1]
    names = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md", "security.md": "SECURITY.md"}
    texts = {place: (root / name).read_text(encoding="utf-8") for place, name in names.items()}
    return {
        place: re.sub(r"\[([^]]+)\]\((?!docs/|http)[^)]+\)", r"\1", text).replace("](docs/", "](")
        for place, text in texts.items()
    }


# ---- modules -------------------------------------------------------------------------------------------------------


@cache
def public_modules() -> list[ModuleType]:
    """The package, and every module or package below it that offers names; commands are a reference of their own."""
    package = importlib.import_module("openset")
    found = [package]
    for info in pkgutil.walk_packages(package.__path__, "openset."):
        parts = info.name.split(".")
        if any(part.startswith("_") for part in parts) or parts[1] == "cli":
            continue
        if info.ispkg or len(parts) == 2:  # a module inside of a package is reached through what the package exports
            module = importlib.import_module(info.name)
            if public_names(module):
                found.append(module)
    return found


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: `__all__`; else what it defines, and what it takes over by `import X as X`."""
    if hasattr(module, "__all__"):
        return in_order(name for name in module.__all__ if not name.startswith("_"))
    assert module.__file__ is not None
    names = set()
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {one.name for one in node.names if one.asname == one.name}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return in_order(name for name in names if not name.startswith("_") and not inspect.ismodule(getattr(module, name)))


def in_order(names: Iterable[str]) -> list[str]:
    """Functions first, then classes, then constants, as they are looked for."""
    return sorted(names, key=lambda name: (name.isupper(), name[0].isupper(), name))


def module_page(module: ModuleType) -> str:
    """What the module is for, and every name it offers."""
    name, names = module.__name__, public_names(module)
    if name == "openset":
        homes = {one: home_of(getattr(module, one), one) for one in names}
        rows = [[f"[`{one}`][{home}]", first_line(module, one)] for one, home in homes.items()]
        others = {one.__name__ for one in public_modules()}
        here = [f"::: {home}\n" for home in homes.values() if home.rpartition(".")[0] not in others]
        text = "`import openset` loads NumPy alone; each name is loaded when it is first used."
        return "\n\n".join(["# `openset`", text, table(["name", "what it is"], rows), *here])
    options = f"      members: [{', '.join(names)}]\n      show_root_heading: false\n      heading_level: 2\n"
    return f"# `{name}`\n\n::: {name}\n    options:\n{options}"


def home_of(thing: Any, name: str) -> str:
    """The page's name of a function or class: the public module that offers it first."""
    for module in public_modules()[1:]:
        if name in public_names(module) and getattr(module, name) is thing:
            return f"{module.__name__}.{name}"
    return f"{thing.__module__}.{name}"


def first_line(module: ModuleType, name: str) -> str:
    """What a name is, in one line."""
    return (inspect.getdoc(getattr(module, name)) or "").partition("\n")[0]


# ---- commands ------------------------------------------------------------------------------------------------------


def top_commands() -> dict[str, Any]:
    """Every command and group of commands by its name."""
    import typer

    from openset.cli import app

    group = typer.main.get_command(app)
    return dict(sorted(group.commands.items()))


def command_page(name: str, command: Any) -> str:
    """A command, or a group of them, one section each."""
    inside = getattr(command, "commands", None)
    title = f"# openset {name}\n\n"
    if inside is None:
        return title + command_text(f"openset {name}", command)
    text = (command.help or "").strip()
    parts = [f"## {one}\n\n{command_text(f'openset {name} {one}', sub)}" for one, sub in sorted(inside.items())]
    return title + "\n\n".join([text, *parts] if text else parts)


def command_text(words: str, command: Any) -> str:
    """What it does, examples, arguments and options."""
    lines = [*inspect.cleandoc(command.help or "").splitlines(), *(command.epilog or "").splitlines()]
    text = "\n".join(line for line in lines if not line.startswith("Example:")).strip()
    examples = [line.removeprefix("Example:").strip() for line in lines if line.startswith("Example:")]
    shown = "```console\n" + "\n".join(f"$ {line}" for line in examples) + "\n```" if examples else ""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not getattr(one, "hidden", False)]
    usage = " ".join([words, *map(as_typed, arguments), "[OPTIONS]"])
    parts = [text, f"`{usage}`", shown]
    if arguments:
        parts.append(table(["argument", "meaning"], [[f"`{one.name.upper()}`", help_of(one)] for one in arguments]))
    if options:
        rows = [
            [", ".join(f"`{form}`" for form in (*one.opts, *one.secondary_opts)), help_of(one), default_of(one)]
            for one in options
        ]
        parts.append(table(["option", "meaning", "default"], rows))
    return "\n\n".join(part for part in parts if part) + "\n"


def as_typed(argument: Any) -> str:
    """An argument as the line of usage shows it."""
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def help_of(parameter: Any) -> str:
    """The sentence that `--help` shows."""
    return (getattr(parameter, "help", "") or "") + (" Required." if parameter.required else "")


def default_of(parameter: Any) -> str:
    """What holds where the option is left out; nothing is said of what is then left out or off."""
    default = parameter.default
    return "" if default is None or default is False or default == () or callable(default) else f"`{default}`"


# ---- cards ---------------------------------------------------------------------------------------------------------


def card_pages() -> dict[str, str]:
    """One page per kind of card."""
    return {
        "metrics": f"# Metrics\n\n{_from('openset metrics')}\n\n" + "\n".join(metric_cards()),
        "scores": f"# Scores\n\n{_from('openset scores')}\n\n" + "\n".join(score_cards()),
        "methods": f"# Methods\n\n{_from('openset methods')}\n\n" + "\n".join(method_cards()),
        "rules": f"# Threshold rules\n\n{_from('openset threshold --help')}\n\n" + "\n".join(rule_cards()),
    }


def _from(command: str) -> str:
    return f"Made from the cards that tests, commands and reports read; `{command}` shows them in a terminal."


def metric_cards() -> Iterator[str]:
    """Every metric: meaning, direction, range, options, what is reported, interval, origin."""
    from openset.metrics import METRICS

    for card in METRICS.values():
        options = [f"`{name}={_usual(value)}`" for name, value in card.taken.items()]
        reported = [f"`{call(card.name, one)}`" for one in card.variants]
        rows = {
            "better": card.better,
            "range": f"{card.span[0]:g} to {card.span[1]:g}",
            "options": ", ".join(options),
            "reported as": ", ".join(reported),
            "looks at open-set samples": "yes" if card.sees_open_set else "no",
            "best over thresholds": "yes: tuned on the data it is reported on" if card.best_over_thresholds else "",
            "interval": {"delong": "DeLong", "bootstrap": "bootstrap"}[card.interval],
            "from": card.paper,
            "in Python": f"[`openset.metrics.{card.name}`][openset.metrics.{card.name}]",
        }
        yield section(card.name, card.summary, rows)


def score_cards() -> Iterator[str]:
    """Every post-hoc score: meaning, what it needs, parameters, origin."""
    from openset.posthoc import by_need

    for card in by_need():
        parameters = [f"`{one.name}` = {one.default} ({one.meaning})" for one in card.parameters]
        rows = {"needs": ", ".join(card.needs), "parameters": ", ".join(parameters), "from": card.paper}
        yield section(card.name, card.summary, rows)


def method_cards() -> Iterator[str]:
    """Every training method: what is trained, options, score, origin."""
    from openset.methods import METHODS, options_of

    for name, method in METHODS.items():
        options = [f"`{option}={_usual(one.default)}`" for option, one in options_of(method).items()]
        rows = {
            "title": method.title,
            "rejects by": f"`{method.score}`" if isinstance(method.score, str) else "",
            "learns from negatives": "yes" if method.uses_negatives else "no",
            "trained as": f"`{method.trained_as}`" if method.trained_as else "",
            "options": ", ".join(options),
            "from": method.paper,
        }
        yield section(name, (inspect.getdoc(method) or "").partition("\n")[0], rows)


def rule_cards() -> Iterator[str]:
    """Every threshold rule: how it is written, what it needs."""
    from openset.operating import RULES

    for name, rule in RULES.items():
        rows = {
            "as written": f"`--rule {rule.example}`",
            "options": ", ".join(f"`{option}`" for option in rule.options),
            "needs open-set samples": "yes" if rule.needs_open_set else "no",
        }
        yield section(name, rule.summary, rows)


def call(name: str, options: Any) -> str:
    """A metric with its options, as the command line writes it."""
    return f"{name}({', '.join(f'{key}={value}' for key, value in options.items())})" if options else name


def _usual(value: Any) -> str:
    return "..." if value is inspect.Parameter.empty else str(value)


def section(name: str, summary: str, rows: dict[str, str]) -> str:
    """A card: its name, its meaning, and what else it says."""
    listed = [[key, value] for key, value in rows.items() if value]
    return f"## {name} {{ #{name} }}\n\n{summary}\n\n{table(['property', 'value'], listed)}\n"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; a bar inside of a cell would end it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


# ---- mkdocs --------------------------------------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """Put the generated pages under "Reference", behind what is written by hand."""
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    for heading, made in pages().items():
        reference.append({heading: [{_label(place): place} for place in made]})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Hand the pages to mkdocs."""
    from mkdocs.structure.files import File

    for made in (*pages().values(), project_pages()):
        for place, text in made.items():
            files.append(File.generated(config, place, content=text))
    return files


def _label(place: str) -> str:
    return place.rpartition("/")[2].removesuffix(".md").removeprefix("openset.")
