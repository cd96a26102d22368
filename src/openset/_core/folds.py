"""A metric as a fold: what each run of thresholds contributes, and how the contributions make the value.

The runs may be windows of counts in memory or ranges of scores that different machines count: contributions are whole
numbers, largest values or readings at one threshold, so the value is the same to the last bit in either case.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.counts import Tally, Window
from openset._core.decisions import index_at

Array = NDArray[np.float64]


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

    def whole(self, parts: Iterable[int], counts: Tally) -> float:
        """One division."""
        assert self.value is not None
        return self.value(sum(parts), counts)


@dataclass(frozen=True)
class Best(Fold):
    """The largest value of a curve."""

    curve: Callable[[Tally], Array] | None = None

    def part(self, run: Tally) -> float:
        """The largest of one run."""
        assert self.curve is not None
        return float(self.curve(run).max())

    def whole(self, parts: Iterable[float], counts: Tally) -> float:
        """The largest of all."""
        return max(parts)


@dataclass(frozen=True)
class Reading(Fold):
    """A value read off at one threshold: `place` says which one of a run it is; None: it is in no, or in another run.

    Of several runs that have one, the last is meant, or the first.
    """

    place: Callable[[Tally], int | None] | None = None
    read: Callable[[Tally, int], float] | None = None
    first: bool = False

    def part(self, run: Tally) -> float | None:
        """The value, if the threshold is in this run."""
        assert self.place is not None
        assert self.read is not None
        at = self.place(run)
        return None if at is None else float(self.read(run, at))

    def whole(self, parts: Iterable[float | None], counts: Tally) -> float:
        """That of the last, or the first, run."""
        found = [one for one in parts if one is not None]
        return found[0 if self.first else -1]


@dataclass(frozen=True)
class Several(Fold):
    """A value made of more than one thing."""

    gather: Callable[[Tally], Any] | None = None
    value: Callable[[Sequence[Any], Tally], float] | None = None

    def part(self, run: Tally) -> Any:
        """Whatever `gather` finds."""
        assert self.gather is not None
        return self.gather(run)

    def whole(self, parts: Iterable[Any], counts: Tally) -> float:
        """What `value` makes of it."""
        assert self.value is not None
        return self.value(list(parts), counts)


def at_end(run: Tally) -> int:
    """The last threshold: everything is accepted."""
    return len(run.open) - 1


def at_threshold(threshold: float) -> Callable[[Tally], int | None]:
    """The one that decides as `threshold` does."""

    def place(run: Tally) -> int | None:
        at = int(index_at(run.thresholds, threshold))
        return at if at >= 0 else None

    return place


def up_to(counts: str, allowed: Callable[[Tally], float]) -> Callable[[Tally], int | None]:
    """The last one at which no more than `allowed` of the named counts are accepted."""

    def place(run: Tally) -> int | None:
        at = int(np.searchsorted(getattr(run, counts), allowed(run), side="right")) - 1
        return at if at >= 0 else None

    return place


def reaching(counts: str, needed: Callable[[Tally], float]) -> Callable[[Tally], int | None]:
    """The first one at which at least `needed` of the named counts are accepted."""

    def place(run: Tally) -> int | None:
        at = int(np.searchsorted(getattr(run, counts), needed(run), side="left"))
        return at if at < len(run.open) else None

    return place


def point_of(curve: Callable[[Tally], Array]) -> Callable[[Tally, int], float]:
    """The value of a curve at one threshold."""
    return lambda run, at: float(curve(Window(run, at, at + 1))[0])


def fold_all(folds: Sequence[Fold], runs: Iterable[Tally]) -> list[list[Any]]:
    """What each run contributes to each fold, so that a run is needed once."""
    return [[fold.part(run) for fold in folds] for run in runs]
