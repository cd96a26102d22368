"""Every metric of rows that do not fit into memory: certified bounds in one pass, exact values in two."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import CellCounts, Cells, cell_ends, cells_for
from openset._core.checks import NEGATIVE, UNKNOWN, require_both
from openset._core.counts import Tally
from openset._core.folds import Fold, Reading
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, against_choices, chosen_kinds
from openset._core.resampling import Request, cell_values, spread_factor
from openset.errors import OpenSetError, check_choice
from openset.evaluation import Also, Evaluation, check_options, hints, requests_for, resamples_for, results_of
from openset.intervals import delong_fold, delong_interval, intervals_of
from openset.scale.counting import Counted, Plan
from openset.scale.engines import ENGINES, Engine
from openset.scale.orders import Orders, live_ranges
from openset.scale.passes import count_all, fold_all
from openset.scale.ranges import RANGE_ROWS, Ranges
from openset.scale.source import Source
from openset.scale.store import Store

Array = NDArray[np.float64]
Mode = Literal["bounds", "exact"]
_ROUNDING = 2.0**-46
"""More than what sums and quotients are rounded by."""
MOST_EXACT = 100_000_000
"""Up to so many rows values are exact unless bounds are asked for: it takes about four times as long."""


def mode_for(n_rows: int) -> Mode:
    """Exact values, or bounds where there are very many rows."""
    return "exact" if n_rows <= MOST_EXACT else "bounds"


def steps_for(mode: Mode) -> int:
    """How often every row is worked on, for a bar of progress."""
    return 3 if mode == "exact" else 1


def evaluate_source(
    source: Source,
    *,
    against: str | Sequence[str] | None = None,
    also: Iterable[Also] = (),
    mode: Mode | None = None,
    intervals: bool = True,
    n_resamples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    engine: str = "local",
    workers: int | None = None,
    temp: Path | None = None,
    progress: Callable[[int], object] | None = None,
    range_rows: int = RANGE_ROWS,
) -> Evaluation:
    """What `openset.evaluate` gives for the same rows, from files of any size.

    "exact" gives the same values and intervals as in memory, to the last bit, whatever the engine, the number of
    workers and the order of the files; it writes 8 bytes for each row to `temp`. "bounds" reads the rows once and
    tells between which two values each metric lies, for certain.
    """
    check_options(against, n_resamples, level)
    mode = mode or mode_for(source.n_rows)
    check_choice("evaluate", "mode", mode, ("bounds", "exact"))
    advance = progress or (lambda _: None)
    with ExitStack() as stack:
        store = stack.enter_context(Store(source, temp))
        runner = stack.enter_context(ENGINES[engine](workers))
        plan, counted = count_all(source, runner, store, advance)
        counted = counted.settled(0 if source.class_names is None else len(source.class_names))
        return evaluate_counted(
            source,
            plan,
            counted,
            runner,
            store,
            against=against,
            also=also,
            mode=mode,
            intervals=intervals,
            n_resamples=n_resamples,
            level=level,
            seed=seed,
            progress=advance,
            range_rows=range_rows,
        )


def evaluate_counted(
    source: Source,
    plan: Plan,
    counted: Counted,
    runner: Engine,
    store: Store,
    *,
    against: str | Sequence[str] | None,
    also: Iterable[Also],
    mode: Mode,
    intervals: bool,
    n_resamples: int | None,
    level: float,
    seed: int,
    progress: Callable[[int], object],
    range_rows: int,
) -> Evaluation:
    """`evaluate_source` where the first pass is done."""
    asked = _Asked.of(counted, against, also, mode)
    passed = None
    if intervals and mode == "exact":
        passed = cell_ends(counted.n_rows, cells_for(counted.n_classes, FIRST_OPEN + len(counted.kinds)))
    if mode == "bounds":
        measured = _bounds(asked, counted, plan, intervals=intervals)
    else:
        ranges = Ranges.planned(counted, plan, counted.n_classes, range_rows)
        live = live_ranges(counted, plan, asked.everything, ranges.starts)
        parts, cells = fold_all(source, runner, store, ranges, counted, asked.everything, live, passed, progress)
        measured = _exact(asked, counted, parts, cells)
    n_resamples = resamples_for(counted.n_rows) if n_resamples is None else n_resamples
    spans: list[tuple[float | None, float | None]] = [(None, None)] * len(asked.requests)
    if intervals:
        spans = _intervals(asked, measured, counted, n_resamples=n_resamples, level=level, seed=seed)
    results = results_of(asked.requests, measured.values.tolist(), spans, measured.bounds)
    return Evaluation(
        results=results,
        against=tuple(asked.chosen),
        notes=(*asked.notes, *_notes(results, measured, counted, source.meta)),
        n_known=int(counted.class_totals.sum()),
        n_negative=counted.total(NEGATIVE),
        n_unknown=counted.total(UNKNOWN),
        n_classes=counted.n_classes,
        tied_pairs=measured.tied,
        fingerprint=counted.fingerprint(plan),
        level=level,
        n_resamples=n_resamples if intervals else 0,
        seed=seed,
        meta=source.meta,
    )


@dataclass(frozen=True)
class _Totals(Tally):
    """How many samples there are; all that a fold needs at the end."""

    n_known: float
    n_open: float
    n_classes: int

    @property
    def n_samples(self) -> float:
        """All samples."""
        return self.n_known + self.n_open


@dataclass(frozen=True)
class _Asked:
    """What is to be computed."""

    requests: list[Request]
    folds: list[Fold]
    chosen: list[str]
    totals: dict[str, _Totals]
    notes: list[str]

    @classmethod
    def of(cls, counted: Counted, against: str | Sequence[str] | None, also: Iterable[Also], mode: Mode) -> "_Asked":
        """Every metric that counts tell; one that they do not is left out, unless it is asked for by name."""
        given = [against] if isinstance(against, str) else list(against or against_choices(counted.kinds))
        chosen = list(dict.fromkeys(given))
        wanted = list(also)
        requests = requests_for(chosen, wanted, probabilities=False)
        named = {name for name, _, _ in wanted}
        without = list(dict.fromkeys(r.metric.name for r in requests if r.metric.fold is None))
        refused = next((name for name in without if name in named), None)
        if refused is not None:
            raise OpenSetError(
                f"{refused} needs all rows in memory: evaluate fewer rows, in one file, for this metric."
            )
        kept = [(r, r.metric.fold(**r.params)) for r in requests if r.metric.fold is not None]
        for request, fold in kept:
            if mode == "bounds" and isinstance(fold, Reading) and fold.place is not None and fold.place.named:
                raise OpenSetError(
                    f"{request.metric.name} at a threshold of your own has no bounds: use --exact for it."
                )
        totals = {part: _total(counted, part) for part in dict.fromkeys(r.against for r, _ in kept)}
        notes = [f"Left out, for they need all rows in memory: {', '.join(without)}."] if without else []
        return cls([r for r, _ in kept], [fold for _, fold in kept], chosen, totals, notes)

    @cached_property
    def delong(self) -> dict[int, tuple[Fold, str]]:
        """By place of a request, what DeLong's interval takes."""
        return {
            place: (delong_fold(right=request.metric.uses_predictions), request.against)
            for place, request in enumerate(self.requests)
            if request.metric.has_delong(request.params)
        }

    @cached_property
    def own(self) -> list[tuple[Fold, str]]:
        """The folds of the requests."""
        return [(fold, request.against) for fold, request in zip(self.folds, self.requests, strict=True)]

    @cached_property
    def everything(self) -> list[tuple[Fold, str]]:
        """The folds of the requests, those of DeLong's intervals, and the tied pairs."""
        return [*self.own, *self.delong.values(), (_tied_fold(), self.chosen[0])]


def _total(counted: Counted, against: str) -> _Totals:
    chosen = chosen_kinds(counted.kinds, against)
    n_known = int(counted.class_totals.sum())
    n_open = int(counted.fine[:, FIRST_OPEN:][:, chosen].sum())
    require_both(n_known, n_open, against)
    return _Totals(n_known, n_open, counted.n_classes)


def _tied_fold() -> Fold:
    from openset._core.arithmetic import whole_dot
    from openset._core.folds import Sum

    return Sum(
        term=lambda run: whole_dot(np.diff(run.open), np.diff(run.known)),
        value=lambda total, all_of: total / (int(all_of.n_known) * int(all_of.n_open)),
    )


@dataclass(frozen=True)
class _Measured:
    """Values, what they are certain to lie between, variances for DeLong, and cells for resamples."""

    values: Array
    bounds: list[tuple[float, float]] | None
    variances: dict[int, float]
    tied: float
    cells: Cells | None


def _exact(asked: _Asked, counted: Counted, parts: Sequence[Sequence[Any]], cells: Cells | None) -> _Measured:
    found = []
    for place, (fold, against) in enumerate(asked.everything):
        own = [one[place] for one in parts if one[place] is not None]
        found.append(fold.whole(own, asked.totals[against]))
    n = len(asked.requests)
    variances = dict(zip(asked.delong, found[n:-1], strict=True))
    return _Measured(np.array(found[:n]), None, variances, found[-1], cells)


def _bounds(asked: _Asked, counted: Counted, plan: Plan, *, intervals: bool) -> _Measured:
    orders: dict[tuple[bool, bool], Orders] = {}
    made: dict[tuple[str, bool, bool], tuple[CellCounts, CellCounts]] = {}
    found = []
    for request, fold in zip(asked.requests, asked.folds, strict=True):
        sort = fold.per_class, request.metric.uses_predictions
        if sort not in orders:
            orders[sort] = Orders.of(counted, plan, per_class=sort[0], predicted=sort[1])
        key = (request.against, *sort)
        if key not in made:
            made = {one: counts for one, counts in made.items() if one[0] == request.against}  # the others are done
            made[key] = orders[sort].against(request.against)
        found.append(_outwards(fold.within(*made[key]), request.metric.span, same=fold.bounds is None))
    tallies = {against: _as_tied(counted, against) for against in asked.totals}
    variances = {place: fold(tallies[against]) for place, (fold, against) in asked.delong.items()}
    sure = counted.fine * counted.tied[:, None]
    opened = sure[:, FIRST_OPEN:][:, chosen_kinds(counted.kinds, asked.chosen[0])].sum(axis=1)
    totals = asked.totals[asked.chosen[0]]
    pairs = sum(int(a) * int(b) for a, b in zip(sure[:, RIGHT] + sure[:, WRONG], opened, strict=True) if a and b)
    tied = pairs / (int(totals.n_known) * int(totals.n_open))
    values = np.array([(least + most) / 2 for least, most in found])
    return _Measured(values, found, variances, tied, counted.cells(plan) if intervals else None)


def _outwards(bounds: tuple[float, float], span: tuple[float, float], *, same: bool) -> tuple[float, float]:
    """Bounds that also hold for a value that is rounded otherwise; none lies outside the metric's range.

    `same`: they are computed as the value is.
    """
    least, most = bounds
    if least == most and same:  # the order of samples does not matter, and both are the value
        return bounds
    return max(least - _ROUNDING, span[0]), min(most + _ROUNDING, span[1])


def _as_tied(counted: Counted, against: str) -> CellCounts:
    """Counts at the ends of bins."""
    states = np.zeros((len(counted.fine) + 1, counted.fine.shape[1], 1), dtype=np.int64)
    np.cumsum(counted.fine[:, :, None], axis=0, out=states[1:])
    chosen = chosen_kinds(counted.kinds, against)
    return CellCounts(states, chosen, counted.class_totals, counted.n_classes, np.ones(len(states) - 1, dtype=np.bool_))


def _intervals(
    asked: _Asked, measured: _Measured, counted: Counted, *, n_resamples: int, level: float, seed: int
) -> list[tuple[float | None, float | None]]:
    assert measured.cells is not None
    changes = cell_values(measured.cells, asked.own, n_resamples=n_resamples, seed=seed)
    known = int(counted.class_totals.sum()), int(np.count_nonzero(counted.class_totals))
    lost = []
    for request in asked.requests:
        sizes = [known]
        if request.metric.sees_open_set:
            chosen = chosen_kinds(counted.kinds, request.against)
            sizes.append((int(asked.totals[request.against].n_open), int(chosen.sum())))
        lost.append(spread_factor(sizes))
    found = intervals_of(
        asked.requests,
        measured.values,
        measured.values + changes,
        level,
        lost=np.array(lost),
        sizes=counted.class_totals,
        n_open={part: int(totals.n_open) for part, totals in asked.totals.items()},
    )
    spans: list[tuple[float | None, float | None]] = [(one.low, one.high) for one in found]
    for place, (_, against) in asked.delong.items():
        value = float(measured.values[place])
        one = delong_interval(value, measured.variances[place], asked.totals[against], level=level)
        spans[place] = (one.low, one.high)
    return spans


def _notes(results: Any, measured: _Measured, counted: Counted, meta: Mapping[str, Any]) -> list[str]:
    used = np.flatnonzero(counted.fine.any(axis=1))
    return hints(
        (),
        results,
        measured.tied,
        meta=meta,
        constant=len(used) == 1 and bool(counted.tied[used[0]]),
        n_classes=counted.n_classes,
        n_present=int(np.count_nonzero(counted.class_totals)),
    )
