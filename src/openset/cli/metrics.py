"""`openset metrics`: the metrics, what each means and which way is better."""

from typing import Any

import typer

from openset.cli._console import JsonOption, console, table


def command(json: JsonOption = None) -> None:
    """List every metric: what it means, which way is better, where it is from.

    Example: openset metrics
    """
    from openset.metrics import METRICS

    if json is not None:
        from openset._io.json_files import write_json

        write_json(json, {"schema": 1, "metrics": [_as_json(name) for name in METRICS]})
    made = table("name", "better", "meaning", "from")
    made.columns[2].justify = made.columns[3].justify = "left"
    for name, card in METRICS.items():
        made.add_row(f"[bold]{name}[/bold]", card.better, card.summary, card.paper)
    console().print(made)
    typer.echo("In Python: from openset.metrics import open_auc, ...")


def _as_json(name: str) -> dict[str, Any]:
    from openset.metrics import METRICS

    card = METRICS[name]
    return {
        "name": name,
        "title": card.title,
        "summary": card.summary,
        "better": card.better,
        "range": list(card.span),
        "paper": card.paper,
        "variants": [dict(params) for params in card.variants],
        "interval": card.interval,
    }
