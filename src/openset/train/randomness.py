"""Chance that can be repeated: every random number follows from the seed and the place where it is used."""

import numpy as np

INIT, ORDER, STEP, AUGMENT, TURN, WINDOW = range(6)


def derive(*numbers: int) -> int:
    """A seed of its own for every tuple of numbers, such as (seed, STEP, epoch, step, rank).

    Their count is part of it, because zeros at the end would not matter otherwise.

    >>> derive(0, STEP, 1, 2) == derive(0, STEP, 1, 2), derive(0, STEP, 1, 2) == derive(0, STEP, 2, 1)
    (True, False)
    """
    return int(np.random.SeedSequence((len(numbers), *numbers)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def epoch_order(n: int, seed: int, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The order of the samples in an epoch."""
    return np.random.default_rng(derive(seed, ORDER, epoch)).permutation(n)


def turns(n: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """One of two turns for every sample, at random."""
    return np.random.default_rng(derive(seed, TURN)).random(n) < 0.5
