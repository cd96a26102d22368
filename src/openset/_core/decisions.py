"""What a threshold decides: who is rejected, what ties count, which threshold meets a rate, what becomes of whom.

A sample is rejected at threshold `t` iff `unknown_score > t`, so samples with equal scores are decided together.
Everything that rejects, ranks with ties, looks for the threshold of a rate, or fills a confusion matrix asks here.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core.arithmetic import dot, whole_dot
from openset._core.checks import NEGATIVE, Bools, Floats, Ints
from openset.errors import check_choice

Array = NDArray[np.float64]
Ties = Literal["half", "strict", "full"]
_CREDIT = {"strict": 0, "half": 1, "full": 2}


# ---- rejected or not -------------------------------------------------------------------------------------------------


def as_precise(scores: Floats, threshold: ArrayLike) -> NDArray[Any]:
    """Thresholds in the precision of the scores: one that was stored as float64 still means its own float32."""
    with np.errstate(over="ignore"):  # the largest float64 is infinite to float32, and means the same
        return np.asarray(threshold).astype(scores.dtype)


def is_rejected(scores: Floats, threshold: ArrayLike) -> Bools:
    """Which samples are rejected at a threshold, one for all or one each: those whose unknown score is above it.

    >>> is_rejected(np.array([0.1, 0.3, 0.5]), 0.3)
    array([False, False,  True])
    """
    return np.asarray(scores > as_precise(scores, threshold))


def first_acceptance(scores: Floats, thresholds: ArrayLike) -> NDArray[np.intp]:
    """Which of the ascending `thresholds` is the first to accept each sample; their number where none does.

    >>> first_acceptance(np.array([0.1, 0.3, 0.5]), [0.2, 0.3])
    array([0, 1, 2])
    """
    return np.searchsorted(as_precise(scores, thresholds), scores, side="left")


def index_at(distinct: Floats, threshold: ArrayLike) -> NDArray[np.intp]:
    """Index, among ascending thresholds from -inf on, of the one that decides as `threshold` does.

    >>> index_at(np.array([-np.inf, 0.1, 0.3]), [0.0, 0.2, 0.3]).tolist()
    [0, 1, 2]
    """
    return np.asarray(np.searchsorted(distinct, as_precise(distinct, threshold), side="right") - 1)


# ---- ties ------------------------------------------------------------------------------------------------------------


def tie_credit(function: str, ties: str) -> int:
    """Credit of a tied pair in halves: 0 for "strict", 1 for "half", 2 for "full"."""
    return _CREDIT[check_choice(function, "ties", ties, _CREDIT)]


def area(steps: NDArray[Any], heights: NDArray[Any], credit: int = 1) -> float:
    """Sum of `steps`, each times the height before it (credit 0), after it (2), or the mean of the two (1).

    With steps in open-set samples and heights in knowns it counts pairs, a tied one with the credit of `tie_credit`.

    >>> [area(np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0]), credit) for credit in (0, 1, 2)]
    [2.0, 4.5, 7.0]
    """
    before = dot(steps, heights[:-1]) if credit < 2 else 0.0
    after = dot(steps, heights[1:]) if credit > 0 else 0.0
    return ((2 - credit) * before + credit * after) / 2


def twice_area(steps: NDArray[Any], heights: NDArray[Any], credit: int = 1) -> int:
    """Twice the `area` of whole numbers, as a whole number: pairs of samples, however many.

    >>> twice_area(np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    9
    """
    before = whole_dot(steps, heights[:-1]) if credit < 2 else 0
    after = whole_dot(steps, heights[1:]) if credit > 0 else 0
    return (2 - credit) * before + credit * after


def amid_ties(heights: NDArray[Any], scale: float = 1.0) -> Array:
    """Height that each step sees when ties count half: the mean of before and after, times `scale`."""
    mean = heights[:-1] + heights[1:]
    mean *= scale / 2
    return np.asarray(mean)


# ---- the threshold of a rate -----------------------------------------------------------------------------------------


def whole_number_for(share: float, total: float) -> int:
    """Smallest whole number m with m / total >= share, by the very division that is reported (0.07 of 100 is 7).

    >>> whole_number_for(0.07, 100), whole_number_for(0.5, 3)
    (7, 2)
    """
    m = int(share * total)
    while m / total < share:
        m += 1
    return m


def allowed_by(share: float, total: float) -> int:
    """Largest whole number m with m / total <= share.

    >>> allowed_by(0.07, 100), allowed_by(0.5, 3)
    (7, 1)
    """
    m = whole_number_for(share, total)
    return m if m / total <= share else m - 1


def last_with(accepted: NDArray[Any], allowed: ArrayLike) -> NDArray[np.intp]:
    """Index of the last threshold at which no more than `allowed` samples are accepted."""
    return np.asarray(np.searchsorted(accepted, allowed, side="right") - 1)


def last_within(accepted: NDArray[Any], total: float, share: float) -> int:
    """Index of the last threshold at which at most a fraction of `total` is accepted: FPR at most so much.

    >>> last_within(np.array([0, 0, 1, 2]), 2, 0.5)
    2
    """
    return int(last_with(accepted, allowed_by(share, total)))


def first_reaching(accepted: NDArray[Any], total: float, share: float) -> int:
    """Index of the first threshold at which at least a fraction of `total` is accepted: acceptance at least so much.

    >>> first_reaching(np.array([0, 0, 1, 2]), 2, 0.5)
    2
    """
    return int(np.searchsorted(accepted, whole_number_for(share, total), side="left"))


def last_catching(accepted: NDArray[Any], total: float, share: float) -> int:
    """Index of the last threshold at which at least a fraction of `total` is rejected: so many unknowns caught.

    >>> last_catching(np.array([0, 0, 1, 2]), 2, 0.5)
    2
    """
    return int(last_with(accepted, total - whole_number_for(share, total)))


# ---- an assumed fraction of unknowns ---------------------------------------------------------------------------------


def accepted_mix(acceptance: ArrayLike, fpr: ArrayLike, unknown_share: float) -> tuple[Array, Array]:
    """Parts of all that arrives in deployment which are accepted: of the knowns, and of the open set.

    Acceptance and FPR are those of a test set, whose own mix does not matter.
    """
    return (1 - unknown_share) * np.asarray(acceptance), unknown_share * np.asarray(fpr)


def precision_at_share(
    acceptance: ArrayLike,
    fpr: ArrayLike,
    unknown_share: float,
    *,
    hits: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> Array:
    """Fraction of accepted samples that are known, if a fraction `unknown_share` of what arrives is open-set.

    `hits` counts in place of `acceptance` in the numerator: with CCR the fraction that is known and correct. If nothing
    is accepted the value is `zero_division`.

    >>> precision_at_share([0.0, 1.0], [0.0, 0.5], 0.1).round(4)
    array([0.    , 0.9474])
    """
    knowns, unknowns = accepted_mix(acceptance, fpr, unknown_share)
    accepted = knowns + unknowns
    counted = knowns if hits is None else (1 - unknown_share) * np.asarray(hits)
    return np.divide(counted, accepted, out=np.full_like(accepted, zero_division), where=accepted > 0)


# ---- what becomes of each class --------------------------------------------------------------------------------------


def confusion_rows(label: Ints, open_classes: NDArray[Any] | None, n_classes: int) -> tuple[tuple[str, ...], Ints]:
    """Names of the open-set rows of a confusion matrix, and the row of each sample: its class, or one of those.

    An open-set sample belongs to its open-set class, where it has one, else to "negative" or "unknown".

    >>> confusion_rows(np.array([1, -1, -2]), np.array(["", "", "cat"]), 2)
    (('cat', 'negative'), array([1, 3, 2]))
    """
    is_open = label < 0
    kinds = np.where(label[is_open] == NEGATIVE, "negative", "unknown")
    if open_classes is not None:
        kinds = np.where(open_classes[is_open] == "", kinds, open_classes[is_open])
    names, place = np.unique(kinds, return_inverse=True)
    row = label.astype(np.int64)
    row[is_open] = n_classes + place
    return tuple(names.tolist()), row


def confusion_counts(
    row: Ints, prediction: Ints, level: Ints, *, n_rows: int, n_classes: int, n_levels: int
) -> NDArray[np.int64]:
    """(levels, rows, K + 1) samples by row and decision, rejection last, at each of `n_levels` ascending thresholds.

    `level` is the first threshold that accepts a sample, as `first_acceptance` tells.

    >>> confusion_counts(np.array([0, 1]), np.array([0, 0]), np.array([0, 1]), n_rows=2, n_classes=1, n_levels=1)
    array([[[1, 0],
            [0, 1]]])
    """
    width = n_classes + 1
    taken = level < n_levels
    cells = (level[taken] * n_rows + row[taken]) * width + prediction[taken]
    counts = np.bincount(cells, minlength=n_levels * n_rows * width).reshape(n_levels, n_rows, width)
    np.cumsum(counts, axis=0, out=counts)
    counts[:, :, n_classes] = np.bincount(row, minlength=n_rows) - counts.sum(axis=2)
    return counts
