"""Curves over all thresholds."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from openset.curves import OscrCurve, RocCurve, UnknownRecallCurve
from openset.errors import OpenSetError
from openset.present.plots.style import legend, line_style, panels, percent_axes, plain, plot_style
from openset.results.verdict import open_set
from openset.results.views import Band, RiskCurve


def oscr(
    curves: Mapping[str, Mapping[str, OscrCurve]],
    *,
    bands: Mapping[str, Mapping[str, Band]] | None = None,
    log: bool = True,
    columns: int | None = None,
) -> Figure:
    """OSCR curves: one panel per kind of open-set sample, one line per model (ImageNet protocols, Fig. 2).

    Args:
        curves: by kind of open-set sample ("all", "negative", "unknown" or a group), then by model.
        bands: confidence bands, by the same names.
        log: logarithmic FPR, down to one open-set sample; the first point, FPR 0, is at the left edge.
        columns: width; two where there are several panels.
    """
    _need(curves)
    # A model has one look in all panels, also where some panels lack it: the place it has in the fullest one.
    fullest = sorted(curves.values(), key=len, reverse=True)
    places = {name: place for place, name in enumerate(dict.fromkeys(name for models in fullest for name in models))}
    lines = {}
    with plot_style():
        figure, axes = panels(len(curves), columns=columns or min(2, len(curves)), share_y=True)
        for axis, (part, models) in zip(axes, curves.items(), strict=True):
            _need(models)
            lowest = min(10 ** np.floor(np.log10(min(_smallest_step(curve.fpr) for curve in models.values()))), 0.1)
            for name, curve in models.items():
                fpr = np.maximum(curve.fpr, lowest) if log else curve.fpr
                lines[name] = axis.plot(fpr, curve.ccr, label=plain(name), **line_style(places[name]))[0]
                band = (bands or {}).get(part, {}).get(name)
                if band is not None:
                    across = np.maximum(band.fpr, lowest) if log else band.fpr
                    colour = line_style(places[name])["color"]
                    axis.fill_between(across, band.low, band.high, color=colour, alpha=0.15, linewidth=0, step="post")
            if log:
                axis.set_xscale("log")
                axis.set_xlim(lowest, 1)
            else:
                axis.set_xlim(0, 1)
            axis.set_ylim(0, 1)
            percent_axes(axis, x=not log)
            axis.set_xlabel(f"{_called(part)} accepted (FPR)")
        axes[0].set_ylabel("knowns accepted and correct (CCR)")
        legend(axes[0], [lines[name] for name in places], loc="lower right")
    return figure


def _smallest_step(fpr: NDArray[np.float64]) -> float:
    return float(fpr[fpr > 0].min())


def roc(curves: Mapping[str, RocCurve], *, against: str = "all", columns: int = 1) -> Figure:
    """ROC curves of telling knowns from open-set samples, one line per model."""
    _need(curves)
    with plot_style():
        figure, (axis,) = panels(columns=columns, height=None)
        axis.plot([0, 1], [0, 1], color="#999999", linewidth=0.7, linestyle=":")
        lines = [
            axis.plot(curve.fpr, curve.tpr, label=plain(name), **line_style(place))[0]
            for place, (name, curve) in enumerate(curves.items())
        ]
        _unit(axis)
        axis.set_xlabel(f"{_called(against)} accepted (FPR)")
        axis.set_ylabel("knowns accepted (TPR)")
        legend(axis, lines, loc="lower right")
    return figure


def unknown_recall(curve: UnknownRecallCurve, *, against: str = "all", columns: int = 1) -> Figure:
    """What the threshold metrics say at each fraction of open-set samples caught (OpenAUC paper, Fig. 1)."""
    metrics = {
        "F-score, macro": curve.f_macro,
        "F-score, micro": curve.f_micro,
        "Youden, macro": curve.youden_macro,
        "Youden, micro": curve.youden_micro,
        "normalized accuracy": curve.normalized_accuracy,
        "CCR": curve.ccr,
    }
    with plot_style():
        figure, (axis,) = panels(columns=columns)
        lines = [
            axis.plot(curve.unknown_recall, values, label=name, **line_style(place))[0]
            for place, (name, values) in enumerate(metrics.items())
        ]
        axis.set_xlim(0, 1)
        axis.set_ylim(min(0.0, *(float(values.min()) for values in metrics.values())), 1.02)
        percent_axes(axis, y=False)
        axis.set_xlabel(f"{_called(against)} caught (1 - FPR)")
        axis.set_ylabel("metric at that threshold")
        legend(axis, lines, loc="lower left", ncols=2)
    return figure


def risk(curves: Mapping[str, RiskCurve], *, against: str = "all", columns: int = 1) -> Figure:
    """Risk of the operating point: how much of what is accepted is wrong, at each fraction of knowns accepted.

    Lines are all errors together; of the first model the part that is due to accepted open-set samples is shaded.
    """
    _need(curves)
    name_of_first, first = next(iter(curves.items()))
    accepted = f"accepted {_called(against)}"
    with plot_style():
        figure, (axis,) = panels(columns=columns)
        lines = [
            axis.plot(curve.acceptance, curve.unknown + curve.misclassified, label=plain(name), **line_style(place))[0]
            for place, (name, curve) in enumerate(curves.items())
        ]
        shade = axis.fill_between(
            first.acceptance,
            first.misclassified,
            first.unknown + first.misclassified,
            color=line_style(0)["color"],
            alpha=0.15,
            linewidth=0,
            label=f"{accepted}, {plain(name_of_first, 20)}" if len(curves) > 1 else accepted,
        )
        # With hardly anything accepted one error is a large fraction, which would press the rest of the curve flat.
        settled = [(c.unknown + c.misclassified)[c.acceptance >= 0.05].max() for c in curves.values()]
        axis.set_xlim(0, 1)
        axis.set_ylim(0, min(1.0, max(1.2 * max(settled), 0.01)))
        percent_axes(axis)
        axis.set_xlabel("knowns accepted")
        axis.set_ylabel(f"errors among accepted\n({first.unknown_share:.0%} {_called(against)} arriving)")
        legend(axis, [*lines, shade], loc="upper left")
    return figure


def _unit(axis: Axes) -> None:
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    percent_axes(axis)


def _called(part: str) -> str:
    return plain(open_set(part))


def _need(items: Mapping[str, object] | Sequence[object]) -> None:
    if not items:
        raise OpenSetError("There is nothing to draw: give at least one curve.")
