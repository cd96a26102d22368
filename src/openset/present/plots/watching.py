"""The fraction of unknowns over time."""

from typing import Any

from matplotlib.figure import Figure

from openset.operating.watching import Watched
from openset.present.plots.style import COLOURS, GREY, KINDS, legend, panels, percent_axes, plain, plot_style


def unknowns_over_time(watched: Watched, *, columns: int = 2) -> Figure:
    """Fraction of unknowns of each window with its exact interval, what was promised, and where the alarm went off."""
    with plot_style():
        figure, (axis,) = panels(columns=columns, height=3.2)
        places = list(range(len(watched.windows)))
        shares = [one.unknown.value for one in watched.windows]
        ends = [one.unknown.interval for one in watched.windows]
        below = [share - end.low for share, end in zip(shares, ends, strict=True)]
        above = [end.high - share for share, end in zip(shares, ends, strict=True)]
        seen = axis.errorbar(places, shares, yerr=[below, above], fmt="o", ms=3, color=KINDS["unknown"], label="seen")
        drawn: list[Any] = [seen]
        drawn += [axis.axhline(watched.promise.expected, color=GREY, linestyle=":", label="expected")]
        drawn += [
            axis.axhline(watched.promise.largest, color=COLOURS[0], linestyle="--", label="most that was promised")
        ]
        if watched.alarm is not None:
            drawn.append(axis.axvline(watched.windows.index(watched.alarm), color="black", lw=0.8, label="alarm"))
        step = max(1, len(places) // 8)
        axis.set_xticks(places[::step], [plain(one.name) for one in watched.windows[::step]], rotation=20, ha="right")
        axis.set_ylim(bottom=0)
        axis.set_ylabel("fraction of unknowns")
        percent_axes(axis, x=False)
        legend(axis, drawn, loc="best")
    return figure
