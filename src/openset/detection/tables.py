"""A result as a person reads it: tables for the terminal, for papers and as CSV."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.markup import escape
from rich.table import Table as RichTable

from openset.detection.comparison import Difference
from openset.detection.measure.errors import KINDS, Confusion, Errors
from openset.detection.measure.evaluation import OpenSetEvaluation
from openset.detection.measure.wilderness import Wilderness
from openset.detection.thresholds import ClassPoint, FBetaRow
from openset.results.table import Content, Table, text_of


def _table(title: str, *columns: str) -> RichTable:
    table = RichTable(
        title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False
    )
    table.min_width = len(title)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=i == 0)
    return table


def _text(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _spread(low: float | None, high: float | None, digits: int) -> str:
    return "-" if low is None or high is None else f"{low:.{digits}f} .. {high:.{digits}f}"


def for_terminal(sheet: Table) -> RichTable:
    """The same table, as a terminal shows it."""
    table = _table(escape(sheet.title), *map(escape, sheet.head))
    for row in sheet.rows:
        table.add_row(*(escape(text_of(cell)) for cell in row))
    return table


def result_tables(result: OpenSetEvaluation) -> Iterator[RichTable]:
    """All tables of a result, as a terminal shows them."""
    return map(for_terminal, paper_tables(result))


def paper_tables(result: OpenSetEvaluation) -> Iterator[Table]:
    """mAP, wilderness, errors, confusions, object versus background."""
    means = result.mean_average_precision
    yield Table(
        ["", "known images", f"wild ratio {means.ratio:.2g}"],
        [[name.replace("_", " "), _text(value), _text(means.wild[name])] for name, value in means.known.items()],
        title=f"mAP (IoU {means.iou:g}, {means.rule} matching, interpolated)",
    )
    yield _wilderness_table(result.wilderness)
    yield _errors_table(result.errors)
    confused = top_confusions(result.confusion)
    if confused:
        yield Table(
            ["unknown", "called", "times"],
            [[unknown, known, str(n)] for unknown, known, n in confused],
            title=f"Unknown objects taken for known ones (recall {result.confusion.recall:g})",
        )
    if result.background:
        yield Table(
            ["class", "n", "mean", "sd", "background higher"],
            [
                [name, str(row.n), _text(row.mean), _text(row.sd), f"{row.share_background_higher:.1%}"]
                for name, row in result.background.items()
            ],
            title="Object score minus background score, correct detections",
        )


def _wilderness_table(rows: Sequence[Wilderness]) -> Table:
    return Table(
        [
            *("recall", "variant", "AWI", "95 % interval", "slope", "WI at end", "precision"),
            *("FP per 1,000 wild", "unreached"),
        ],
        [
            [
                f"{row.recall:g}",
                row.variant,
                f"{row.awi:.4f}",
                _spread(row.awi_low, row.awi_high, 4),
                f"{row.slope:.4f}",
                f"{row.impact[-1]:.4f}",
                _text(row.n_true / (row.n_true + row.n_false)),
                f"{row.fp_per_1000:.1f}",
                ", ".join(row.unreached) or "-",
            ]
            for row in rows
        ],
        title=f"Wilderness Impact, ratios {rows[0].ratios[0]:.2g} to {rows[0].ratios[-1]:.2g}",
    )


def _errors_table(rows: Sequence[Errors]) -> Table:
    made = []
    for row in rows:
        closed, opened = Errors.percent(row.closed_set), Errors.percent(row.open_set)
        cells = [f"{a:.1f} > {b:.1f}" for a, b in zip(closed, opened, strict=True)]
        made.append([f"{row.recall:g}", f"{row.ratio:.2g}", *cells])
    title = "Kinds of detections, percent: known images > with wild images"
    return Table(["recall", "ratio", *KINDS], made, title=title)


def csv_lines(name: str, result: OpenSetEvaluation) -> Table:
    """Every metric of a detector in one line each."""
    means = result.mean_average_precision
    lines: list[list[Content]] = []
    for kind in means.known:
        lines.append([name, f"map_{kind}", "", "", 0.0, means.known[kind], None, None])
        lines.append([name, f"map_{kind}", "", "", means.ratio, means.wild[kind], None, None])
    for row in result.wilderness:
        where: list[Content] = [row.recall, row.variant]
        precision = row.n_true / (row.n_true + row.n_false)
        lines.append([name, "precision", *where, 0.0, precision, None, None])
        lines.append([name, "awi", *where, "", row.awi, row.awi_low, row.awi_high])
        lines.append([name, "slope", *where, "", row.slope, None, None])
        lines.append([name, "fp_per_1000", *where, "", row.fp_per_1000, None, None])
        lines += [
            [name, "wilderness_impact", *where, ratio, impact, None, None]
            for ratio, impact in zip(row.ratios, row.impact, strict=True)
        ]
    for found in result.errors:
        for ratio, counts in ((0.0, found.closed_set), (found.ratio, found.open_set)):
            lines += [
                [name, kind.replace(" ", "_"), found.recall, "", ratio, count, None, None]
                for kind, count in zip(KINDS, counts, strict=True)
            ]
    return Table(["detector", "name", "recall", "variant", "ratio", "value", "low", "high"], lines)


def top_confusions(table: Confusion, n: int = 5) -> list[tuple[str, str, int]]:
    """The most frequent (unknown class, claimed class, count)."""
    counts = np.array(table.counts)[:, table.n_known :]
    order = np.argsort(-counts, axis=None, kind="stable")[:n]
    cells = [np.unravel_index(i, counts.shape) for i in order] if counts.size else []
    return [(table.columns[table.n_known + j], table.rows[i], int(counts[i, j])) for i, j in cells if counts[i, j]]


def point_table(rows: dict[str, ClassPoint], total: ClassPoint) -> RichTable:
    """What thresholds give."""
    table = _table(
        "Operating point",
        "class",
        "threshold",
        "recall",
        "precision",
        "with wild images",
        "FP per 1,000 wild",
    )
    for name, row in [*rows.items(), ("all", total)]:
        threshold = "" if row is total else "none" if row.threshold is None else f"{row.threshold:.4g}"
        table.add_row(
            escape(name),
            threshold,
            _text(row.recall),
            _text(row.precision),
            _text(row.precision_open),
            _text(row.fp_per_1000, 1),
        )
    return table


def f_beta_table(rows: Sequence[FBetaRow]) -> RichTable:
    """Table 4."""
    table = _table(
        "Largest F-beta by wilderness ratio",
        "class",
        "ratio",
        "beta",
        "F",
        "precision",
        "recall",
        "threshold",
    )
    for row in rows:
        table.add_row(
            *(escape(row.class_name), f"{row.ratio:.2f}", f"{row.beta:g}", _text(row.f_score), _text(row.precision)),
            *(_text(row.recall), f"{row.threshold:.4g}"),
        )
    return table


def difference_table(rows: Sequence[Difference], names: Sequence[str]) -> Table:
    """Detector against detector."""
    made = []
    for row in rows:
        digits = 4 if row.name == "awi" else 1
        made.append(
            [
                "AWI" if row.name == "awi" else "FP per 1,000 wild",
                f"{row.recall:g}",
                _text(row.first, digits),
                _text(row.second, digits),
                f"{row.difference:+.{digits}f}",
                _spread(row.low, row.high, digits),
                "yes" if row.clear else "no",
            ]
        )
    head = ["figure", "recall", *names, "difference", "95 % interval", "clear"]
    title = f"Paired over images, {rows[0].variant} variant; difference = {names[0]} minus {names[1]}"
    return Table(head, made, title=title)
