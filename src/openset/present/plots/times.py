"""What more time buys."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from openset.errors import OpenSetError
from openset.present.plots.style import GREY, MARKERS, legend, line_style, panels, percent_axes, plain, plot_style


def quality_against_time(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    published: float | None = None,
    metric: str = "OpenAUC",
    columns: int = 1,
) -> Figure:
    """A figure over minutes of training, one line per series; the published value is a dotted line.

    Args:
        series: by name, points of minutes and value.
        published: the value to compare with.
        metric: what the values are.
        columns: width.
    """
    if not any(series.values()):
        raise OpenSetError("There is nothing to draw: give at least one finished training.")
    with plot_style():
        figure, (axis,) = panels(columns=columns)
        lines = []
        for place, (name, points) in enumerate(series.items()):
            ordered = sorted(points)
            lines += axis.plot(
                [minutes for minutes, _ in ordered],
                [value for _, value in ordered],
                label=plain(name),
                marker=MARKERS[place % len(MARKERS)],
                markersize=3,
                **line_style(place),
            )
        if published is not None:
            lines.append(axis.axhline(published, color=GREY, linestyle=":", label="published"))
        axis.set_xlim(left=0)
        axis.set_xlabel("minutes of training")
        axis.set_ylabel(metric)
        percent_axes(axis, x=False)
        legend(axis, lines, loc="best")
    return figure
