"""What training did: confidence over epochs, sensitivity to a weight, curves of a log."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from openset.errors import OpenSetError
from openset.present.plots.style import COLOURS, MARKERS, legend, line_style, panels, plain, plot_style
from openset.results.views.runs import GammaLog, Sensitivity, TrainingLog


def gamma_over_epochs(logs: Mapping[str, GammaLog]) -> Figure:
    """Confidence on knowns (left) and on negatives (right) over epochs (ImageNet protocols, Fig. 3)."""
    _need(logs)
    with plot_style():
        figure, (left, right) = panels(2, columns=2, share_y=True)
        lines = []
        for place, (name, log) in enumerate(logs.items()):
            left.plot(log.epochs, log.gamma_plus, label=plain(name), **line_style(place))
            lines += right.plot(log.epochs, log.gamma_minus, label=plain(name), **line_style(place))
        left.set_ylabel("confidence")
        left.set_title(r"$\gamma^+$, knowns")
        right.set_title(r"$\gamma^-$, negatives")
        for axis in (left, right):
            axis.set_xlabel("epoch")
            axis.set_ylim(0, 1.05)
        legend(right, lines, loc="best")
    return figure


def sensitivity(
    found: Mapping[str, Sensitivity], *, setting: str = r"$\lambda$", metric: str = "OpenAUC", columns: int = 1
) -> Figure:
    """A metric over the values of a setting, mean and range over splits (OpenAUC paper, Fig. 2)."""
    _need(found)
    with plot_style():
        figure, (axis,) = panels(columns=columns)
        lines = []
        for place, (name, one) in enumerate(found.items()):
            means = [spread.value for spread in one.spreads]
            style = line_style(place)
            lines += axis.plot(
                one.settings, means, label=plain(name), marker=MARKERS[place % len(MARKERS)], markersize=3, **style
            )
            axis.fill_between(
                one.settings,
                [min(spread.observed) for spread in one.spreads],
                [max(spread.observed) for spread in one.spreads],
                color=style["color"],
                alpha=0.15,
                linewidth=0,
            )
        axis.set_xlabel(setting if setting.startswith("$") else plain(setting))
        axis.set_ylabel(metric)
        legend(axis, lines, loc="best")
    return figure


def training_curves(log: TrainingLog) -> Figure:
    """Each column of a training log over epochs, one small panel each."""
    _need(log.columns)
    per_row = min(3, len(log.columns))
    with plot_style():
        figure, axes = panels(per_row, columns=1 if per_row == 1 else 2, rows=-(-len(log.columns) // per_row))
        for axis in axes[len(log.columns) :]:
            axis.set_visible(False)
        for axis, (name, column) in zip(axes, log.columns.items(), strict=False):
            axis.plot(log.epochs, [np.nan if value is None else value for value in column], color=COLOURS[0])
            axis.set_title(plain(name))
            axis.set_xlabel("epoch")
    return figure


def _need(items: Mapping[str, object]) -> None:
    if not items:
        raise OpenSetError("There is nothing to draw: give at least one series.")
