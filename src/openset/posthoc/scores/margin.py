"""Minus the lead of the largest logit over the second largest.

    r(x) = z_(2) - z_(1)

>>> from openset.posthoc import margin
>>> margin([[3.0, 1.0, 0.0]])
array([-2.])
"""

import numpy as np

from openset.errors import OpenSetError
from openset.posthoc.card import Learned, Score, register
from openset.posthoc.numerics import Array, by_blocks
from openset.posthoc.outputs import Outputs


def _margin(values: Array) -> Array:
    top = np.partition(values, -2, axis=1)
    return np.asarray(top[:, -2] - top[:, -1])


def _apply(outputs: Outputs, _: Learned) -> Array:
    values = outputs.known_logits()
    if values.shape[1] < 2:
        raise OpenSetError(f"margin needs the logits of two or more known classes, got {values.shape[1]}.")
    return by_blocks(_margin, values)


register(
    Score(
        name="margin",
        title="Margin between the two largest logits",
        paper="",
        needs=("logits",),
        document=__doc__,
        apply=_apply,
    )
)
