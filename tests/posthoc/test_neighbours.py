"""Nearest neighbours that are searched in single precision equal those of double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.posthoc import neighbours
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import Triangle, unit


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


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-60, 1e-3, 1.0, 1e60]), st.sampled_from([1.0, 1e-6, 1e-9]))
def test_the_nearest_of_vectors_of_any_length_is_exact(seed, size, gap):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(5, 8)).repeat(6, axis=0) * rng.choice([0.0, 1.0, 30.0], size=30)[:, None]
    centres = size * (centres + gap * rng.normal(size=centres.shape))
    queries = np.r_[centres[::4] + size * gap * rng.normal(size=(8, 8)), np.zeros((1, 8)), 100.0 * centres[:2]]
    found = Bank.by_distance(centres).nearest_square(queries)
    np.testing.assert_allclose(found, brute(queries, centres, 1) ** 2, rtol=1e-11, atol=0)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-60, 1e-3, 1.0, 1e60]), st.sampled_from([0.0, 1e-9, 1.0, 1e9]))
def test_the_largest_product_less_an_offset_is_exact(seed, size, shift):
    rng = np.random.default_rng(seed)
    bank, queries = rng.normal(size=(40, 9)), size * rng.normal(size=(12, 9))
    queries[3] = 0.0
    offsets = size * shift * rng.normal(size=40)
    expected = (queries @ bank.T - offsets).max(axis=1)
    np.testing.assert_allclose(
        Bank(bank, offsets).largest_product(queries), expected, rtol=1e-12, atol=1e-13 * size * max(1, shift)
    )


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 3), (7, 11), (40, 40)])
def test_a_triangle_multiplies_like_the_matrix(height, width):
    rng = np.random.default_rng(0)
    matrix, rows = np.triu(rng.normal(size=(height, width))), rng.normal(size=(5, width))
    np.testing.assert_allclose(Triangle(matrix).times(rows), rows @ matrix.T, rtol=1e-12, atol=1e-13)
