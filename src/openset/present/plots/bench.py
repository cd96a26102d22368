"""Mean and spread of many methods."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from openset.errors import OpenSetError
from openset.present.plots.detection import Estimated
from openset.present.plots.style import COLOURS, GREY, MARKERS, ONE_COLUMN, TWO_COLUMNS, plain, plot_style
from openset.results.views.runs import BenchRow


def bench(rows: Sequence[BenchRow], *, metric: str = "OpenAUC") -> Figure:
    """Mean and standard deviation over splits of each method, with the runs behind them; one panel per protocol."""
    if not rows:
        raise OpenSetError("There is nothing to draw: the bench has no finished run.")
    protocols = list(dict.fromkeys(row.protocol for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    per_row = min(3, len(protocols))
    n_rows = -(-len(protocols) // per_row)
    with plot_style():
        width = ONE_COLUMN if per_row == 1 else TWO_COLUMNS
        height = n_rows * (0.7 + 0.24 * len(methods))
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(n_rows, per_row, squeeze=False, sharey=True)
        axes = list(grid.ravel())
        for axis in axes[len(protocols) :]:
            axis.set_visible(False)
        for axis, protocol in zip(axes, protocols, strict=False):
            for row in rows:
                if row.protocol != protocol:
                    continue
                at = methods.index(row.method)
                axis.plot(row.values, [at + 0.22] * len(row.values), "|", color=GREY, markersize=4)
                axis.errorbar(
                    row.spread.value,
                    at,
                    xerr=row.spread.sd or 0.0,
                    fmt=MARKERS[at % len(MARKERS)],
                    color=COLOURS[at % len(COLOURS)],
                    markersize=4,
                )
            axis.set_title(plain(protocol))
            axis.set_xlabel(metric)
            axis.set_ylim(len(methods) - 0.5, -0.5)
        axes[0].set_yticks(range(len(methods)), [plain(method, 24) for method in methods])
    return figure


def gains(rows: Mapping[str, Estimated], *, metric: str = "OpenAUC") -> Figure:
    """What something gains under each condition, with intervals where there are some; a line marks no gain."""
    if not rows:
        raise OpenSetError("There is nothing to draw: no condition has been run.")
    with plot_style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.7 + 0.2 * len(rows)), layout="constrained")
        axis = figure.subplots()
        axis.axvline(0, color=GREY, linestyle=":")
        for place, one in enumerate(rows.values()):
            low, high = (one.value if end is None else end for end in (one.low, one.high))
            around = [[max(100 * (one.value - low), 0)], [max(100 * (high - one.value), 0)]]
            axis.errorbar(
                100 * one.value, place, xerr=around, fmt=MARKERS[0], color=COLOURS[0], markersize=4, capsize=2
            )
        axis.set_yticks(range(len(rows)), [plain(name, 60) for name in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlabel(f"gain in {metric}, points")
    return figure
