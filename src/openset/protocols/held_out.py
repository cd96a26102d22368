"""Sharing samples out between parts: by a hash of their names, or as the ImageNet paper's authors did."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def held_out_by_hash(ids: NDArray[np.str_], strata: NDArray[np.str_], share: float, purpose: str) -> Mask:
    """Which samples to hold out: `share` of each stratum, at least one where there are two.

    The choice depends on nothing but the names, so it is the same on every machine, and a photo that is added later
    moves hardly any other from one part to another.
    """
    held = np.zeros(len(ids), dtype=np.bool_)
    keys = np.array(
        [blake2b(f"{purpose}/{name}".encode(), digest_size=8).digest() for name in ids.tolist()], dtype="S8"
    )
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        count = max(1, round(share * len(rows))) if len(rows) > 1 else 0
        held[rows[np.argsort(keys[rows], kind="stable")][:count]] = True
    return held


def held_out_as_published(strata: NDArray[np.str_], share: float) -> Mask:
    """The stratified 80/20 of openset-imagenet: scikit-learn's shuffle with seed 42 over the sorted image names."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(strata))
    _, held_rows = train_test_split(rows, train_size=1 - share, stratify=strata, random_state=42)
    held = np.zeros(len(strata), dtype=np.bool_)
    held[held_rows] = True
    return held
