"""Tables of a grid: mean and standard deviation in percent, the best of each protocol in bold; and every number."""

from collections.abc import Sequence

from openset.results.numbers import scaled
from openset.results.table import Cell, Content, Table, best_places
from openset.studies.bench import COLUMNS, TITLES, Row

_NOTE = "Against unknowns alone where a protocol also has negatives; bold: best of the protocol."


def bench_table(rows: Sequence[Row]) -> Table:
    """One row per method and protocol."""
    columns = [_column(rows, metric) for metric in COLUMNS]
    return Table(
        ["Protocol", "Method", "Runs", *(TITLES[metric] for metric in COLUMNS)],
        [[row.protocol, row.method, row.n, *cells] for row, *cells in zip(rows, *columns, strict=True)],
        title="Mean ± standard deviation, percent",
        note=_NOTE,
        align="ll" + "r" * (1 + len(COLUMNS)),
    )


def _column(rows: Sequence[Row], metric: str) -> list[Cell]:
    best: dict[int, bool] = {}
    for protocol in {row.protocol for row in rows}:
        mine = [row for row in rows if row.protocol == protocol]
        best |= dict(zip(map(id, mine), best_places([row.means[metric] for row in mine]), strict=True))
    return [Cell(scaled(row.means[metric], row.sds[metric]), row.means[metric], best[id(row)]) for row in rows]


def bench_lines(rows: Sequence[Row]) -> Table:
    """Every mean and standard deviation, for CSV."""
    head = ["protocol", "method", "runs", *(f"{metric}_{kind}" for metric in COLUMNS for kind in ("mean", "sd"))]
    lines: list[list[Content]] = [
        [row.protocol, row.method, row.n, *(x for metric in COLUMNS for x in (row.means[metric], row.sds[metric]))]
        for row in rows
    ]
    return Table(head, lines)
