"""What the scripts of a detector's page draw: plain numbers for every chart."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from openset.detection.measure.errors import KINDS, Confusion
from openset.detection.measure.operating import Operating, point_name
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.wilderness import row_name
from openset.detection.verdict import headline


def chart_data(result: OpenSetEvaluation) -> dict[str, Any]:
    """Values of all charts of the page, by the name of the chart."""
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
    axis_of_rates: dict[str, Any] = {"label": "per 1,000 wild images", "min": 0, "max": 1}
    if max(rate) > 0:  # few and many: what matters is near the bottom, so the axis is logarithmic
        low, high = floor(log10(1000 / result.n_wild)), ceil(log10(max(rate)))
        axis_of_rates |= {"min": 10.0**low, "max": 10.0 ** max(high, low + 1), "log": True}
    return {
        "rate": {
            "title": "False detections on wild images",
            "x": axis,
            "y": axis_of_rates,
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
