import pytest
import torch

from openset.studies import cell as training_cell


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Small networks are fastest on one thread, also where other processes keep the cores busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def trainings(monkeypatch):
    """Which cells were really trained: protocol, method, split."""
    seen = []
    real = training_cell.train

    def counted(config, out, **others):
        seen.append((config.protocol, config.method.name, config.split))
        return real(config, out, **others)

    monkeypatch.setattr(training_cell, "train", counted)
    return seen
