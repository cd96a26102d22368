"""Each known class in one plot."""

import numpy as np
from matplotlib.figure import Figure

from openset.present.plots.style import COLOURS, ONE_COLUMN, TWO_COLUMNS, percent_axes, plain, plot_style
from openset.results.views import ClassRates

_NAMED = 60


def per_class_ccr(figures: ClassRates, *, columns: int | None = None) -> Figure:
    """CCR of each class at a threshold with its interval, the weakest first; a tick shows accuracy unrejected.

    Up to 60 classes are named; more are drawn as one profile, with the five weakest named.
    """
    order = np.argsort(figures.ccr, kind="stable")
    many = len(order) > _NAMED
    wide = columns == 2 or (columns is None and len(order) > 20)
    place = np.arange(len(order))
    ccr, accuracy = figures.ccr[order], figures.accuracy[order]
    with plot_style():
        width = TWO_COLUMNS if wide else ONE_COLUMN
        figure = Figure(figsize=(width, 2.6), layout="constrained")
        axis = figure.subplots()
        reach = np.abs(np.stack([figures.low, figures.high])[:, order] - ccr)
        axis.errorbar(
            place,
            ccr,
            yerr=reach,
            fmt="o",
            markersize=1.5 if many else 3,
            color=COLOURS[0],
            elinewidth=0.3 if many else 0.8,
            label="CCR at the threshold",
        )
        axis.plot(
            place, accuracy, "_", color=COLOURS[1], markersize=3 if many else 6, label="accuracy, nothing rejected"
        )
        names = [plain(figures.names[k], 24) for k in order]
        shown = place[:5] if many else place
        axis.set_xticks(shown, [names[k] for k in shown], rotation=90, fontsize=6)
        axis.set_xlim(-0.7, len(order) - 0.3)
        axis.set_ylim(0, 1.02)
        axis.grid(visible=False, axis="x")
        percent_axes(axis, x=False)
        axis.set_xlabel(f"{len(order)} known classes, weakest first; threshold {figures.threshold:.4g}")
        axis.legend(loc="lower right")
    return figure
