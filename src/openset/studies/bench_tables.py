"""Tables of a grid: mean and standard deviation in percent, the best of each protocol in bold; and every number."""

from collections.abc import Sequence

from openset._core.numbers import scaled
from openset.evaluation import HEADLINE
from openset.metrics import METRICS
from openset.results.spread import MEANING
from openset.results.table import Cell, Content, Table, best_places
from openset.studies.bench import TITLES, Row

_NOTE = f"Against unknowns alone where a protocol also has negatives; bold: best of the protocol. {MEANING}"


def bench_table(rows: Sequence[Row]) -> Table:
    """One row per method and protocol."""
    columns = [_column(rows, metric) for metric in HEADLINE]
    return Table(
        ["Protocol", "Method", "Runs", *(TITLES[metric] for metric in HEADLINE)],
        [[row.protocol, row.method, row.n, *cells] for row, *cells in zip(rows, *columns, strict=True)],
        title="Mean ± standard deviation, percent",
        note=_NOTE,
        align="ll" + "r" * (1 + len(HEADLINE)),
    )


def _column(rows: Sequence[Row], metric: str) -> list[Cell]:
    found = {(row.protocol, row.method): row.spreads[metric] for row in rows}
    best = set()
    for protocol in dict.fromkeys(row.protocol for row in rows):
        mine = [row.method for row in rows if row.protocol == protocol]
        marks = best_places([found[protocol, method].value for method in mine], better=METRICS[metric].better)
        best |= {(protocol, method) for method, mark in zip(mine, marks, strict=True) if mark}
    return [Cell(scaled(one.value, one.sd), one.value, best=key in best) for key, one in found.items()]


def bench_lines(rows: Sequence[Row]) -> Table:
    """Every mean and standard deviation, for CSV."""
    head = ["protocol", "method", "runs", *(f"{metric}_{kind}" for metric in HEADLINE for kind in ("mean", "sd"))]
    lines: list[list[Content]] = [
        [row.protocol, row.method, row.n, *(x for one in row.spreads.values() for x in (one.value, one.sd))]
        for row in rows
    ]
    return Table(head, lines)
