"""Kinds of samples: right and wrong knowns, and open-set samples by label and group; of these any `against` is made."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE, RESERVED_GROUPS, UNKNOWN
from openset.errors import OpenSetError, check_choice

RIGHT, WRONG, FIRST_OPEN = 0, 1, 2


class OpenKind(NamedTuple):
    """Open-set samples of one label and one group, which is empty where there are none."""

    label: int
    group: str = ""


PLAIN = (OpenKind(NEGATIVE), OpenKind(UNKNOWN))
"""Where there are no groups."""


def chosen_kinds(kinds: Sequence[OpenKind], against: str) -> NDArray[np.bool_]:
    """Which of the kinds `against` names.

    >>> chosen_kinds(PLAIN, "unknown")
    array([False,  True])
    """
    labels = {"all": (NEGATIVE, UNKNOWN), "negative": (NEGATIVE,), "unknown": (UNKNOWN,)}
    if against in labels:
        return np.array([kind.label in labels[against] for kind in kinds], dtype=np.bool_)
    names = sorted({kind.group for kind in kinds} - {""})
    if not names:
        raise OpenSetError(
            f"against={against!r} is not 'all', 'negative' or 'unknown', and no groups are given to look it up in."
        )
    check_choice("against", "against", against, [*RESERVED_GROUPS, *names])
    return np.array([kind.group == against for kind in kinds])


def against_choices(kinds: Sequence[OpenKind]) -> list[str]:
    """What `against` can be where there are samples of these kinds: "all", then what they really divide into.

    >>> against_choices(PLAIN), against_choices(PLAIN[:1])
    (['all', 'negative', 'unknown'], ['all'])
    """
    words = [
        word for word, label in (("negative", NEGATIVE), ("unknown", UNKNOWN)) if label in {k.label for k in kinds}
    ]
    names = sorted({kind.group for kind in kinds} - {""})
    return ["all", *(words if len(words) > 1 else []), *(names if len(names) > 1 else [])]
