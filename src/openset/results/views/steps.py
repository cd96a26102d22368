"""The thresholds that a slider steps over, with every rate shown beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.arithmetic import divide
from openset._core.counts import Counts
from openset._core.decisions import index_at, precision_at_share
from openset.operating import choose
from openset.scores import Scores

Array = NDArray[np.float64]
MAX_STEPS = 1001
UNKNOWN_SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
MARKS = {
    "at_acceptance=0.95": "95 % of knowns accepted",
    "at_fpr=0.1": "10 % of open set accepted",
    "at_fpr=0.01": "1 % of open set accepted",
    "best_f=macro": "best F-score here",
}
"""Rules whose thresholds the slider names, and what it calls them; it begins at the first."""
FROZEN = "frozen"
"""The mark of a threshold that was chosen before."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Rates at some thresholds, from rejecting everything to accepting everything. All arrays run along them."""

    thresholds: Array
    """The first is -inf."""
    acceptance: Array
    """Fraction of knowns accepted."""
    ccr: Array
    """Fraction of knowns accepted and correct."""
    accuracy: Array
    """Accuracy on accepted knowns; NaN where none is accepted."""
    fpr: Mapping[str, Array]
    """Fraction of open-set samples accepted, for each `against`."""
    precision: Mapping[str, Array]
    """(shares, steps) fraction of accepted samples that are known, for each of `unknown_shares`; NaN if nothing is."""
    unknown_shares: tuple[float, ...]
    marks: Mapping[str, int]
    """Steps worth naming."""

    def __len__(self) -> int:
        return len(self.thresholds)


def steps_of(
    scores: Scores,
    *,
    against: Sequence[str] | None = None,
    n_steps: int = MAX_STEPS,
    unknown_shares: Sequence[float] = UNKNOWN_SHARES,
    frozen: float | None = None,
) -> Steps:
    """Up to `n_steps` thresholds, evenly spread along the ROC curve, so that no stretch of it is skipped.

    A `frozen` threshold becomes the mark "frozen": the step that accepts what it accepts.

    >>> steps = steps_of(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]))
    >>> steps.thresholds, steps.acceptance, steps.fpr["all"]
    (array([-inf,  0.1,  0.2,  0.3,  0.9]), array([0. , 0.5, 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 0.5, 1. ]))
    """
    parts = list(against or scores.against_choices())
    counts = scores.counts(parts[0])
    marks = {rule: counts.at(choose(scores, rule, against=parts[0]).value) for rule in MARKS}
    if frozen is not None:
        marks[FROZEN] = counts.at(frozen)
    chosen = _spread(counts, n_steps - len(set(marks.values())), sorted(marks.values()))
    thresholds = counts.thresholds[chosen]
    acceptance, ccr = counts.acceptance[chosen], counts.ccr[chosen]
    fpr, precision = {}, {}
    for part in parts:
        other = scores.counts(part)
        fpr[part] = other.fpr[index_at(other.thresholds, thresholds)]
        precision[part] = np.stack(
            [precision_at_share(acceptance, fpr[part], share, zero_division=np.nan) for share in unknown_shares]
        )
    return Steps(
        thresholds=thresholds.astype(np.float64),
        acceptance=acceptance,
        ccr=ccr,
        accuracy=divide(ccr, acceptance, np.nan),
        fpr=fpr,
        precision=precision,
        unknown_shares=tuple(unknown_shares),
        marks={name: int(np.searchsorted(chosen, at)) for name, at in marks.items()},
    )


def _spread(counts: Counts, n_steps: int, needed: Sequence[int]) -> NDArray[np.intp]:
    """Places evenly spread along acceptance + FPR, which runs from 0 to 2, and those that are needed."""
    way = counts.acceptance + counts.fpr
    if len(way) <= n_steps:
        return np.arange(len(way))
    even = np.searchsorted(way, np.linspace(0.0, way[-1], n_steps), side="right") - 1
    return np.unique(np.concatenate((even, needed)).astype(np.intp))
