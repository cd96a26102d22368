"""An alarm on a rate that stays valid however often one looks: a bet against the promise, window by window.

The promise is that each sample is rejected with probability at most p, whatever came before. Someone who bets on
"more" pays with every accepted sample and earns with every rejected one: for an alternative q > p the stake is
multiplied by q / p on a rejected sample and by (1 - q) / (1 - p) on an accepted one. While the promise holds, the
expected stake does not grow, so the chance that it ever reaches 1 / alpha is at most alpha (Ville's inequality), at
any number of looks and without a planned end.

The stake is spread over several alternatives q, because nobody knows how large a change will be, and over several
beginnings, because nobody knows when it will come: a part 1 / ((j + 1) (j + 2)) of it is put in at window j, and what
is not in yet is kept. A sum of such bets is one of them, so the guarantee stays.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from openset.errors import OpenSetError

N_ALTERNATIVES = 24


@dataclass
class Evidence:
    """What betting against "at most a fraction `promised` is rejected" has won; 1 at the beginning.

    >>> evidence = Evidence(0.05)
    >>> [round(evidence.add(n, rejected), 2) for n, rejected in ((100, 5), (100, 20))]
    [0.71, 15184.31]
    """

    promised: float
    """Largest probability of a rejection that is in line with the promise."""
    windows: int = 0
    _stakes: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    """Logarithms of what lies on each alternative."""

    def __post_init__(self) -> None:
        if not 0 < self.promised < 1:
            raise OpenSetError(f"The promised fraction of rejections must be between 0 and 1, got {self.promised:g}.")
        self._stakes = np.full(N_ALTERNATIVES, -np.inf)

    @property
    def alternatives(self) -> NDArray[np.float64]:
        """Rates that are bet on: from just above the promise to nearly 1, by even steps of the odds."""
        odds = np.log(self.promised / (1 - self.promised))
        steps = np.geomspace(0.05, max(7.0 - odds, 1.0), N_ALTERNATIVES)
        return np.asarray(1 / (1 + np.exp(-(odds + steps))))

    def add(self, n: int, rejected: int) -> float:
        """The stake after one more window of `n` samples; infinite where it is beyond all numbers."""
        place, q, p = self.windows, self.alternatives, self.promised
        entering = -np.log((place + 1.0) * (place + 2.0) * N_ALTERNATIVES)
        gains = rejected * np.log(q / p) + (n - rejected) * np.log((1 - q) / (1 - p))
        self._stakes = np.logaddexp(self._stakes, entering) + gains
        self.windows += 1
        kept = 1.0 / (place + 2.0)  # what later windows begin with
        with np.errstate(over="ignore"):
            return float(np.exp(np.logaddexp.reduce(self._stakes)) + kept)
