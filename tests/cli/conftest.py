import json

import numpy as np
import pytest

from openset import Scores
from openset.cli import main
from samples import random_dataset


class Run:
    """What a person would see: exit code, standard output and standard error."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    """What intervals are is tested elsewhere; what commands do with them shows after a few resamples."""
    monkeypatch.setattr("openset.evaluation.resamples_for", lambda _: 50)


@pytest.fixture
def openset(capsys, monkeypatch):
    """Run the command in this process, as if from a wide terminal that is not one."""
    monkeypatch.delenv("OPENSET_DEBUG", raising=False)

    def run(*words):
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code or 0
        seen = capsys.readouterr()
        return Run(code, seen.out, seen.err)

    return run


@pytest.fixture
def refused(openset):
    """Run a command that must fail with one plain sentence and exit code 2."""

    def run(*words):
        found = openset(*words)
        assert found.code == 2, found.err
        assert found.err.startswith("Error: ")
        assert found.err.count("\n") == 1
        assert "Traceback" not in found.err
        return found.err

    return run


@pytest.fixture
def scores_file(tmp_path):
    """Write a scores file; the seed chooses the model, the samples stay the same."""

    def write(name="scores.parquet", noise=0.0, n=300, **options):
        labels, predictions, score = random_dataset(n)
        rng = np.random.default_rng(7)
        scores = Scores(labels, predictions, score + noise * rng.standard_normal(n), **options)
        scores.write(tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def load():
    return lambda path: json.loads(path.read_text())
