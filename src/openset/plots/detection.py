"""Open-set detection: what wild images do to a detector.

The functions take anything with the fields that `openset.views.detection` names: the results of
`openset.detection.evaluate_open_set` have them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from openset.errors import OpenSetError
from openset.plots.matrices import draw_matrix
from openset.plots.style import COLOURS, HATCHES, TWO_COLUMNS, legend, line_style, look, panels, percent_axes, plain
from openset.views.detection import (
    ERROR_KINDS,
    BackgroundResult,
    ConfusionResult,
    ErrorResult,
    WildernessResult,
)


def wilderness(results: Mapping[str, Sequence[WildernessResult]], *, columns: int | None = None) -> Figure:
    """Wilderness Impact over the wilderness ratio; one panel per detector, one line per recall (Elephant, Fig. 5)."""
    _need(results)
    with look():
        figure, axes = panels(len(results), columns=columns or min(2, len(results)), share_y=True)
        for axis, (name, rows) in zip(axes, results.items(), strict=True):
            for place, row in enumerate(sorted(rows, key=lambda row: row.recall)):
                axis.plot(row.ratios, row.impact, label=f"recall {row.recall:g}", **line_style(place))
            axis.set_title(plain(name))
            axis.set_xlabel("wilderness ratio (wild / known images)")
            axis.set_xlim(left=0)
        axes[0].set_ylim(bottom=0)  # only now, because the panels share it
        axes[0].set_ylabel("Wilderness Impact")
        legend(axes[0], loc="upper left")
    return figure


def detection_errors(results: Mapping[str, ErrorResult]) -> Figure:
    """Kinds of wrong detections in percent of all, without and with wild images (Elephant, Fig. 3)."""
    _need(results)
    with look():
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
        for kind in range(1, len(ERROR_KINDS)):
            axis.barh(
                range(len(bars)),
                shares[:, kind],
                left=left,
                height=0.65,
                label=ERROR_KINDS[kind],
                color=COLOURS[(kind - 1) % len(COLOURS)],
                hatch=HATCHES[(kind - 1) % len(HATCHES)],
                edgecolor="white",
                linewidth=0.4,
            )
            left += shares[:, kind]
        axis.set_yticks(range(len(bars)), [label for label, _ in bars])
        axis.invert_yaxis()
        percent_axes(axis, y=False)
        axis.set_xlabel("share of detections that are wrong")
        axis.grid(visible=False, axis="y")
        figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def detection_confusion(result: ConfusionResult) -> Figure:
    """What detections of each class lie on: known objects left of the line, unknown ones right (Elephant, Fig. 4)."""
    counts = np.asarray(result.counts, dtype=np.float64)
    if not counts.size:
        raise OpenSetError("There is nothing to draw: no detection lies on an annotated object.")
    shares = counts / np.maximum(counts.sum(axis=0, keepdims=True), 1)
    with look():
        figure = Figure(
            figsize=(TWO_COLUMNS, float(np.clip(TWO_COLUMNS * counts.shape[0] / counts.shape[1], 2.2, 8))),
            layout="constrained",
        )
        axis = figure.subplots()
        draw_matrix(axis, shares, result.rows, result.columns, counts.shape[0], result.n_known)
        axis.set_xlabel("object: known classes | unknown classes")
        axis.set_ylabel("detected as")
    return figure


def object_versus_background(results: Mapping[str, BackgroundResult], *, per_row: int = 5) -> Figure:
    """p(class) - p(background) of correct detections, one small panel per class (Elephant, Fig. 8)."""
    _need(results)
    per_row = min(per_row, len(results))
    rows = -(-len(results) // per_row)
    with look():
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


def _need(items: Mapping[str, object]) -> None:
    if not items:
        raise OpenSetError("There is nothing to draw: give at least one result.")
