"""Data sets for tests: hypothesis strategies with many ties, and random arrays of any size."""

import numpy as np
from hypothesis import strategies as st

N_CLASSES = 4


@st.composite
def datasets(draw, max_size=24, distinct=6):
    """(labels, predictions, unknown_score) with knowns and open-set samples and few distinct scores."""
    size = draw(st.integers(2, max_size))
    labels = draw(st.lists(st.integers(-2, N_CLASSES - 1), min_size=size, max_size=size))
    labels[0] = draw(st.integers(0, N_CLASSES - 1))
    labels[1] = draw(st.integers(-2, -1))
    predictions = [
        label if label >= 0 and draw(st.booleans()) else draw(st.integers(0, N_CLASSES - 1)) for label in labels
    ]
    values = draw(st.lists(st.floats(-1e6, 1e6, width=32), min_size=distinct, max_size=distinct))
    score = [values[draw(st.integers(0, distinct - 1))] for _ in range(size)]
    order = draw(st.permutations(range(size)))
    return [labels[i] for i in order], [predictions[i] for i in order], [score[i] for i in order]


def random_dataset(n, seed=0, n_classes=5, decimals=None, dtype=np.float64):
    """Arrays of n samples, half of them known, with rounded scores where `decimals` says so."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.5, rng.integers(0, n_classes, n), -rng.integers(1, 3, n))
    predictions = np.where((rng.random(n) < 0.8) & (labels >= 0), np.maximum(labels, 0), rng.integers(0, n_classes, n))
    score = rng.standard_normal(n) + (labels < 0)
    if decimals is not None:
        score = score.round(decimals)
    return labels, predictions, score.astype(dtype)
