"""The page of a detector under open-set conditions: everything that it takes to sign off its release."""

from collections.abc import Sequence
from typing import Any

from openset.detection.measure.errors import KINDS, Confusion
from openset.detection.measure.evaluation import OpenSetEvaluation
from openset.detection.measure.operating import Operating, point_name
from openset.detection.measure.wilderness import Wilderness, row_name
from openset.detection.tables import class_cells, errors_table, operating_table
from openset.detection.verdict import TRAINING_RULE, headline, verdict
from openset.present.page.gallery import FalseDetection, gallery_section
from openset.present.page.html import chart, definitions, section, table, text
from openset.present.page.page import render
from openset.results.gate import GateResult
from openset.results.numbers import interval, number, percent
from openset.results.provenance import provenance
from openset.results.table import Cell, Content, Table


def detection_page(
    name: str,
    result: OpenSetEvaluation,
    *,
    gallery: Sequence[FalseDetection] = (),
    gate: Sequence[GateResult] = (),
) -> str:
    """HTML of the page; `result` is that of `openset.detection.evaluate_open_set`."""
    pictures, missing = gallery_section(gallery)
    notes = [*result.notes, *([missing] if missing else [])]
    parts = [
        f"<header><h1>{text(name)}</h1><p>{result.n_known:,} known and {result.n_wild:,} wild images</p></header>",
        _verdict(result, notes),
        _gate(gate),
        _operating(result),
        _classes(result),
        _wilderness(result.wilderness),
        _errors(result),
        _confusion(result),
        _precision(result),
        _background(result),
        pictures,
        _origin(result),
    ]
    return render(f"{name} · open-set detection", list(filter(None, parts)), _data(result))


# ---- what the scripts draw -----------------------------------------------------------------------------------------


def _data(result: OpenSetEvaluation) -> dict[str, Any]:
    rows = list(result.wilderness)
    shown = [place for place in range(1, len(KINDS)) if any(found.open_set[place] for found in result.errors)] or [1]
    charts: dict[str, Any] = {
        "errors": {
            "kind": "bars",
            "label": "detections that are wrong",
            "kinds": [KINDS[place] for place in shown],
            "rows": [
                bar
                for found in result.errors
                for bar in _bars(point_name(found.recall), found.closed_set, found.open_set, shown)
            ],
        },
        **_sources(headline(result)),
        **_curves(result),
    }
    if result.background:
        highest_share = max(max(row.histogram) / max(sum(row.histogram), 1) for row in result.background.values())
        charts["background"] = {
            "title": "Object against background",
            "x": {"label": "p(class) - p(background)", "min": -1, "max": 1},
            "y": {"label": "fraction of correct detections", "min": 0, "max": 1.05 * highest_share, "percent": True},
            "lines": [
                _stairs(label, row.histogram, place) for place, (label, row) in enumerate(result.background.items())
            ],
        }
    content: dict[str, Any] = {"charts": charts}
    if result.confusion.rows and result.confusion.columns:
        content["confusion"] = _matrix(result.confusion)
    if rows:
        content["wilderness"] = {
            "ratios": list(rows[0].ratios),
            "highest": max(value for row in rows for value in row.impact) * 1.05 or 1,
            "rows": [
                {
                    "name": row_name(row, rows),
                    "impact": list(row.impact),
                    "open": list(row.n_open),
                    "accepted": row.point.total.n_true + row.point.total.n_false,
                }
                for row in rows
            ],
        }
    return content


def _matrix(found: Confusion) -> dict[str, Any]:
    """Without the unknown classes that nothing is taken for: there may be many."""
    taken = [place for place in range(found.n_known, len(found.columns)) if any(row[place] for row in found.counts)]
    shown = [*range(found.n_known), *taken]
    return {
        "rows": list(found.rows),
        "columns": [found.columns[place] for place in shown],
        "cells": [row[place] for row in found.counts for place in shown],
        "split": found.n_known,
    }


def _sources(point: Operating) -> dict[str, Any]:
    """Which classes the false detections on wild images claim, the most frequent first."""
    ranked = sorted(((row.n_open, name) for name, row in point.classes.items() if row.n_open), reverse=True)
    if not ranked:
        return {}
    total, shown = sum(n for n, _ in ranked), ranked[:20]
    rest = total - sum(n for n, _ in shown)
    rows = [*((name, n) for n, name in shown), *([(f"{len(ranked) - 20} more", rest)] if rest else [])]
    return {
        "sources": {
            "kind": "bars",
            "label": "of all false detections on wild images",
            "kinds": ["false detections on wild images"],
            "rows": [{"name": name, "shares": [n / total], "counts": [n]} for name, n in rows],
        }
    }


def _curves(result: OpenSetEvaluation) -> dict[str, Any]:
    if result.details is None or not result.details.curves.recall:
        return {}
    found = result.details.curves
    recall = list(found.recall)
    axis = {"label": "recall", "min": 0, "max": 1, "percent": True}
    rate = [0.0, *found.fp_per_1000]
    return {
        "rate": {
            "title": "False detections on wild images",
            "x": axis,
            "y": {"label": "per 1,000 wild images", "min": 0, "max": 1.05 * max(rate) or 1},
            "lines": [{"name": "false detections", "x": [0, *recall], "y": rate, "colour": "c1"}],
        },
        "precision": {
            "title": "Precision",
            "x": axis,
            "y": {"label": "precision", "min": 0, "max": 1, "percent": True},
            "lines": [
                {"name": "on known images", "x": recall, "y": list(found.precision), "colour": "c0"},
                {"name": "with one wild image for each", "x": recall, "y": list(found.precision_open), "colour": "c1"},
            ],
        },
    }


def _stairs(label: str, histogram: Sequence[int], place: int) -> dict[str, Any]:
    total, n = sum(histogram) or 1, len(histogram)
    x = [-1 + 2 * (i + side) / n for i in range(n) for side in (0, 1)]
    y = [count / total for count in histogram for _ in (0, 1)]
    return {"name": label, "x": x, "y": y, "colour": f"c{place}" if place < 8 else "muted"}


def _bars(name: str, closed: Sequence[int], opened: Sequence[int], shown: Sequence[int]) -> list[dict[str, Any]]:
    found = []
    for where, counts in (("known images", closed), ("with wild images", opened)):
        total = sum(counts) or 1
        kinds = [counts[place] for place in shown]
        found.append({"name": f"{name}, {where}", "shares": [count / total for count in kinds], "counts": kinds})
    return found


# ---- sections ------------------------------------------------------------------------------------------------------


def _verdict(result: OpenSetEvaluation, notes: Sequence[str]) -> str:
    """The terminal's own sentences."""
    first, *others = verdict(result).sentences
    words = (
        f'<p class="lead">{text(first[0].upper() + first[1:])}</p>'
        f"<p>{text(' '.join(others))}</p><p>{text(TRAINING_RULE)}</p>"
    )
    if notes:
        shown = "".join(f"<li>{text(note[0].upper() + note[1:])}.</li>" for note in notes)
        words += f'<ul class="notes">{shown}</ul>'
    return section("Verdict", words, name="verdict")


def _gate(gate: Sequence[GateResult]) -> str:
    if not gate:
        return ""
    missed = sum(not one.reached for one in gate)
    lead = f"{missed} of {len(gate)} bars missed: not to be released." if missed else f"All {len(gate)} bars reached."
    rows: list[list[Content]] = [
        [
            one.bar,
            one.where,
            Cell(interval(one.value, one.low, one.high, digits=3), one.value),
            Cell("reached", tone="good") if one.reached else Cell("missed", tone="bad", best=True),
        ]
        for one in gate
    ]
    made = Table(["Bar", "At", "Found", "Result"], rows, title="Bars of the release gate", align="llrl")
    return section("Gate", f'<p class="lead">{text(lead)}</p>', table(made, name="gate"), name="gate")


def _operating(result: OpenSetEvaluation) -> str:
    drawn = ""
    if result.details is not None:
        drawn = (
            '<div class="charts">'
            + chart("rate", "False detections per 1,000 wild images against recall, one threshold for all classes")
            + chart("precision", "Precision against recall, one threshold for all classes")
            + "</div>"
        )
    return section(
        "Operating points",
        table(operating_table(result.operating), name="points"),
        drawn,
        name="points",
        hint="Wild images show no known object, so each detection on them is wrong. Intervals are over images.",
    )


def _classes(result: OpenSetEvaluation) -> str:
    point = headline(result)
    average = result.mean_average_precision.per_class
    taken = _mistaken(result.confusion)
    rows: list[list[Content]] = []
    for name, row in point.classes.items():
        ap = average.get(name)
        missed: Content = Cell(f"{row.n_missed:,} of {row.n_objects:,}", row.n_missed) if row.n_objects else "–"
        cells = class_cells(row)
        rows.append([name, "–" if ap is None else ap, *cells, missed, taken.get(name, "–")])
    head = ["Class", "AP", "Threshold", "Recall", "Precision", "Precision at ratio 1", "FP per 1,000 wild images"]
    made = Table(
        [*head, "Missed objects", "Unknown objects taken for it"],
        rows,
        title=f"Classes at {point.name}",
        align="lrrrrrrrl",
    )
    return section(
        "Classes",
        chart("sources", "Which classes the false detections on wild images claim") if _has_open(point) else "",
        table(made, name="classes", search=True),
        name="classes",
        hint=f"Lost at {point.name}: {text(', '.join(point.unreached))}." if point.unreached else "",
    )


def _has_open(point: Operating) -> bool:
    return any(row.n_open for row in point.classes.values())


def _mistaken(found: Confusion) -> dict[str, str]:
    """The unknown classes that are most often taken for each known one."""
    taken = {}
    for name, row in zip(found.rows, found.counts, strict=True):
        ranked = sorted(zip(row[found.n_known :], found.columns[found.n_known :], strict=True), key=lambda one: -one[0])
        words = [f"{column} {n}" for n, column in ranked[:3] if n]
        if words:
            taken[name] = ", ".join(words)
    return taken


def _wilderness(rows: Sequence[Wilderness]) -> str:
    if not rows:
        return ""
    cells: list[list[Content]] = [
        [
            row.point.name,
            row.variant,
            Cell(interval(row.awi, row.awi_low, row.awi_high), row.awi),
            Cell(number(row.slope, 4), row.slope),
            ", ".join(row.unreached) or "–",
        ]
        for row in rows
    ]
    head = ["At", "Variant", "Mean impact (AWI)", "Slope", "Classes that are left out"]
    return section(
        "Wilderness Impact",
        '<div class="panel"><label class="slider" for="ratio">Wilderness ratio '
        '<output id="ratio-value" for="ratio"></output>'
        '<input type="range" id="ratio" min="0" max="1" step="1" value="0"></label>'
        '<p id="summary" role="status" aria-live="polite"></p></div>',
        chart("wilderness", "Wilderness Impact over the wilderness ratio"),
        table(Table(["At"], [], title="At this wilderness ratio"), name="at-ratio"),
        table(Table(head, cells, title="Over all ratios", align="llrrl"), name="awi"),
        name="operating",
        hint="False detections on wild images per accepted detection on known images, by the ratio of these images.",
    )


def _errors(result: OpenSetEvaluation) -> str:
    return section(
        "Kinds of errors",
        chart("errors", "Wrong detections by kind"),
        table(errors_table(result.errors), name="errors"),
        name="errors",
    )


def _confusion(result: OpenSetEvaluation) -> str:
    found = result.confusion
    if not found.rows or not found.columns:
        return ""
    return section(
        "What detections lie on",
        chart("detections", "Detected class (rows) and object (columns): known classes, then unknown ones"),
        name="confusion",
        hint=f"At {point_name(found.recall)} and wilderness ratio {found.ratio:.3g}.",
    )


def _precision(result: OpenSetEvaluation) -> str:
    """Mean average precision by every rule."""
    means = result.mean_average_precision
    rows: list[list[Content]] = [
        [f"{kind.replace('_', ' ')}, IoU {means.iou:g}", value, means.wild[kind]] for kind, value in means.known.items()
    ]
    if result.details is not None:
        coco = result.details.coco
        rows.append(["COCO, IoU .5:.95", coco.mean, "–"])
        rows += [
            [f"COCO, IoU .5:.95, {name} objects", "–" if v is None else v, "–"] for name, v in coco.by_size.items()
        ]
    head = ["Average precision", "Known images", f"With wild images, ratio {means.ratio:.2g}"]
    return section(
        "Mean average precision", table(Table(head, rows, title="Mean over classes"), name="map"), name="map"
    )


def _background(result: OpenSetEvaluation) -> str:
    if not result.background:
        return ""
    rows: list[list[Content]] = [
        [
            name,
            Cell(f"{row.n:,}", row.n),
            Cell(f"{row.mean:+.3f}", row.mean),
            Cell(f"{row.sd:.3f}", row.sd),
            Cell(percent(row.share_background_higher), row.share_background_higher),
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


def _origin(result: OpenSetEvaluation) -> str:
    """What was measured, how, and with what."""
    called = {"known": "known ground truth", "known_found": "known results", "wild": "wild ground truth"}
    files = {called.get(part, "wild results"): name for part, name in result.files.items()}
    settings = {
        name.replace("_", " "): ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in result.settings.items()
        if value is not None
    }
    return section(
        "Settings, files and versions",
        definitions({**settings, **files, "fingerprint of the data": result.fingerprint, **provenance()}),
        name="foot",
    )
