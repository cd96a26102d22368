"""A result as a person reads it: tables for terminal, papers and CSV."""

from collections.abc import Iterator, Sequence

import numpy as np

from openset._core.numbers import difference, interval, number, percent
from openset.detection.choosing import FBetaRow
from openset.detection.comparison import Difference
from openset.detection.measure.errors import KINDS, Confusion, Errors
from openset.detection.measure.operating import ClassPoint, Operating, point_name
from openset.detection.measure.rates import Estimate
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.wilderness import Wilderness
from openset.detection.metrics import METRICS, metric_values
from openset.results.table import Cell, Content, Table


def result_tables(result: OpenSetEvaluation) -> Iterator[Table]:
    """mAP, operating points, wilderness, errors, confusions, object versus background."""
    means = result.mean_average_precision
    yield Table(
        ["", "known images", f"wild ratio {means.ratio:.2g}"],
        [[name.replace("_", " "), value, means.wild[name]] for name, value in means.known.items()],
        title=f"mAP (IoU {means.iou:g}, {means.matching} matching, interpolated)",
    )
    yield operating_table(result.operating)
    if result.wilderness:
        yield _wilderness_table(result.wilderness)
    yield errors_table(result.errors)
    confused = top_confusions(result.confusion)
    if confused:
        yield Table(
            ["unknown", "called", "times"],
            [[unknown, known, n] for unknown, known, n in confused],
            title=f"Unknown objects taken for known ones ({point_name(result.confusion.recall)})",
            align="llr",
        )
    if result.background:
        yield Table(
            ["class", "n", "mean", "sd", "background higher"],
            [
                [name, row.n, row.mean, row.sd, Cell(percent(row.share_background_higher), row.share_background_higher)]
                for name, row in result.background.items()
            ],
            title="Object score minus background score, correct detections",
        )


def estimate_cell(estimate: Estimate, *, digits: int = 3) -> Content:
    """A value with its interval, or a dash where it is not defined."""
    if estimate.value is None:
        return "-"
    return Cell(interval(estimate.value, estimate.low, estimate.high, digits=digits), estimate.value)


def _per_1000(estimate: Estimate) -> Content:
    if estimate.value is None:
        return "-"
    return Cell(f"{estimate.value:.1f} [{estimate.low:.1f}, {estimate.high:.1f}]", estimate.value)


_RATES = ("recall", "precision", "precision at ratio 1", "FP per 1,000 wild")


def _rates(row: ClassPoint) -> list[Content]:
    return [*map(estimate_cell, (row.recall, row.precision, row.precision_open)), _per_1000(row.fp_per_1000)]


def operating_table(points: Sequence[Operating]) -> Table:
    """What the thresholds of each operating point give, all classes together."""
    return Table(
        ["at", *_RATES, "unreached"],
        [[point.name, *_rates(point.total), ", ".join(point.unreached) or "-"] for point in points],
        title="All classes together, with 95 % intervals at these thresholds",
        align="lrrrrl",
    )


def class_cells(row: ClassPoint) -> list[Content]:
    """Threshold and rates of a class."""
    return ["none" if row.threshold is None else Cell(f"{row.threshold:.4g}", row.threshold), *_rates(row)]


def class_table(point: Operating) -> Table:
    """The same for each class."""
    rows = [[name, *class_cells(row)] for name, row in point.classes.items()]
    below = [["all", "", *_rates(point.total)]]
    return Table(["class", "threshold", *_RATES], rows, below, title=f"Classes at {point.name}")


def _wilderness_table(rows: Sequence[Wilderness]) -> Table:
    return Table(
        ["at", "variant", "AWI", "slope", "WI at end"],
        [
            [
                row.point.name,
                row.variant,
                Cell(interval(row.awi, row.awi_low, row.awi_high, digits=4), row.awi),
                Cell(number(row.slope, 4), row.slope),
                Cell(number(row.impact[-1], 4), row.impact[-1]),
            ]
            for row in rows
        ],
        title=f"Wilderness Impact, ratios {rows[0].ratios[0]:.2g} to {rows[0].ratios[-1]:.2g}",
        align="llrrr",
    )


def errors_table(rows: Sequence[Errors]) -> Table:
    """Kinds of detections in percent, without and with wild images."""
    shown = [
        place for place, kind in enumerate(KINDS) if kind != "not annotated" or any(row.open_set[place] for row in rows)
    ]
    made = []
    for row in rows:
        closed, opened = Errors.percent(row.closed_set), Errors.percent(row.open_set)
        cells = [f"{closed[place]:.1f} > {opened[place]:.1f}" for place in shown]
        if not row.n_annotated:
            place = KINDS.index("unknown unknown")
            cells[place] = f"{closed[place]:.1f} > -"
        made.append([point_name(row.recall), f"{row.ratio:.2g}", *cells])
    title = "Kinds of detections, percent: known images > with wild images"
    return Table(["at", "ratio", *(KINDS[place] for place in shown)], made, title=title)


def csv_lines(name: str, result: OpenSetEvaluation) -> Table:
    """Every metric of a detector in one line each."""
    keys = ("recall", "variant", "ratio", "kind")
    lines: list[list[Content]] = [
        [name, one.name, *(one.params.get(key, "") for key in keys), one.value, one.low, one.high]
        for one in metric_values(result)
    ]
    for row in result.wilderness:
        where: list[Content] = ["" if row.recall is None else row.recall, row.variant]
        lines += [
            [name, "wilderness_impact", *where, ratio, "", impact, None, None]
            for ratio, impact in zip(row.ratios, row.impact, strict=True)
        ]
    for found in result.errors:
        at = "" if found.recall is None else found.recall
        for ratio, counts in ((0.0, found.closed_set), (found.ratio, found.open_set)):
            lines += [
                [name, "detections", at, "", ratio, kind, count, None, None]
                for kind, count in zip(KINDS, counts, strict=True)
            ]
    return Table(["detector", "name", *keys, "value", "low", "high"], lines)


def top_confusions(table: Confusion, n: int = 5) -> list[tuple[str, str, int]]:
    """The most frequent (unknown class, claimed class, count)."""
    counts = np.array(table.counts)[:, table.n_known :]
    order = np.argsort(-counts, axis=None, kind="stable")[:n]
    cells = [np.unravel_index(i, counts.shape) for i in order] if counts.size else []
    return [(table.columns[table.n_known + j], table.rows[i], int(counts[i, j])) for i, j in cells if counts[i, j]]


def f_beta_table(rows: Sequence[FBetaRow]) -> Table:
    """Table 4."""
    return Table(
        ["class", "ratio", "beta", "F", "precision", "recall", "threshold"],
        [
            [
                row.class_name,
                Cell(f"{row.ratio:.2f}", row.ratio),
                Cell(f"{row.beta:g}", row.beta),
                row.f_score,
                row.precision,
                row.recall,
                Cell(f"{row.threshold:.4g}", row.threshold),
            ]
            for row in rows
        ],
        title="Largest F-beta by wilderness ratio",
    )


def difference_table(rows: Sequence[Difference], names: Sequence[str]) -> Table:
    """Detector against detector."""
    made: list[list[Content]] = []
    for row in rows:
        card = METRICS[row.name]
        digits = card.digits
        made.append(
            [
                card.title + (f" ({row.variant})" if row.variant else ""),
                "" if row.recall is None else Cell(f"{row.recall:g}", row.recall),
                Cell(number(row.first, digits), row.first),
                Cell(number(row.second, digits), row.second),
                Cell(difference(row.difference, row.low, row.high, digits), row.difference),
                names[row.better - 1] if row.better else "-",
            ]
        )
    head = ["metric", "recall", *names, "difference", "clearly better"]
    title = f"Paired over images, classes that both reach; difference = {names[0]} minus {names[1]}"
    return Table(head, made, title=title, align="lrrrrl")
