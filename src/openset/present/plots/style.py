"""One look for all figures: sizes that fit a column, colours and dashes that survive grey print, safe files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from openset._io.atomic import replacing
from openset.errors import OpenSetError

ONE_COLUMN, TWO_COLUMNS = 3.35, 6.9
"""Widths in inches, as in the two-column styles of the field."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A4FB0", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1)), (0, (1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
KINDS = {"known": "#0072B2", "negative": "#E69F00", "unknown": "#D55E00"}
GREY = "#9AA3AD"

_RC: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # letters stay letters, which publishers ask for
    "savefig.dpi": 300,
    # Names may be in any script: the first font that has a letter draws it.
    "font.family": ["DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Arial Unicode MS", "Unifont"],
}


@contextmanager
def plot_style() -> Iterator[None]:
    """The look, for as long as a figure is made; a user's own settings are not touched."""
    with mpl.rc_context(), _quiet_fonts():
        mpl.rcParams.update(_RC)
        yield


@contextmanager
def _quiet_fonts() -> Iterator[None]:
    """A font or letter that this machine lacks shows as a box, and is no reason for alarm."""
    import logging
    import warnings

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            yield
    finally:
        logger.setLevel(level)


def panels(
    n: int = 1, *, columns: int = 1, height: float | None = None, rows: int = 1, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of one or two columns' width with `rows` x `n` panels; not known to pyplot, so nothing piles up."""
    width = ONE_COLUMN if columns == 1 else TWO_COLUMNS
    figure = Figure(figsize=(width, height or rows * (width / n) * 0.78 + 0.1), layout="constrained")
    axes = figure.subplots(rows, n, squeeze=False, sharey=share_y)
    return figure, list(axes.ravel())


def plain(name: str, limit: int = 40) -> str:
    """A name as text: never read as a formula, never longer than a figure can bear."""
    short = name if len(name) <= limit else name[: limit - 1] + "…"
    return short.replace("$", r"\$")


def line_style(place: int) -> dict[str, Any]:
    """Colour and dash of the n-th line; lines beyond the palette are thin and grey."""
    if place >= len(COLOURS):
        return {"color": GREY, "linewidth": 0.6, "zorder": 1}
    return {"color": COLOURS[place], "linestyle": DASHES[place % len(DASHES)], "zorder": 3}


def legend(axis: Axes, handles: Sequence[Artist], **options: Any) -> None:
    """A legend of these lines and areas, with at most as many entries as there are colours."""
    labels = [str(handle.get_label()) for handle in handles]
    if len(handles) > len(COLOURS):
        hidden = len(handles) - len(COLOURS)
        handles, labels = handles[: len(COLOURS) + 1], [*labels[: len(COLOURS)], f"{hidden} more"]
    made = axis.legend(handles, [""] * len(handles), handlelength=2.6, **options)
    # Only now, because matplotlib leaves out what begins with an underscore, as a name may.
    for words, label in zip(made.get_texts(), labels, strict=True):
        words.set_text(label)


def percent_axes(axis: Axes, *, x: bool = True, y: bool = True) -> None:
    """Shares read as percent."""
    if x:
        axis.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %", decimals=None))
    if y:
        axis.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %", decimals=None))


def save(figure: Figure, path: str | Path, *, formats: Sequence[str] = ("pdf", "png")) -> list[Path]:
    """Write the figure as `path` with each ending, whole or not at all; returns the files."""
    target = Path(path)
    written = []
    for kind in formats:
        file = target.with_name(f"{target.name}.{kind}")
        with plot_style(), replacing(file) as temporary:
            # Without a date, the same figure makes the same file.
            metadata = {"CreationDate": None} if kind == "pdf" else {"Date": None} if kind == "svg" else {}
            try:
                figure.savefig(temporary, format=kind, metadata=metadata)
            except ValueError as error:
                raise OpenSetError(f"Cannot draw {file}: {error}") from error
        written.append(file)
    return written
