"""What all tests share."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from openset.scores import Scores

# No deadline: a busy machine is not a defect. In automated runs the same examples each time, so that a change is judged
# by what it changes; on a developer's machine new ones.
settings.register_profile("openset", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("openset")


SLOW_ROOMS = {"browser", "chaos", "examples", "models", "reproduction", "studies", "train"}
"""Their tests train networks, start browsers or kill processes: `make test-all` runs them, `make test` does not."""


MINUTES, START = os.environ.get("OPENSET_TEST_MINUTES"), time.monotonic()
"""How long slow tests are begun, if that is limited: `make test-all MINUTES=8`."""


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in SLOW_ROOMS:
            item.add_marker(pytest.mark.slow)
    if MINUTES:
        items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def pytest_runtest_setup(item):
    if MINUTES and item.get_closest_marker("slow") and time.monotonic() - START > 60 * float(MINUTES):
        pytest.skip(f"slow, and the {MINUTES} minutes for tests were over: make test-all runs all")


@pytest.fixture
def make_scores():
    """Scores of a model that is right nine times in ten, with negatives and unknowns of a few classes."""

    def make(n=600, n_classes=4, *, seed=0, decimals=None, groups=False, probabilities=False):
        rng = np.random.default_rng(seed)
        labels = np.where(rng.random(n) < 0.6, rng.integers(0, n_classes, n), rng.choice([-1, -2], n))
        predictions = np.where((labels >= 0) & (rng.random(n) < 0.9), labels, rng.integers(0, n_classes, n))
        score = rng.normal(size=n) + 1.8 * (labels == -2) + 2.4 * (labels == -1)
        given = np.exp(rng.normal(size=(n, n_classes)))
        given[np.arange(n), predictions] += given.max(axis=1)  # the prediction is the most probable class
        return Scores(
            labels,
            predictions,
            score if decimals is None else score.round(decimals),
            given / given.sum(axis=1, keepdims=True) if probabilities else None,
            open_classes=np.where(labels < 0, np.char.add("open ", rng.integers(0, 3, n).astype(str)), ""),
            groups=np.where(labels < 0, rng.choice(["easy", "hard"], n), "") if groups else None,
        )

    return make
