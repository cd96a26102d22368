"""Small networks train on one thread, unless somebody says otherwise."""

import subprocess
import sys

import pytest
import torch

from openset.estimator import OpenSetClassifier
from openset.train.build import make_bare_network
from openset.train.config import read_config
from openset.train.threads import operations, threads_for


@pytest.fixture(autouse=True)
def _two(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def used(config, shape, classes=6):
    with threads_for(make_bare_network(config, shape, classes), config, shape):
        return torch.get_num_threads()


def test_operations_are_counted():
    """A linear layer of 8 x 3: a product and a sum for each weight, three times."""
    assert operations(torch.nn.Linear(8, 3), (8,)) == 3 * 2 * 8 * 3


@pytest.mark.parametrize(
    ("recipe", "shape", "threads"),
    [("fast/digits", (1, 8, 8), 1), ("fast/mnist", (1, 28, 28), 2), ("fast/cifar10", (3, 32, 32), 2)],
)
def test_small_networks_use_one_thread(recipe, shape, threads):
    assert used(read_config(recipe), shape) == threads
    assert torch.get_num_threads() == 2  # as before


def test_what_the_user_says_counts(monkeypatch):
    assert used(read_config("fast/digits", ["engine.threads=2"]), (1, 8, 8)) == 2
    assert used(read_config("fast/cifar10", ["engine.threads=1"]), (3, 32, 32)) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert used(read_config("fast/digits"), (1, 8, 8)) == 2


def test_first_weights_come_from_one_thread_too(monkeypatch):
    import numpy as np

    from openset.backbones.fastnet import Whiten
    from openset.protocols import load
    from openset.train.build import make_network
    from openset.train.feed import Feed

    seen = []
    monkeypatch.setattr(Whiten, "fit", lambda *_: seen.append(torch.get_num_threads()))
    protocol, config = load("digits"), read_config("fast/digits")
    make_network(config, Feed(protocol.train, config.data, np.arange(50)), 6)
    assert seen == [1]
    assert torch.get_num_threads() == 2


def test_the_network_is_left_as_it_was():
    network = make_bare_network(read_config("fast/digits"), (1, 8, 8), 6)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    operations(network, (1, 8, 8))
    assert network.training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_a_run_says_how_many_threads_it_had(tmp_path):
    from openset.train.run import begin, train

    for name, changes in (("one", []), ("two", ["engine.threads=2"])):
        config = read_config("fast/digits", ["train.epochs=1", "backbone.width=8", *changes])
        begin(config, tmp_path / name, resume=False)
        assert train(config, tmp_path / name)["provenance"]["threads"] == {"one": "1", "two": "2"}[name]


def test_the_estimator_does_the_same(monkeypatch):
    from openset.train import loop

    seen = []
    real = loop.train_epoch
    monkeypatch.setattr(loop, "train_epoch", lambda *more: (seen.append(torch.get_num_threads()), real(*more))[1])
    vectors = torch.randn(40, 5, generator=torch.Generator().manual_seed(0)).numpy()
    OpenSetClassifier(epochs=1).fit(vectors, [0, 1] * 20)
    assert seen == [1]
    assert torch.get_num_threads() == 2


def test_a_number_of_threads_does_not_make_another_recipe():
    """Runs may be resumed with more threads or fewer."""
    code = (
        "from openset.train.state import differences;from openset.train.config import read_config;"
        "print(list(differences(read_config(None).as_plain(), read_config(None, ['engine.threads=3']).as_plain())))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
