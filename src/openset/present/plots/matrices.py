"""Confusion, readable from 2 to some hundred classes."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from openset.metrics import ConfusionMatrix
from openset.present.plots.style import ONE_COLUMN, TWO_COLUMNS, plain, plot_style

_ALL_NAMES = 60  # up to here every class is named; beyond, every n-th
_NUMBERS = 12  # up to here cells show their fraction


def confusion(matrix: ConfusionMatrix, *, columns: int | None = None) -> Figure:
    """Fraction of each true class (rows) by decision (columns); a line divides knowns from open-set classes.

    Few classes show numbers; many are named at intervals, so that 150 classes still fit on a page.
    """
    wide = len(matrix.columns) > _NUMBERS if columns is None else columns == 2
    width = TWO_COLUMNS if wide else ONE_COLUMN
    with plot_style():
        figure = Figure(figsize=(width, _height(matrix.shares.shape, width)), layout="constrained")
        axis = figure.subplots()
        # The square root keeps rare confusions visible beside the diagonal.
        draw_matrix(axis, matrix.shares, matrix.rows, matrix.columns, matrix.n_classes, norm=PowerNorm(0.5, 0, 1))
        axis.axhline(matrix.n_classes - 0.5, color="#333333", linewidth=0.7)
        axis.set_xlabel(f"decision at threshold {matrix.threshold:.4g}")
        axis.set_ylabel("true class")
    return figure


def _height(shape: tuple[int, ...], width: float) -> float:
    return float(np.clip(width * shape[0] / shape[1], 1.8, 9.0))


def draw_matrix(
    axis: Axes,
    cells: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    split: int,
    *,
    norm: Normalize,
    number: Callable[[float], str] = lambda share: f"{100 * share:.0f}" if share >= 0.005 else "",
) -> AxesImage:
    """Cells as shades of one colour, which print well in grey, with a line after `split` columns."""
    axis.grid(visible=False)
    picture = axis.imshow(cells, cmap="Blues", norm=norm, aspect="auto", interpolation="none")
    small = 7 if max(cells.shape) <= _NUMBERS else 5
    _name(axis, "x", columns, small)
    _name(axis, "y", rows, small)
    axis.axvline(split - 0.5, color="#333333", linewidth=0.7)
    if len(columns) <= _NUMBERS:
        for (row, column), cell in np.ndenumerate(cells):
            colour = "white" if norm(cell) > 0.6 else "black"
            axis.text(column, row, number(cell), ha="center", va="center", fontsize=6, color=colour)
    return picture


def _name(axis: Axes, which: str, names: Sequence[str], size: float) -> None:
    every = 1 if len(names) <= _ALL_NAMES else -(-len(names) // _ALL_NAMES)
    places = sorted({*range(0, len(names), every), len(names) - 1})
    places = [p for p in places if p == len(names) - 1 or len(names) - 1 - p >= every / 2]
    labels = [plain(names[place], 18) for place in places]
    if which == "x":
        axis.set_xticks(places, labels, rotation=90, fontsize=size)
    else:
        axis.set_yticks(places, labels, fontsize=size)
    axis.tick_params(axis=which, length=1.5, width=0.4)  # type: ignore[arg-type]
