"""How many threads a training uses: small networks are fastest on one, above all on a busy machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from openset.train.config import Config

ENOUGH = 1e9
"""Operations of a step above which several threads pay: the digits have 4e8, MNIST's recipe 3e10. Below, they save
little, and beside other busy processes they wait for each other: the digits then took 2.7 times as long on two."""


def set_threads(n: int) -> None:
    """Let PyTorch use `n` threads from now on."""
    torch.set_num_threads(n)


@contextmanager
def threads_for(network: nn.Module, config: Config, shape: tuple[int, ...]) -> Iterator[None]:
    """Use as many threads as pay for samples of `shape`; those before, afterwards.

    What the user says counts: `engine.threads`, or the variable OMP_NUM_THREADS.
    """
    before = torch.get_num_threads()
    wanted = config.engine.threads or before
    if not config.engine.threads and before > 1 and "OMP_NUM_THREADS" not in os.environ:
        wanted = 1 if operations(network, shape) * config.data.batch_size < ENOUGH else before
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def operations(network: nn.Module, shape: tuple[int, ...]) -> float:
    """Floating-point operations of one training step with one sample: forward, and twice that backward."""
    training = network.training
    try:
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            network.eval()(torch.zeros(1, *shape))
    finally:
        network.train(training)
    return 3.0 * counter.get_total_flops()
