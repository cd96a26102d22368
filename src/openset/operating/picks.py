"""Which threshold a rule chooses, as a fold: on counts in memory or on ranges of scores, with the same result."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Bools
from openset._core.counts import Tally
from openset._core.decisions import allowed_by, last_with
from openset._core.folds import Best, Fold

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Picked:
    """A threshold, and how many samples it accepts."""

    threshold: float
    """-inf: none."""
    right: int
    known: int
    open: int
    rank: float = 0.0
    """Of several runs of thresholds the one of the largest rank is chosen; of equal ones the first."""


@dataclass(frozen=True)
class Pick(Fold):
    """`at` tells which threshold of a run is chosen, if any, and its rank among those of other runs."""

    at: Callable[[Tally], tuple[int, float] | None] | None = None
    curve: Callable[[Tally], Array] | None = None
    """What it has the largest value of, where it is such a threshold: other bins need not be looked at."""

    def live(self, best: Any) -> Bools:
        """Where the largest value can be; anywhere, if the rule is not about one."""
        if self.curve is None:
            return super().live(best)
        return Best(per_class=self.per_class, curve=self.curve).live(best)

    def part(self, run: Tally) -> Picked | None:
        """The threshold that is chosen among those of a run."""
        assert self.at is not None
        found = self.at(run)
        if found is None:
            return None
        at, rank = found
        right, known, opened = (int(kind[at]) for kind in (run.right, run.known, run.open))
        return Picked(float(run.thresholds[at]), right, known, opened, rank)

    def join(self, parts: Sequence[Picked | None]) -> Picked | None:
        """The one of the largest rank, of equal ones the first; None: no threshold is large enough."""
        found = [one for one in parts if one is not None]
        return max(found, key=lambda one: one.rank) if found else None

    def picked(self, parts: Iterable[Picked | None]) -> Picked | None:
        """Of the parts of all runs."""
        return self.join(list(parts))


def reaching(needed: Callable[[Tally], int]) -> Pick:
    """The smallest threshold that accepts at least so many knowns."""

    def at(run: Tally) -> tuple[int, float] | None:
        found = int(np.searchsorted(run.known, needed(run), side="left"))
        return (found, 0.0) if found < len(run.known) else None

    return Pick(at=at)


def within(fpr: float) -> Pick:
    """The largest score whose threshold accepts at most a fraction `fpr` of the open-set samples."""

    def at(run: Tally) -> tuple[int, float] | None:
        last = int(last_with(run.open, allowed_by(fpr, run.n_open)))
        if last < 0:
            return None
        # Where other samples, which are not looked at, have scores, nothing changes: back to one that is.
        accepted = run.known[: last + 1] + run.open[: last + 1]
        return int(np.searchsorted(accepted, accepted[-1], side="left")), float(accepted[-1])

    return Pick(at=at)


def highest(curve: Callable[[Tally], Array], *, per_class: bool = False) -> Pick:
    """The smallest threshold of the largest value of a curve."""

    def at(run: Tally) -> tuple[int, float]:
        values = curve(run)
        found = int(values.argmax())
        return found, float(values[found])

    return Pick(per_class=per_class, at=at, curve=curve)


def _first_accepted(run: Tally) -> tuple[int, float] | None:
    accepted = run.known + run.open
    found = int(np.searchsorted(accepted, 0, side="right"))
    return (found, 0.0) if found < len(accepted) else None


FIRST = Pick(at=_first_accepted)
"""The lowest score."""
