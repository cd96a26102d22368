"""OpenSetKFold: cross-validation in which some classes are unknown."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from openset._core.annotations import ArrayLike
from openset.errors import OpenSetError

Rows = NDArray[np.intp]


class OpenSetKFold:
    """K folds in which classes take turns at being unknown: never trained on, all of their samples in the test part.

    Classes are dealt to the folds, so that each is unknown in exactly one of them. The samples of the other classes are
    dealt too, class by class: one part is tested on and the rest trained on, as in StratifiedKFold.

    Args:
        n_splits: number of folds; at most the number of classes.
        shuffle: deal classes and samples in random order, instead of as they stand.
        random_state: seed of that order.
        unknown_label: label of samples of no class at all: never trained on, and in every test part.

    >>> y = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    >>> for train, test in OpenSetKFold(3).split(y, y):
    ...     print("".join(y[row] for row in train), "".join(y[row] for row in test))
    bbcc aaabc
    aacc abbbc
    aabb abccc
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        unknown_label: int | str | None = None,
    ) -> None:
        if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise OpenSetError(f"OpenSetKFold: 'n_splits' must be a whole number of at least 2, got {n_splits!r}.")
        if random_state is not None and not shuffle:
            raise OpenSetError("OpenSetKFold: 'random_state' has no effect without shuffle=True.")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state
        self.unknown_label = unknown_label

    def __repr__(self) -> str:
        return f"OpenSetKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """Number of folds."""
        return self.n_splits

    def split(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:  # noqa: N803
        """Rows to train on and rows to test on, for each fold; `groups` are not looked at."""
        if y is None:
            raise OpenSetError("OpenSetKFold splits by class: give the labels, as y.")
        labels = np.asarray(y)
        never = np.zeros(len(labels), dtype=bool) if self.unknown_label is None else labels == self.unknown_label
        classes, number = np.unique(labels[~never], return_inverse=True)
        self._check(classes, np.bincount(number, minlength=len(classes)))
        random = check_random_state(self.random_state) if self.shuffle else None
        fold = np.full(len(labels), -1)
        unknown_in = _dealt(len(classes), self.n_splits, random)
        rows = np.flatnonzero(~never)
        for place in range(len(classes)):
            own = rows[number == place]
            fold[own] = _dealt(len(own), self.n_splits, random)
        turn = np.full(len(labels), -1)
        turn[rows] = unknown_in[number]
        for at in range(self.n_splits):
            test = never | (turn == at) | (fold == at)
            yield np.flatnonzero(~test), np.flatnonzero(test)

    def _check(self, classes: NDArray[Any], sizes: NDArray[np.intp]) -> None:
        known = len(classes) - -(-len(classes) // self.n_splits)
        if len(classes) < self.n_splits or known < 2:
            raise OpenSetError(
                f"OpenSetKFold with n_splits={self.n_splits} makes some of {len(classes)} classes unknown in each fold "
                "and needs two known ones beside them: it takes at least "
                f"{max(3, self.n_splits) if self.n_splits > 2 else 4} classes."
            )
        if sizes.min() < self.n_splits:
            few = int(sizes.argmin())
            raise OpenSetError(
                f"Class {classes[few]!s} has {sizes[few]} samples, which cannot be dealt to {self.n_splits} folds: use "
                f"n_splits={max(2, sizes[few])} or more samples of it."
            )


def _dealt(n: int, n_folds: int, random: Any) -> Rows:
    """A fold for each of n things, as even as can be."""
    dealt = np.arange(n) % n_folds
    return dealt if random is None else random.permutation(dealt)
