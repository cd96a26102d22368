"""Nearest neighbours that are searched in single precision equal those of double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.posthoc import neighbours
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import unit


def brute(queries, bank, k):
    """Every difference, in the precision that NumPy has most of."""
    exact, others = queries.astype(np.longdouble), bank.astype(np.longdouble)
    return np.array([np.sort(np.sqrt(((others - one) ** 2).sum(axis=1)))[k - 1] for one in exact], dtype=float)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.sampled_from([1.0, 1e-4, 1e-9]))
def test_the_kth_distance_is_exact_also_among_near_copies(seed, k, width, gap):
    rng = np.random.default_rng(seed)
    bank = unit(rng.normal(size=(4, width)).repeat(10, axis=0) + gap * rng.normal(size=(40, width)))
    queries = unit(np.r_[bank[::3] + gap * rng.normal(size=(14, width)), bank[:5], np.zeros((1, width))])
    bank[7] = 0.0  # features may all be zero
    found = Bank(bank).kth_distance(queries, k)
    np.testing.assert_allclose(found, brute(queries, bank, k), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("k", [1, 7, 60])
def test_the_largest_products_are_exact_in_whatever_blocks(k, monkeypatch):
    rng = np.random.default_rng(0)
    queries, bank = unit(rng.normal(size=(50, 30))), 8.0 * rng.normal(size=(60, 30))
    expected = np.sort(queries @ bank.T, axis=1)[:, 60 - k :].mean(axis=1)
    for cells in (1, 60 * 7, 2**24):
        monkeypatch.setattr(neighbours, "_CELLS", cells)
        found = Bank(bank).mean_of_largest_products(queries, k)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        distances = Bank(unit(bank)).kth_distance(queries, k)
        np.testing.assert_allclose(distances, brute(queries, unit(bank), k), rtol=1e-12)
