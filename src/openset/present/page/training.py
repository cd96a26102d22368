"""Curves of a training run, as a section of any page."""

from openset.errors import OpenSetError
from openset.present.page.html import chart, section
from openset.present.page.page import Section
from openset.results.views.runs import TrainingLog


def training_section(log: TrainingLog) -> Section:
    """One chart per column of the log, over epochs; values that are missing are left out."""
    if not log.epochs or not log.columns:
        raise OpenSetError("The training log is empty: there is no epoch to show.")
    charts, figures = {}, []
    for place, (name, column) in enumerate(log.columns.items()):
        points = [(x, y) for x, y in zip(log.epochs, column, strict=True) if y is not None]
        if not points:
            continue
        values = [y for _, y in points]
        low, high = min(values), max(values)
        room = 0.05 * (high - low) or 0.5
        key = f"training-{place}"
        figures.append(chart(key, name))
        charts[key] = {
            "title": name,
            "x": {"label": "epoch", "min": min(log.epochs), "max": max(*log.epochs, min(log.epochs) + 1)},
            "y": {"label": name, "min": low - room, "max": high + room},
            "lines": [{"name": name, "x": [x for x, _ in points], "y": values, "colour": "c0"}],
        }
    return Section(section("Training", f'<div class="charts">{"".join(figures)}</div>', name="training"), charts)
