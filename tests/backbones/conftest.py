import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Small networks are fastest on one thread, also where other processes keep the cores busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
