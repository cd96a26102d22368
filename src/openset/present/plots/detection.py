"""Open-set detection: what wild images do to a detector, from the results of `evaluate_open_set`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from openset.detection.measure.background import ObjectVersusBackground
from openset.detection.measure.errors import KINDS, Confusion, Errors
from openset.detection.measure.operating import point_name
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.wilderness import Wilderness, row_name
from openset.errors import OpenSetError
from openset.present.plots.matrices import draw_matrix
from openset.present.plots.style import (
    COLOURS,
    HATCHES,
    TWO_COLUMNS,
    legend,
    line_style,
    panels,
    percent_axes,
    plain,
    plot_style,
    save,
)


def wilderness(results: Mapping[str, Sequence[Wilderness]], *, columns: int | None = None) -> Figure:
    """Wilderness Impact over the wilderness ratio; one panel per detector, one line per recall (Elephant, Fig. 5)."""
    _need(results)
    with plot_style():
        figure, axes = panels(len(results), columns=columns or min(2, len(results)), share_y=True)
        for axis, (name, rows) in zip(axes, results.items(), strict=True):
            for place, row in enumerate(sorted(rows, key=lambda row: row.recall or 0)):
                axis.plot([0, *row.ratios], [0, *row.impact], label=row_name(row, rows), **line_style(place))
            axis.set_title(plain(name))
            axis.set_xlabel("wilderness ratio (wild / known images)")
            axis.set_xlim(left=0)
        axes[0].set_ylim(bottom=0)  # only now, because the panels share it
        axes[0].set_ylabel("Wilderness Impact")
        legend(axes[0], axes[0].get_lines(), loc="upper left")
    return figure


class Estimated(Protocol):
    """A value with an interval, where there is one."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float | None:
        """Lower end."""

    @property
    def high(self) -> float | None:
        """Upper end."""


def impact_of_families(results: Mapping[str, Sequence[tuple[float, Estimated]]]) -> Figure:
    """Average Wilderness Impact over recall, one line per family with its intervals."""
    _need(results)
    with plot_style():
        figure, [axis] = panels()
        for place, (name, points) in enumerate(results.items()):
            recall = np.array([one for one, _ in points]) + 0.006 * (place - (len(results) - 1) / 2)
            value = np.array([one.value for _, one in points])
            low = [one.value if one.low is None else one.low for _, one in points]
            high = [one.value if one.high is None else one.high for _, one in points]
            around = np.maximum([value - low, np.array(high) - value], 0)
            axis.errorbar(recall, value, yerr=around, label=plain(name), capsize=2, marker=".", **line_style(place))
        axis.set_xlabel("recall on known images")
        axis.set_ylabel("Average Wilderness Impact")
        axis.set_ylim(bottom=0)
        axis.legend(loc="upper left")
    return figure


def detection_errors(results: Mapping[str, Errors]) -> Figure:
    """Kinds of wrong detections in percent of all, without and with wild images (Elephant, Fig. 3)."""
    _need(results)
    with plot_style():
        bars = [
            (f"{plain(name, 24)}\n{where}", counts)
            for name, result in results.items()
            for where, counts in (
                ("known images", result.closed_set),
                (f"wilderness ratio {result.ratio:.2g}", result.open_set),
            )
        ]
        figure = Figure(figsize=(TWO_COLUMNS, 0.9 + 0.42 * len(bars)), layout="constrained")
        axis = figure.subplots()
        left = np.zeros(len(bars))
        shares = np.array([np.asarray(counts) / max(sum(counts), 1) for _, counts in bars])
        for kind in range(1, len(KINDS)):
            if KINDS[kind] == "not annotated" and not shares[:, kind].any():
                continue
            axis.barh(
                range(len(bars)),
                shares[:, kind],
                left=left,
                height=0.65,
                label=KINDS[kind],
                color=COLOURS[(kind - 1) % len(COLOURS)],
                hatch=HATCHES[(kind - 1) % len(HATCHES)],
                edgecolor="white",
                linewidth=0.4,
            )
            left += shares[:, kind]
        axis.set_yticks(range(len(bars)), [label for label, _ in bars])
        axis.invert_yaxis()
        axis.set_xlim(0, 1.05 * max(float(left.max()), 0.01))
        percent_axes(axis, y=False)
        axis.set_xlabel("fraction of detections that are wrong")
        axis.grid(visible=False, axis="y")
        figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def detection_confusion(result: Confusion) -> Figure:
    """Detections of each class by the object they lie on, unknown ones right of the line (Elephant, Fig. 4).

    Unknown classes that nothing is taken for are left out: there may be many.
    """
    counts = np.asarray(result.counts, dtype=np.float64)
    if not counts.size:
        raise OpenSetError("There is nothing to draw: no detection lies on an annotated object.")
    taken = result.n_known + np.flatnonzero(counts[:, result.n_known :].sum(axis=0))
    shown = np.concatenate([np.arange(result.n_known), taken])
    counts, columns = counts[:, shown], [result.columns[place] for place in shown]
    height = float(np.clip(TWO_COLUMNS * counts.shape[0] / counts.shape[1], 2.2, 8))
    with plot_style():
        figure = Figure(figsize=(TWO_COLUMNS, height), layout="constrained")
        axis = figure.subplots()
        # Counts, on a scale that shows a single mistake beside hundreds of correct ones.
        most = max(float(counts.max()), 1.0)
        norm = SymLogNorm(1, vmin=0, vmax=most)
        picture = draw_matrix(
            axis, counts, result.rows, columns, result.n_known, norm=norm, number=lambda n: f"{n:.0f}" if n else ""
        )
        axis.set_xlabel("object: known classes | unknown classes")
        axis.set_ylabel("detected as")
        ticks = [tick for tick in (0, 1, 10, 100, 1000, 10_000, 100_000) if tick <= most]
        bar = figure.colorbar(picture, ax=axis, ticks=ticks, format="{x:,.0f}", pad=0.01)
        bar.set_label("detections")
        bar.minorticks_off()
    return figure


def object_versus_background(results: Mapping[str, ObjectVersusBackground], *, per_row: int = 5) -> Figure:
    """p(class) - p(background) of correct detections, one small panel per class (Elephant, Fig. 8)."""
    _need(results)
    per_row = min(per_row, len(results))
    rows = -(-len(results) // per_row)
    with plot_style():
        figure, axes = panels(per_row, columns=2, rows=rows, height=0.5 + 1.05 * rows)
        for axis in axes[len(results) :]:
            axis.set_visible(False)
        for axis, (name, result) in zip(axes, results.items(), strict=False):
            counts = np.asarray(result.histogram)
            edges = np.linspace(-1, 1, len(counts) + 1)
            axis.stairs(counts / max(counts.sum(), 1), edges, fill=True, color=COLOURS[0])
            axis.axvline(0, color="#333333", linewidth=0.6)
            axis.set_title(f"{plain(name, 14)}  {result.mean:+.2f}", fontsize=7)
            axis.set_xticks([-1, 0, 1])
            axis.tick_params(labelsize=6)
            percent_axes(axis, x=False)
        figure.supxlabel("p(class) - p(background)", fontsize=8)
    return figure


def write_detection_figures(
    folder: str | Path, name: str, result: OpenSetEvaluation, *, formats: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Write every figure of one detector, called `name`, as PDF and PNG; returns the files."""
    made = {
        "wilderness": wilderness({name: result.wilderness}),
        "detection-errors": detection_errors({point_name(row.recall): row for row in result.errors}),
        "detection-confusion": detection_confusion(result.confusion),
    }
    if result.background:
        made["object-versus-background"] = object_versus_background(result.background)
    return [path for stem, figure in made.items() for path in save(figure, Path(folder) / stem, formats=formats)]


def _need(items: Mapping[str, object]) -> None:
    if not items:
        raise OpenSetError("There is nothing to draw: give at least one result.")
