import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.results.views import thin


def distance_to_line(x, y, kept):
    """Textbook: the smallest distance of every point to any segment between kept points."""
    found = np.full(len(x), np.inf)
    for a, b in itertools.pairwise(kept):
        start, along = np.array([x[a], y[a]]), np.array([x[b] - x[a], y[b] - y[a]])
        offset = np.stack([x, y], axis=1) - start
        length = along @ along
        share = np.clip(offset @ along / length, 0, 1) if length else np.zeros(len(x))
        found = np.minimum(found, np.hypot(*(offset - share[:, None] * along).T))
    return found


@pytest.mark.parametrize("tolerance", [0.25, 0.5, 2.0])
@pytest.mark.parametrize("n", [3, 50, 5000])
def test_no_point_is_farther_than_the_tolerance(n, tolerance):
    rng = np.random.default_rng(n)
    x, y = np.sort(rng.random(n)) * 640, np.sort(rng.random(n)) ** 0.3 * 480
    kept = thin(x, y, tolerance=tolerance)
    assert distance_to_line(x, y, kept).max() <= tolerance
    assert kept[0] == 0
    assert kept[-1] == n - 1


def test_a_long_smooth_curve_needs_few_points():
    x = np.linspace(0, 640, 100_000)
    kept = thin(x, 480 * (x / 640) ** 0.2, tolerance=0.5)
    assert len(kept) < 60


def test_also_curves_that_turn_back():
    angle = np.linspace(0, 6 * np.pi, 4000)
    x, y = 300 * np.cos(angle) * angle / 20, 200 * np.sin(angle)
    kept = thin(x, y, tolerance=0.5)
    assert distance_to_line(x, y, kept).max() <= 0.5
    assert len(kept) < 400


@given(st.lists(st.tuples(st.floats(0, 640), st.floats(0, 480)), min_size=1, max_size=60))
def test_any_curve_keeps_its_ends_and_shape(points):
    x, y = np.array(points).T
    kept = thin(x, y, tolerance=0.5)
    assert kept[0] == 0
    assert kept[-1] == len(x) - 1
    if len(kept) > 1:
        assert distance_to_line(x, y, kept).max() <= 0.5
