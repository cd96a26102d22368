"""Optimisers and the course of the learning rate, which is a function of the epochs done: nothing to save."""

import math
from typing import Any

import torch
from torch import nn

from openset.train.config import Config, Optimizer, Schedule
from openset.train.muon import Muon
from openset.train.network import Network


def make_optimizers(network: Network, config: Config) -> dict[str, torch.optim.Optimizer]:
    """One optimiser for each role of the method: its own, or that of the recipe."""
    made = {}
    for role in network.method.all_roles:
        parameters = list(network.method.parameters_of(role, network.backbone))
        own = network.method.optimizer_of(role, parameters)
        made[role] = own or make_optimizer(config.optimizer, parameters)
        if own is None:
            for group in made[role].param_groups:
                group["full_lr"] = group["lr"]  # only these follow the recipe's schedule
    return made


def set_rate(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Scale the learning rate of an optimiser of the recipe."""
    for group in optimizer.param_groups:
        if "full_lr" in group:
            group["lr"] = group["full_lr"] * factor


def make_optimizer(config: Optimizer, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """The optimiser of the recipe."""
    common: dict[str, Any] = {"lr": config.lr, "weight_decay": config.weight_decay}
    if config.name == "sgd":
        return torch.optim.SGD(parameters, momentum=config.momentum, nesterov=config.nesterov, **common)
    if config.name == "muon":
        return Muon(parameters, momentum=config.momentum, rest_lr=config.rest_lr, **common)
    return (torch.optim.Adam if config.name == "adam" else torch.optim.AdamW)(parameters, **common)


def rate_factor(schedule: Schedule, epochs: int, progress: float) -> float:
    """The learning rate after `progress` epochs, as a fraction of the full one.

    >>> half = Schedule("cosine", restarts=1)
    >>> [round(rate_factor(half, 4, progress), 2) for progress in (0, 1, 2, 3)]
    [1.0, 0.5, 1.0, 0.5]
    >>> [round(rate_factor(Schedule("linear", warmup_epochs=1), 5, progress), 2) for progress in (0.5, 1, 2, 4)]
    [0.5, 1.0, 0.75, 0.25]
    """
    warm = min(1.0, progress / schedule.warmup_epochs) if schedule.warmup_epochs > 0 else 1.0
    warm = max(warm, 1e-3)
    if schedule.name == "cosine":
        cycle = epochs / (schedule.restarts + 1)
        return warm * 0.5 * (1 + math.cos(math.pi * (progress % cycle) / cycle))
    if schedule.name == "linear":
        return min(warm, (epochs - progress) / max(epochs - schedule.warmup_epochs, 1e-9))
    if schedule.name == "step":
        return warm * schedule.factor ** sum(progress >= milestone for milestone in schedule.milestones)
    return warm
