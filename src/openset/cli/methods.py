"""`openset methods`: the training methods, what each does and its options."""

from typing import Any

from openset.cli._console import JsonOption, console, table


def command(json: JsonOption = None) -> None:
    """List every training method: what it does, its options, where it is from.

    Example: openset methods
    """
    from rich.markup import escape

    entries = [_as_json(name) for name in _names()]
    if json is not None:
        from openset._io.json_files import write_json

        write_json(json, {"schema": 1, "methods": entries})
    made = table("name", "meaning", "options", "from")
    for column in made.columns:
        column.justify = "left"
    for entry in entries:
        negatives = " Needs negatives." if entry["uses_negatives"] else ""
        options = ", ".join(f"{name}={value}" for name, value in entry["options"].items())
        made.add_row(
            f"[bold]{entry['name']}[/bold]", escape(entry["summary"] + negatives), escape(options), entry["paper"]
        )
    screen = console()
    screen.print(made)
    screen.print("Train one: openset train --protocol digits --method openauc --set method.weight=0.2", highlight=False)


def _names() -> list[str]:
    from openset.methods import METHODS

    return list(METHODS)


def _as_json(name: str) -> dict[str, Any]:
    from openset.methods import METHODS, options_of

    method = METHODS[name]
    return {
        "name": name,
        "title": method.title,
        "summary": (method.__doc__ or "").splitlines()[0],
        "paper": method.paper,
        "score": method.score,
        "uses_negatives": method.uses_negatives,
        "trained_as": method.trained_as or name,
        "options": {option: parameter.default for option, parameter in options_of(method).items()},
    }
