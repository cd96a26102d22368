"""When a threshold does nothing, rejects nearly everything, or rests on too little: what that means and what to do."""

from collections.abc import Sequence

import numpy as np

from openset._core.numbers import percent
from openset.intervals import clopper_pearson

FEW_KNOWNS = 100
NEARLY_ALL = 0.9
_FEW = 5
_LARGEST = (float(np.finfo(np.float32).max), float(np.finfo(np.float64).max))


def notes_on(acceptance: float | None, fpr: float | None, where: str) -> list[str]:
    """What the fractions accepted of knowns and of open-set samples say; `where` tells which samples these are.

    >>> notes_on(0.95, 0.2, "here")
    []
    """
    if acceptance is not None and acceptance <= 1 - NEARLY_ALL:
        note = (
            f"The threshold rejects {percent(1 - acceptance)} of the knowns {where}: nearly everything becomes "
            "unknown. Choose it by a rule that keeps knowns, such as at_acceptance=0.95, on scores of the same model "
            "and kind."
        )
    elif fpr is not None and fpr >= NEARLY_ALL:
        note = (
            f"The threshold accepts {percent(fpr)} of the open-set samples {where}: it rejects next to nothing of what "
            "it should. Either the score does not separate them (openset evaluate tells how well it does), and another "
            "score or model is needed; or the rule asks for too much: try at_fpr=0.1 and see what it costs in knowns."
        )
    elif acceptance is not None and fpr is not None and fpr >= acceptance:
        note = (
            f"The threshold accepts {percent(fpr)} of the open-set samples and {percent(acceptance)} of the knowns "
            f"{where}: the score does not tell them apart, or it points the wrong way (higher must mean more unknown). "
            "Try another score or model."
        )
    else:
        return []
    return [note]


def notes_on_unlabelled(n_rejected: int, n: int) -> list[str]:
    """What to ask when nearly all of `n` samples, whose labels nobody knows, are rejected; a few say nothing.

    >>> notes_on_unlabelled(1, 6), len(notes_on_unlabelled(6, 6))
    ([], 1)
    """
    if n < _FEW or n_rejected < NEARLY_ALL * n:
        return []
    note = (
        f"{n_rejected} of {n} are rejected. If most of them should be known, the threshold does not fit: look whether "
        "they were prepared as the training data was, and choose the threshold anew on validation scores of this model."
    )
    return [note]


def notes_on_choice(value: float, acceptance: float | None, n_known: int | None) -> list[str]:
    """What the data that a threshold was chosen on says of it: nothing rejected at all, or few knowns."""
    found = []
    if value in _LARGEST:
        found.append(
            "The threshold rejects nothing at all: there were too few knowns for its rule to promise anything else. "
            "Choose it on more of them, or allow a larger fraction of knowns to be rejected."
        )
    if n_known is not None and 0 < n_known < FEW_KNOWNS:
        among_new = ""
        if acceptance is not None:
            interval = clopper_pearson(round(acceptance * n_known), n_known)
            among_new = (
                f": the {percent(acceptance)} of them that it accepts may be anything from {percent(interval.low)} to "
                f"{percent(interval.high)} of new ones"
            )
        found.append(
            f"The threshold was chosen on only {n_known} knowns{among_new}. Choose it on {FEW_KNOWNS} or more."
        )
    return found


def notes_on_classes(values: Sequence[float], classes: Sequence[str] | None) -> list[str]:
    """Which classes had too few knowns for a threshold of their own to reject anything.

    >>> notes_on_classes([0.5, _LARGEST[1]], ["cat", "dog"])[0][:64]
    '1 of 2 classes (dog first) had too few knowns for their own thre'
    """
    idle = [place for place, value in enumerate(values) if value in _LARGEST]
    if not idle:
        return []
    first = str(idle[0]) if classes is None else classes[idle[0]]
    note = (
        f"{len(idle)} of {len(values)} classes ({first} first) had too few knowns for their own threshold to promise "
        "anything: nothing that is predicted as them is rejected. Choose it on more knowns, allow a larger fraction of "
        "them to be rejected, or take one threshold for all classes."
    )
    return [note]
