"""Distributions of scores."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from openset.errors import OpenSetError
from openset.present.plots.style import DASHES, KINDS, panels, percent_axes, plain, plot_style
from openset.results.views import Histogram


def score_histograms(histograms: Mapping[str, Histogram], *, columns: int | None = None) -> Figure:
    """One panel per model: scores of knowns, negatives and unknowns (ImageNet protocols, Fig. 4).

    With `probability_histogram` knowns show the probability of their true class, the others their largest one.
    """
    if not histograms:
        raise OpenSetError("There is nothing to draw: give at least one histogram.")
    per_row = min(3, len(histograms))
    rows = -(-len(histograms) // per_row)
    with plot_style():
        figure, axes = panels(per_row, columns=columns or (1 if per_row == 1 else 2), rows=rows)
        for axis in axes[len(histograms) :]:
            axis.set_visible(False)
        for axis, (name, found) in zip(axes, histograms.items(), strict=False):
            for place, (kind, shares) in enumerate(found.shares.items()):
                look_of = {"color": KINDS[kind], "linestyle": DASHES[place]}
                axis.stairs(shares, found.edges, label=kind, linewidth=1.2, **look_of)
                axis.stairs(shares, found.edges, fill=True, color=KINDS[kind], alpha=0.15)
            axis.set_title(plain(name))
            axis.set_xlabel(found.quantity)
            axis.set_ylim(bottom=0)
            percent_axes(axis, x=False)
        axes[0].set_ylabel("fraction of the kind")
        # One panel may show a kind that another lacks.
        shown = {
            label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        kinds = [kind for kind in KINDS if kind in shown]
        handles = [shown[kind] for kind in kinds]
        figure.legend(handles, kinds, loc="outside upper center", ncols=3, handlelength=2.2)
    return figure
