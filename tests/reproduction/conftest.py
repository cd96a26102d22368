import pytest
import torch

from openset.reproduction import Options


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Small networks are fastest on one thread, also where other processes keep the cores busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def options(tmp_path):
    """The smoke scale, cut to seconds."""

    def make(**given):
        usual = {
            "out": tmp_path / "out",
            "results": tmp_path / "results",
            "overrides": ("train.epochs=1", "backbone.width=8"),
        }
        return Options(**{**usual, **given})

    return make
