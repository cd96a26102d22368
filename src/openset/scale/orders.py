"""Orders that the samples inside bins may have: the best and the worst one bound every metric."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.cells import CellCounts
from openset._core.checks import Bools
from openset._core.folds import Fold
from openset._core.kinds import FIRST_OPEN, RIGHT, WRONG, OpenKind, chosen_kinds
from openset.scale.counting import Counted, Plan

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Order:
    """Accepted samples along one order: see `ordered`."""

    states: Ints
    tied: Bools
    kinds: tuple[OpenKind, ...]
    class_totals: Ints

    def against(self, against: str) -> CellCounts:
        """Counts along the order."""
        chosen, n_classes = chosen_kinds(self.kinds, against), len(self.class_totals)
        return CellCounts(self.states, chosen, self.class_totals, n_classes, self.tied)


@dataclass(frozen=True, eq=False)
class Orders:
    """The best and the worst possible order of the samples inside the bins."""

    best: Order
    worst: Order

    @classmethod
    def of(cls, counted: Counted, plan: Plan, *, per_class: bool, predicted: bool) -> "Orders":
        """Of all samples.

        `per_class`: with counts of every class, in coarse bins. Not `predicted`: right and misclassified knowns are
        alike.
        """
        counts = counted.classes if per_class else counted.fine[:, :, None]
        tied = counted.coarse_tied(plan) if per_class else counted.tied
        if not predicted:
            counts = counts.copy()
            counts[:, RIGHT] += counts[:, WRONG]
            counts[:, WRONG] = 0
        used = counts.any(axis=(1, 2))
        return cls(*(_order(counted, counts[used], tied[used], best=best) for best in (True, False)))

    def against(self, against: str) -> tuple[CellCounts, CellCounts]:
        """Counts along the best and along the worst order."""
        return self.best.against(against), self.worst.against(against)


def _order(counted: Counted, counts: Ints, tied: Bools, *, best: bool) -> Order:
    return Order(ordered(counts, tied, best=best), np.repeat(tied, 3), counted.kinds, counted.class_totals)


def ordered(counts: Ints, tied: Bools, *, best: bool) -> Ints:
    """(3 bins + 1, kinds, K) accepted samples, where a bin is passed in three steps.

    At best correct knowns come first, then wrong ones, then open-set samples; at worst the other way round. In a bin of
    one score all come together, at the third step.
    """
    n, n_kinds, n_classes = counts.shape
    steps = np.zeros((n, 3, n_kinds, n_classes), dtype=np.int64)
    blocks = [slice(RIGHT, WRONG), slice(WRONG, FIRST_OPEN), slice(FIRST_OPEN, None)]
    for place, block in enumerate(blocks if best else blocks[::-1]):
        steps[~tied, place, block] = counts[~tied, block]
    steps[tied, 2] = counts[tied]
    states = np.zeros((3 * n + 1, n_kinds, n_classes), dtype=np.int64)
    np.cumsum(steps.reshape(3 * n, n_kinds, n_classes), axis=0, out=states[1:])
    return states


def live_ranges(counted: Counted, plan: Plan, asked: Sequence[tuple[Fold, str]], starts: Ints) -> Bools:
    """(ranges, folds) whether a range of bins can matter to a fold; `starts`: first bin of each, and how many bins."""
    used = counted.classes.any(axis=(1, 2))
    best = _order(counted, counted.classes[used], counted.coarse_tied(plan)[used], best=True)
    found = np.zeros((len(starts) - 1, len(asked)), dtype=np.bool_)
    for against in dict.fromkeys(against for _, against in asked):
        counts = best.against(against)
        for place, (fold, where) in enumerate(asked):
            if where == against:
                coarse = np.zeros(plan.n_coarse, dtype=np.bool_)
                coarse[used] = fold.live(counts)
                found[:, place] = np.logical_or.reduceat(coarse[plan.coarse], starts[:-1])
    return found
