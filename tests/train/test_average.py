"""The moving average of weights, worked out by hand."""

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric

from openset.train.build import make_network
from openset.train.config import read_config
from openset.train.feed import Feed, Vectors
from openset.train.loop import _average, fit


class Weights(torch.nn.Module):
    """A parameter, a statistic and a counter."""

    def __init__(self, value, steps=0):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([float(value)]))
        self.register_buffer("statistic", torch.tensor([float(value)]))
        self.register_buffer("steps", torch.tensor([steps]))


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (0, 1 / 10),  # (1 + step) / (10 + step) of the old average as long as that is below the decay
        (1, 2 / 11),
        (90, 91 / 100),
        (440, 0.98),
        (100_000, 0.98),
    ],
)
def test_early_on_the_average_is_short(step, kept):
    averaged, network = Weights(1.0), Weights(3.0, steps=7)
    _average(averaged, network, 0.98, step)
    wanted = kept * 1.0 + (1 - kept) * 3.0
    assert averaged.weight.item() == pytest.approx(wanted, rel=1e-6)
    assert averaged.statistic.item() == pytest.approx(wanted, rel=1e-6)
    assert averaged.steps.item() == 7
    assert network.weight.item() == 3.0


def test_the_average_of_a_short_training_has_left_its_first_weights():
    """Ten steps with a decay of .999: a plain average would still be 99 % of what the network started with."""
    rng = np.random.default_rng(0)
    part = Vectors(rng.normal(size=(80, 4)).astype(np.float32), np.arange(80) % 2)
    overrides = ["backbone={name: mlp, hidden: [8]}", "train={epochs: 1, ema: 0.999}", "data.batch_size=8"]
    config = read_config(None, [*overrides, "method=softmax", "optimizer.lr=0.1", "schedule.name=constant"])
    feed = Feed(part, config.data)
    network = make_network(config, feed, 2)
    first = network.method.head.weight.detach().clone()
    run = fit(Fabric(accelerator="cpu", devices=1), network, feed, feed, config)
    moved = (network.method.head.weight - first).norm().item()
    followed = (run.averaged.method.head.weight - first).norm().item()
    assert moved > 0.01
    assert followed > 0.3 * moved
