"""Mean and spread of many methods."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from openset.errors import OpenSetError
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
