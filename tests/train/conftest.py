import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Small networks are fastest on one thread, also where other processes keep the cores busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _no_data_of_the_user(tmp_path, monkeypatch):
    """Recipes look for pretrained networks in the data root; what lies there on this machine is no part of a test."""
    monkeypatch.setenv("OPENSET_DATA", str(tmp_path / "no-data"))
