"""Displays in the manner of scikit-learn: what an estimator does under open-set conditions, drawn in one call."""

from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from openset._core.annotations import ArrayLike
from openset.curves import OscrCurve, RocCurve, oscr_of, roc_curve, roc_of
from openset.estimator import scores_of
from openset.estimator.opened import Opened
from openset.operating import Threshold
from openset.present.plots.style import KINDS, percent_axes, plain
from openset.scores import Scores


@dataclass
class _Display:
    """What displays share: made from an estimator or from predictions, drawn on given axes or on new ones."""

    name: str | None
    ax_: Axes = field(init=False, repr=False)
    figure_: Figure | SubFigure | None = field(init=False, repr=False)

    def _axes(self, ax: Axes | None) -> Axes:
        if ax is None:
            from matplotlib import pyplot  # so that a notebook shows it

            _, ax = pyplot.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@dataclass
class OscrDisplay(_Display):
    """The OSCR curve: knowns accepted and correct (CCR) against open-set samples accepted (FPR), over all thresholds.

    `OscrDisplay.from_estimator(model, X, y)` or `.from_predictions(labels, predictions, unknown_score)`; labels that a
    model was not trained on are unknown. After `plot`, `ax_`, `figure_` and `line_` are what was drawn.

    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> display = OscrDisplay.from_predictions([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
    >>> display.line_.get_label()
    'OpenAUC 0.667'
    >>> mpl.pyplot.close(display.figure_)
    """

    curve: OscrCurve
    open_auc: float
    line_: Line2D = field(init=False, repr=False)

    @classmethod
    def of(cls, scores: Scores, *, against: str = "all", name: str | None = None) -> "OscrDisplay":
        """The display of scores, not drawn yet."""
        curve = oscr_of(scores.counts(against))
        return cls(name, curve, curve.area())

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: ArrayLike,
        *,
        score: str = "max_logit",
        against: str = "all",
        name: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> "OscrDisplay":
        """Draw it for a fitted classifier or pipeline; `score` is for one that has no unknown score of its own."""
        scores = scores_of(estimator, X, y, score=score)
        called = type(Opened.of(estimator, X[:1]).last).__name__ if name is None else name
        return cls.of(scores, against=against, name=called).plot(ax, **line)

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        predictions: ArrayLike,
        unknown_score: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        against: str = "all",
        name: str | None = None,
        ax: Axes | None = None,
        **line: Any,
    ) -> "OscrDisplay":
        """Draw it for labels (n,) that are negative for open-set samples, predicted classes (n,) and unknown scores."""
        scores = Scores(labels, predictions, unknown_score, groups=groups)
        return cls.of(scores, against=against, name=name).plot(ax, **line)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **line: Any) -> "OscrDisplay":
        """Draw the curve; `line` are options of matplotlib, such as `color`."""
        axes = self._axes(ax)
        called = name if name is not None else self.name
        label = f"OpenAUC {self.open_auc:.3f}"
        label = label if not called else f"{plain(called)} ({label})"
        (drawn,) = axes.plot(self.curve.fpr, self.curve.ccr, **{"label": label, **line})
        self.line_ = drawn
        axes.set(xlim=(0, 1), ylim=(0, 1.01), xlabel="open-set samples accepted (FPR)")
        axes.set_ylabel("knowns accepted and correct (CCR)")
        percent_axes(axes)
        axes.legend(loc="lower right")
        return self


@dataclass
class RejectionDisplay(_Display):
    """Fraction of knowns and of open-set samples that are rejected, at every threshold, with the chosen one marked.

    `RejectionDisplay.from_estimator(model, X, y)` or `.from_predictions(labels, unknown_score, threshold=0.5)`. After
    `plot`, `ax_`, `figure_`, `known_`, `open_` and `threshold_` (None without a threshold) are what was drawn.

    >>> import matplotlib as mpl
    >>> mpl.use("Agg")
    >>> display = RejectionDisplay.from_predictions([0, 0, -2, -2], [0.1, 0.4, 0.3, 0.9], threshold=0.4)
    >>> display.open_.get_ydata().tolist()
    [1.0, 0.5, 0.5, 0.0]
    >>> mpl.pyplot.close(display.figure_)
    """

    curve: RocCurve
    threshold: float | None = None
    known_: Line2D = field(init=False, repr=False)
    open_: Line2D = field(init=False, repr=False)
    threshold_: Line2D | None = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803
        y: ArrayLike,
        *,
        score: str = "max_logit",
        against: str = "all",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "RejectionDisplay":
        """Draw it for a fitted classifier or pipeline, with its threshold if it has been calibrated."""
        scores = scores_of(estimator, X, y, score=score)
        last = Opened.of(estimator, X[:1]).last
        frozen = getattr(last, "threshold_", None)
        value = frozen.value if isinstance(frozen, Threshold) and frozen.per_class is None else None
        called = type(last).__name__ if name is None else name
        return cls(called, roc_of(scores.counts(against)), value).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        unknown_score: ArrayLike,
        *,
        threshold: float | None = None,
        groups: ArrayLike | None = None,
        against: str = "all",
        name: str | None = None,
        ax: Axes | None = None,
    ) -> "RejectionDisplay":
        """Draw it for labels (n,) that are negative for open-set samples, and unknown scores (n,)."""
        curve = roc_curve(labels, unknown_score, against=against, groups=groups)
        return cls(name, curve, threshold).plot(ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> "RejectionDisplay":
        """Draw both fractions over the thresholds."""
        axes = self._axes(ax)
        called = name if name is not None else self.name
        thresholds = self.curve.thresholds[1:]  # before the first one everything is rejected
        drawn = []
        for kind, accepted in (("known", self.curve.tpr[1:]), ("unknown", self.curve.fpr[1:])):
            label = {"known": "knowns", "unknown": "open-set samples"}[kind]
            style: dict[str, Any] = {"color": KINDS[kind], "linestyle": "-" if kind == "known" else "--"}
            drawn += axes.plot(thresholds, 1 - accepted, label=label, drawstyle="steps-post", **style)
        self.known_, self.open_ = drawn
        self.threshold_ = None
        if self.threshold is not None:
            label = f"threshold {self.threshold:.4g}"
            self.threshold_ = axes.axvline(self.threshold, color="#555555", linestyle=":", label=label)
        axes.set(xlabel="threshold on the unknown score", ylabel="rejected", ylim=(-0.01, 1.01))
        if called:
            axes.set_title(plain(called))
        percent_axes(axes, x=False)
        axes.legend(loc="best")
        return self
