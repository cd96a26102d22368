"""The page of a detector under open-set conditions."""

from collections.abc import Sequence
from typing import Any

from openset.detection.verdict import TRAINING_RULE, headline, verdict
from openset.present.page.gallery import FalseDetection, gallery_section
from openset.present.page.html import chart, definitions, section, table, text
from openset.present.page.page import render
from openset.results.numbers import number
from openset.results.provenance import provenance
from openset.results.table import Cell, Content, Table
from openset.results.views.detection import ERROR_KINDS, DetectionResult, WildernessResult, row_name


def detection_page(name: str, result: DetectionResult, *, gallery: Sequence[FalseDetection] = ()) -> str:
    """HTML of the page; `result` is that of `openset.detection.evaluate_open_set`."""
    pictures, missing = gallery_section(gallery)
    notes = [*result.notes, *([missing] if missing else [])]
    parts = [
        f"<header><h1>{text(name)}</h1><p>{result.n_known:,} known and {result.n_wild:,} wild images</p></header>",
        _verdict(result, notes),
        _wilderness(result.wilderness),
        _errors(result),
        _confusion(result),
        _background(result),
        pictures,
        section("Versions", definitions(provenance()), name="foot"),
    ]
    return render(f"{name} · open-set detection", list(filter(None, parts)), _data(result))


def _data(result: DetectionResult) -> dict[str, Any]:
    rows = list(result.wilderness)
    highest = max(value for row in rows for value in row.impact)
    charts: dict[str, Any] = {
        "errors": {
            "kind": "bars",
            "label": "share of detections that are wrong",
            "kinds": ERROR_KINDS[1:],
            "rows": [bar for found in result.errors for bar in _bars(found.recall, found.closed_set, found.open_set)],
        }
    }
    if result.background:
        highest_share = max(max(row.histogram) / max(sum(row.histogram), 1) for row in result.background.values())
        charts["background"] = {
            "title": "Object against background",
            "x": {"label": "p(class) - p(background)", "min": -1, "max": 1},
            "y": {"label": "share of correct detections", "min": 0, "max": 1.05 * highest_share, "percent": True},
            "lines": [
                _stairs(label, row.histogram, place) for place, (label, row) in enumerate(result.background.items())
            ],
        }
    confusion = result.confusion
    return {
        "charts": charts,
        "wilderness": {
            "ratios": list(rows[0].ratios),
            "highest": highest * 1.05 or 1,
            "rows": [
                {
                    "name": row_name(row, rows),
                    "impact": list(row.impact),
                    "open": list(row.n_open),
                    "accepted": row.n_true + row.n_false,
                }
                for row in rows
            ],
        },
        "confusion": {
            "rows": list(confusion.rows),
            "columns": list(confusion.columns),
            "cells": [count for row in confusion.counts for count in row],
            "split": confusion.n_known,
        },
    }


def _stairs(label: str, histogram: Sequence[int], place: int) -> dict[str, Any]:
    total, n = sum(histogram) or 1, len(histogram)
    x = [-1 + 2 * (i + side) / n for i in range(n) for side in (0, 1)]
    y = [count / total for count in histogram for _ in (0, 1)]
    return {"name": label, "x": x, "y": y, "colour": f"c{place}" if place < 8 else "muted"}


def _bars(recall: float, closed: Sequence[int], opened: Sequence[int]) -> list[dict[str, Any]]:
    found = []
    for where, counts in (("known images", closed), ("with wild images", opened)):
        total = sum(counts) or 1
        shares = [count / total for count in counts[1:]]
        found.append({"name": f"recall {recall:g}, {where}", "shares": shares, "counts": list(counts[1:])})
    return found


def _reach(row: WildernessResult) -> str:
    if row.awi_low is None or row.awi_high is None:
        return ""
    return f" [{number(row.awi_low)}, {number(row.awi_high)}]"


def _verdict(result: DetectionResult, notes: Sequence[str]) -> str:
    """The terminal's own sentences first, then what its tables show."""
    row, wording = headline(result), verdict(result)
    precision = result.mean_average_precision
    scores = ", ".join(
        f"{_kind(kind)} {number(value)} on known images, {number(precision.wild[kind])} with wild images"
        for kind, value in list(precision.known.items())[:1]
    )
    added = 100 * sum(row.n_open) / len(row.n_open) / (row.n_true + row.n_false)
    words = (
        f'<p class="lead">{text(wording[0].upper() + wording[1:])}</p><p>{text(TRAINING_RULE)}</p>'
        f"<p>The mean Wilderness Impact is {number(row.awi)}{_reach(row)} ({text(row.variant)} variant). "
        f"Over the ratios tested, wild images add {_few(added)} wrong detections on average to every 100 accepted on "
        "known images. "
        f"Mean average precision: {text(scores)}.</p>"
    )
    if notes:
        words += '<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in notes) + "</ul>"
    return section("Verdict", words, name="verdict")


def _few(value: float) -> str:
    """Whole above ten, with a decimal below: a tenth is not nothing."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _kind(name: str) -> str:
    return name.replace("_", " ")


def _wilderness(rows: Sequence[WildernessResult]) -> str:
    cells: list[list[Content]] = [
        [
            Cell(f"{row.recall:g}", row.recall),
            row.variant,
            Cell(number(row.awi) + _reach(row), row.awi),
            Cell(f"{row.slope:.4f}", row.slope),
            Cell(f"{row.fp_per_1000:,.1f}", row.fp_per_1000),
            ", ".join(row.unreached) or "–",
        ]
        for row in rows
    ]
    return section(
        "Wilderness Impact",
        '<div class="panel"><label class="slider" for="ratio">Wilderness ratio '
        '<output id="ratio-value" for="ratio"></output>'
        '<input type="range" id="ratio" min="0" max="1" step="1" value="0"></label>'
        '<p id="summary" role="status" aria-live="polite"></p></div>',
        chart("wilderness", "Wilderness Impact over the wilderness ratio"),
        table(Table(["Recall"], [], title="At this wilderness ratio"), name="at-ratio"),
        table(
            Table(
                [
                    "Recall",
                    "Variant",
                    "Mean impact (AWI)",
                    "Slope",
                    "False detections per 1,000 wild images",
                    "Classes that miss the recall",
                ],
                cells,
                title="Over all ratios",
            ),
            name="awi",
        ),
        name="operating",
        hint="Wild images show no known object, so each detection on them is wrong. The ratio is wild to known images.",
    )


def _errors(result: DetectionResult) -> str:
    cells: list[list[Content]] = []
    for found in result.errors:
        for where, counts in (
            ("known images", found.closed_set),
            (f"wilderness ratio {found.ratio:.3g}", found.open_set),
        ):
            numbers = [Cell(f"{count:,}", count) for count in counts]
            cells.append([Cell(f"{found.recall:g}", found.recall), where, *numbers])
    return section(
        "Kinds of errors",
        chart("errors", "Wrong detections by kind"),
        table(Table(["Recall", "On", *ERROR_KINDS], cells, title="Detections by kind"), name="errors"),
        name="errors",
    )


def _confusion(result: DetectionResult) -> str:
    found = result.confusion
    if not found.rows or not found.columns:
        return ""
    return section(
        "What detections lie on",
        chart("detections", "Detected class (rows) and object (columns): known classes, then unknown ones"),
        name="confusion",
        hint=f"At recall {found.recall:g} and wilderness ratio {found.ratio:.3g}.",
    )


def _background(result: DetectionResult) -> str:
    if not result.background:
        return ""
    rows: list[list[Content]] = [
        [
            name,
            Cell(f"{row.n:,}", row.n),
            Cell(f"{row.mean:+.3f}", row.mean),
            Cell(f"{row.sd:.3f}", row.sd),
            Cell(f"{100 * row.share_background_higher:.1f} %", row.share_background_higher),
        ]
        for name, row in result.background.items()
    ]
    return section(
        "Object against background",
        chart("background", "p(class) - p(background) of correct detections"),
        table(
            Table(
                ["Class", "Correct detections", "Mean difference", "sd", "Background higher"],
                rows,
                title="Would rejecting where the background wins help?",
            ),
            name="background",
            search=True,
        ),
        name="background",
    )
