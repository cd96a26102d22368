"""`openset scores`: the unknown scores that stored outputs give, and what each needs."""

from typing import TYPE_CHECKING, Any

from openset.cli._console import JsonOption, console, table

if TYPE_CHECKING:
    from openset.posthoc import Score


def command(json: JsonOption = None) -> None:
    """List every post-hoc score: what it needs, its parameters, where it is from.

    Example: openset scores
    """
    from rich.markup import escape

    from openset.posthoc import by_need

    entries = [_as_json(card) for card in by_need()]
    if json is not None:
        from openset._io.json_files import write_json

        write_json(json, {"schema": 1, "scores": entries})
    made = table("name", "score", "needs", "parameters", "from")
    for column in made.columns:
        column.justify = "left"
    for entry in entries:
        parameters = ", ".join(f"{one['name']}={_word(one['default'])}" for one in entry["parameters"])
        cells = (entry["title"], ", ".join(entry["needs"]), parameters, entry["paper"])
        made.add_row(f"[bold]{entry['name']}[/bold]", *map(escape, cells))
    screen = console()
    screen.print(made)
    screen.print(
        "Use one: openset evaluate outputs.npz --score 'knn(k=10)' --fit train.npz\n"
        "head: weight and bias of the last layer, in the NPZ file; fit: training outputs, with --fit.",
        highlight=False,
    )


def _as_json(card: "Score") -> dict[str, Any]:
    return {
        "name": card.name,
        "title": card.title,
        "summary": card.summary,
        "needs": list(card.needs),
        "parameters": [
            {"name": one.name, "default": one.default, "meaning": one.meaning, "tried": list(one.grid)}
            for one in card.parameters
        ],
        "paper": card.paper,
    }


def _word(value: Any) -> str:
    return "none" if value is None else str(value)
