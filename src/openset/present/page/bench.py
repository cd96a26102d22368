"""The page of a bench: many methods on several protocols, mean and spread."""

from collections.abc import Mapping, Sequence

from openset._core.numbers import counted, span
from openset.errors import OpenSetError
from openset.present.page.html import chart, definitions, section, table, text
from openset.present.page.page import render
from openset.results.provenance import provenance
from openset.results.spread import MEANING
from openset.results.table import Cell, Content, Table
from openset.results.verdict import best_methods
from openset.results.views.runs import BenchRow


def bench_page(
    rows: Sequence[BenchRow],
    *,
    metric: str = "OpenAUC",
    better: str = "higher",
    title: str = "Bench",
    origin: Mapping[str, str] | None = None,
) -> str:
    """HTML of the page; `rows` hold one value per split and seed, `origin` is what `provenance` says of them."""
    if not rows:
        raise OpenSetError("The bench has no finished run to show.")
    protocols = list(dict.fromkeys(row.protocol for row in rows))
    charts = {f"bench-{i}": _dots([r for r in rows if r.protocol == name], metric) for i, name in enumerate(protocols)}
    figures = "".join(chart(f"bench-{i}", name) for i, name in enumerate(protocols))
    cells: list[list[Content]] = []
    for row in rows:
        found = row.spread
        ends = "–" if found.low is None or found.high is None else Cell(span(found.low, found.high), found.low)
        sd = "–" if found.sd is None else found.sd
        cells.append([row.method, row.protocol, found.value, sd, ends, found.n_splits, found.n])
    wording = f"<p>{text(best_methods(rows, metric, better))}</p>"
    n_methods = len({row.method for row in rows})
    size = f"{counted(len(protocols), 'protocol')}, {counted(n_methods, 'method')}"
    parts = [
        f"<header><h1>{text(title)}</h1><p>{size}</p></header>",
        section("Verdict", wording, name="verdict"),
        section(
            "Methods",
            f'<div class="charts">{figures}</div>',
            name="methods",
            hint=f"A dot is the mean, its bar one standard deviation, the small lines are the runs. {MEANING}",
        ),
        section(
            "Table",
            table(
                Table(
                    ["Method", "Protocol", f"{metric}, mean", "sd", "95 % interval of the mean", "Splits", "Runs"],
                    cells,
                    title=f"{metric} over splits and seeds",
                ),
                name="bench",
                search=True,
            ),
            name="table",
        ),
        section("Versions", definitions(provenance() if origin is None else origin), name="foot"),
    ]
    return render(f"{title} · open-set report", parts, {"charts": charts})


def _dots(rows: Sequence[BenchRow], metric: str) -> dict[str, object]:
    means = [row.spread.value for row in rows]
    sds = [row.spread.sd or 0.0 for row in rows]
    # With two runs the bar of one standard deviation reaches beyond both.
    ends = [mean + sign * sd for mean, sd in zip(means, sds, strict=True) for sign in (-1, 1)]
    ends += [float(value) for row in rows for value in row.values]
    room = 0.06 * (max(ends) - min(ends)) or 0.01
    return {
        "kind": "dots",
        "label": metric,
        "min": min(ends) - room,
        "max": max(ends) + room,
        "rows": [
            {"name": row.method, "mean": mean, "sd": sd, "values": [float(value) for value in row.values]}
            for row, mean, sd in zip(rows, means, sds, strict=True)
        ],
    }
