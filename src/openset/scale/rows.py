"""Some rows in memory: labels, predictions, scores, and the kinds of open-set samples among them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import Floats, Ints
from openset._core.kinds import PLAIN, OpenKind


@dataclass(frozen=True, eq=False)
class Rows:
    """A run of rows of the input, checked."""

    label: Ints
    prediction: Ints
    score: Floats
    group: NDArray[np.int64] | None = None
    """Which of `names` each row belongs to."""
    names: tuple[str, ...] = ("",)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def kinds(self) -> tuple[OpenKind, ...]:
        """Kinds of open-set samples that there may be, in the order of `kind`."""
        return PLAIN if self.group is None else tuple(OpenKind(one.label, name) for name in self.names for one in PLAIN)

    def kind(self, run: slice) -> NDArray[np.int32]:
        """Kind of each row of a run: 0 right, 1 wrong, then `kinds`."""
        label = self.label[run]
        kind = np.maximum(-label, 0, dtype=label.dtype).astype(np.int32)  # 0 for knowns, 1 and 2 for open-set samples
        if self.group is not None:
            kind += np.where(kind > 0, 2 * self.group[run], 0).astype(np.int32)
        kind += label != self.prediction[run]
        return kind
