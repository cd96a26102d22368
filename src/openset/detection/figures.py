"""The paper's figures for any detector: wilderness curve, error bars, confusion, object against background."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openset.detection.background import ObjectVersusBackground
from openset.detection.errors import KINDS, Confusion, Errors
from openset.detection.evaluation import OpenSetEvaluation
from openset.detection.wilderness import Wilderness
from openset.errors import OpenSetError
from openset.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = (
    "#ffffff",
    "#0072b2",
    "#56b4e9",
    "#009e73",
    "#d55e00",
    "#e69f00",
)  # told apart by colour-blind readers too


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise OpenSetError("Figures need matplotlib: pip install 'openset[plot]'.") from error
    return Figure(figsize=(width, height), layout="constrained")


def wilderness_curve(rows: tuple[Wilderness, ...]) -> "Figure":
    """Wilderness Impact over wilderness ratio (Fig. 5)."""
    figure = _figure(5, 3.6)
    axes = figure.add_subplot()
    for row in rows:
        ratios, impact = [0, *row.ratios], [0, *row.impact]
        axes.plot(
            ratios,
            impact,
            marker="." if len(ratios) < 20 else "",
            label=f"recall {row.recall:g} ({row.variant})",
        )
    axes.set(xlabel="wilderness ratio (wild / known images)", ylabel="Wilderness Impact")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def error_bars(rows: tuple[Errors, ...]) -> "Figure":
    """Percent of detections by kind of error, known images alone and with wild ones (Figs. 3 and 9-11)."""
    figure = _figure(7, 1.2 + 0.7 * len(rows))
    axes = figure.add_subplot()
    labels, bars = [], []
    for row in rows:
        labels += [f"recall {row.recall:g}, known images", f"recall {row.recall:g}, ratio {row.ratio:.2g}"]
        bars += [Errors.percent(row.closed_set), Errors.percent(row.open_set)]
    table, left = np.array(bars), np.zeros(len(bars))
    for i, kind in list(enumerate(KINDS))[1:]:
        axes.barh(labels, table[:, i], left=left, color=_COLOURS[i], label=kind)
        left += table[:, i]
    axes.set_xlim(0, max(float(left.max()) * 1.05, 1))
    axes.invert_yaxis()
    axes.set_xlabel("percent of detections; the rest, up to 100, is correct")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.25), ncol=5, fontsize=7, frameon=False)
    return figure


def confusion_matrix(table: Confusion) -> "Figure":
    """What the detections are really on (Fig. 4); unknown classes that nothing is taken for are left out."""
    counts = np.array(table.counts)
    show = np.concatenate([np.arange(table.n_known), table.n_known + np.flatnonzero(counts[:, table.n_known :].sum(0))])
    figure = _figure(2 + 0.25 * len(show), 1.5 + 0.25 * len(counts))
    axes = figure.add_subplot()
    picture = axes.imshow(np.log10(1 + counts[:, show]), cmap="Blues", aspect="auto")
    axes.set_xticks(range(len(show)), [table.columns[i] for i in show], rotation=90, fontsize=7)
    axes.set_yticks(range(len(counts)), table.rows, fontsize=7)
    axes.axvline(table.n_known - 0.5, color=_COLOURS[4])
    axes.set(xlabel="object (right of the line: unknown)", ylabel="detected as")
    bar = figure.colorbar(picture)
    marks = [value for value in (0, 1, 10, 100, 1000, 10_000) if value <= max(counts.max(), 1)]
    bar.set_ticks(np.log10(1 + np.array(marks)), labels=[str(value) for value in marks])
    bar.set_label("detections")
    return figure


def background_histograms(rows: dict[str, ObjectVersusBackground]) -> "Figure":
    """Object score minus background score of correct detections, per class (Fig. 8)."""
    columns = min(5, len(rows))
    lines = -(-len(rows) // columns)
    figure = _figure(2.2 * columns, 1.7 * lines)
    edges = np.linspace(-1, 1, 21)
    for i, (name, row) in enumerate(rows.items(), 1):
        axes = figure.add_subplot(lines, columns, i)
        axes.bar(edges[:-1], row.histogram, width=0.1, align="edge", color=_COLOURS[1])
        axes.axvline(0, color=_COLOURS[4], linewidth=0.8)
        axes.set_title(f"{name}: {row.mean:.2f} ± {row.sd:.2f}", fontsize=8)
        axes.tick_params(labelsize=6)
    return figure


def write_figures(result: OpenSetEvaluation, folder: str | Path) -> list[Path]:
    """All figures of a result as PNG files."""
    figures = {
        "wilderness.png": wilderness_curve(result.wilderness),
        "errors.png": error_bars(result.errors),
        "confusion.png": confusion_matrix(result.confusion),
    }
    if result.background:
        figures["background.png"] = background_histograms(result.background)
    files = []
    for name, figure in figures.items():
        with replacing(Path(folder) / name) as temporary:
            figure.savefig(temporary, dpi=150, format="png")
        files.append(Path(folder) / name)
    return files
