"""A metric as a fold: what each run of thresholds contributes, and how the contributions make the value.

The runs may be windows of counts in memory or ranges of scores that different machines count: contributions are whole
numbers, largest values or readings at one threshold, so the value is the same to the last bit in either case.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Bools
from openset._core.counts import Tally, Window
from openset._core.decisions import index_at, last_with

Array = NDArray[np.float64]
_MARGIN = 1e-9  # more than values can be rounded by


@dataclass(frozen=True)
class Fold:
    """A metric with its options. Runs of thresholds come in order, each beginning with the last one of the run before.

    `per_class`: whether it needs counts of every class, not only of all knowns and open-set samples.
    `bounds`: its least and largest possible value where only counts per bin of scores are known, from the best and the
    worst order of the samples inside the bins; None: its values for these two orders.
    """

    per_class: bool = False
    bounds: Callable[[Any, Any], tuple[float, float]] | None = None

    def part(self, run: Tally) -> Any:
        """What a run contributes."""
        raise NotImplementedError

    def whole(self, parts: Iterable[Any], counts: Tally) -> float:
        """The value, from the contributions of all runs; `counts` says how many samples there are."""
        raise NotImplementedError

    def __call__(self, counts: Tally) -> float:
        """The value of counts in memory."""
        return self.whole([self.part(run) for run in counts.windows()], counts)

    def between(self, counts: Any) -> float:
        """The value of counts in cells of neighbouring scores, as `openset._core.cells` makes them."""
        return self(counts)

    def join(self, parts: Sequence[Any]) -> Any:
        """The contribution of several neighbouring runs together."""
        raise NotImplementedError

    def live(self, best: Any) -> Bools:
        """In which bins the value may be decided; `best`: counts along the best order of the samples inside the bins.

        Contributions of thresholds in other bins are not needed.
        """
        return np.ones(len(best.tied_steps) // 3, dtype=np.bool_)

    def within(self, best: Any, worst: Any) -> tuple[float, float]:
        """Least and largest possible value; for the arguments see `openset.scale.orders`."""
        if self.bounds is not None:
            return self.bounds(best, worst)
        low, high = sorted((self(worst), self(best)))
        return low, high


@dataclass(frozen=True)
class Sum(Fold):
    """A sum over thresholds, in whole numbers, of which the value is made at the end."""

    term: Callable[[Tally], int] | None = None
    value: Callable[[int, Tally], float] | None = None

    def part(self, run: Tally) -> int:
        """The sum over one run."""
        assert self.term is not None
        return self.term(run)

    def join(self, parts: Sequence[int]) -> int:
        """Their sum."""
        return sum(parts)

    def whole(self, parts: Iterable[int], counts: Tally) -> float:
        """One division."""
        assert self.value is not None
        return self.value(sum(parts), counts)


@dataclass(frozen=True)
class Best(Fold):
    """The largest value of a curve."""

    curve: Callable[[Tally], Array] | None = None

    def live(self, best: Any) -> Bools:
        """Where the best order reaches what some end of a bin has for certain."""
        assert self.curve is not None
        values = self.curve(best)
        most = np.maximum.reduce([values[step : len(values) - 3 + step : 3] for step in range(4)])
        return np.asarray(most >= values[::3].max() - _MARGIN)

    def part(self, run: Tally) -> float:
        """The largest of one run."""
        assert self.curve is not None
        return float(self.curve(run).max())

    def join(self, parts: Sequence[float]) -> float:
        """The largest."""
        return max(parts)

    def whole(self, parts: Iterable[float], counts: Tally) -> float:
        """The largest of all."""
        return max(parts)


@dataclass(frozen=True)
class Place:
    """A threshold: which one of a run it is; None: it is in no, or in another run.

    Of several runs that have one, the last is meant, or the first. Where it is told by the number of accepted samples
    of some sort, `sort` names it and `level` says how many.
    """

    at: Callable[[Tally], int | None]
    first: bool = False
    named: bool = False
    """Whether the user named the threshold itself: it may lie inside a bin."""
    sort: str = ""
    level: Callable[[Tally], float] | None = None


@dataclass(frozen=True)
class Reading(Fold):
    """A value read off at one threshold."""

    place: Place | None = None
    read: Callable[[Tally, int], float] | None = None

    def live(self, best: Any) -> Bools:
        """The bin in which the level is reached; anywhere, if the user named the threshold itself."""
        assert self.place is not None
        everywhere = super().live(best)
        if self.place.named:
            return everywhere
        at = self.place.at(best.at_ends())
        assert at is not None
        bins = np.arange(len(everywhere))
        return np.asarray(bins == np.clip(at - 1 if self.place.first else at, 0, bins[-1]))

    def part(self, run: Tally) -> float | None:
        """The value, if the threshold is in this run."""
        assert self.place is not None
        assert self.read is not None
        at = self.place.at(run)
        return None if at is None else float(self.read(run, at))

    def join(self, parts: Sequence[float | None]) -> float | None:
        """That of the last, or the first, run."""
        assert self.place is not None
        found = [one for one in parts if one is not None]
        return found[0 if self.place.first else -1] if found else None

    def whole(self, parts: Iterable[float | None], counts: Tally) -> float:
        """That of the last, or the first, run."""
        found = self.join(list(parts))
        assert found is not None
        return found

    def between(self, counts: Any) -> float:
        """The value where the level is reached inside a cell, on straight lines between its ends."""
        assert self.place is not None
        assert self.read is not None
        at = self.place.at(counts)
        assert at is not None
        if self.place.level is None:
            return float(self.read(counts, at))
        start = at - 1 if self.place.first else at
        sort = getattr(counts, self.place.sort)
        if not 0 <= start < len(sort) - 1 or counts.tied_steps[start]:
            return float(self.read(counts, at))
        whole = float(sort[start + 1] - sort[start])
        way = (self.place.level(counts) - float(sort[start])) / whole if whole else 0.0
        ends = float(self.read(counts, start)), float(self.read(counts, start + 1))
        return ends[0] + way * (ends[1] - ends[0])


@dataclass(frozen=True)
class Several(Fold):
    """A value made of more than one thing."""

    gather: Callable[[Tally], Any] | None = None
    joined: Callable[[Sequence[Any]], Any] | None = None
    value: Callable[[Any, Tally], float] | None = None

    def part(self, run: Tally) -> Any:
        """Whatever `gather` finds."""
        assert self.gather is not None
        return self.gather(run)

    def join(self, parts: Sequence[Any]) -> Any:
        """What `joined` makes of them."""
        assert self.joined is not None
        return self.joined(parts)

    def whole(self, parts: Iterable[Any], counts: Tally) -> float:
        """What `value` makes of all that is joined."""
        assert self.value is not None
        return self.value(self.join(list(parts)), counts)


AT_END = Place(lambda run: len(run.open) - 1)
"""The last threshold: everything is accepted."""


def at_threshold(threshold: float) -> Place:
    """The one that decides as `threshold` does."""

    def place(run: Tally) -> int | None:
        at = int(index_at(run.thresholds, threshold))
        return at if at >= 0 else None

    return Place(place, named=True)


def up_to(sort: str, allowed: Callable[[Tally], float]) -> Place:
    """The last one at which no more than `allowed` of the named counts are accepted."""

    def place(run: Tally) -> int | None:
        at = int(last_with(getattr(run, sort), allowed(run)))
        return at if at >= 0 else None

    return Place(place, sort=sort, level=allowed)


def reaching(sort: str, needed: Callable[[Tally], float]) -> Place:
    """The first one at which at least `needed` of the named counts are accepted."""

    def place(run: Tally) -> int | None:
        at = int(np.searchsorted(getattr(run, sort), needed(run), side="left"))
        return at if at < len(run.open) else None

    return Place(place, first=True, sort=sort, level=needed)


def point_of(curve: Callable[[Tally], Array]) -> Callable[[Tally, int], float]:
    """The value of a curve at one threshold."""
    return lambda run, at: float(curve(Window(run, at, at + 1))[0])
