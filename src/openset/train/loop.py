"""The training loop: fit -> train_epoch -> step, and validate. It knows nothing of particular methods.

Randomness is derived from (seed, epoch, step), and the learning rate from the epochs done, so what must be saved to
continue as if nothing had happened is weights, optimiser state and a few numbers.
"""

import copy
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric

from openset.errors import OpenSetError
from openset.methods import Moment
from openset.train.augment import augment, center_crop
from openset.train.config import Config
from openset.train.feed import Feed, in_order
from openset.train.interrupt import Interrupted, stopping_by_signal
from openset.train.network import Network
from openset.train.optimize import make_optimizers, rate_factor, set_rate
from openset.train.randomness import AUGMENT, STEP, WINDOW, derive, epoch_order, turns
from openset.train.state import Run, State, restore, save, write_weights

Watch = Callable[[State, int, float], object]
"""Called after every step: the state, the steps of an epoch, and samples per second."""
_VALIDATION_BATCH = 512


def fit(
    fabric: Fabric,
    network: Network,
    train: Feed,
    val: Feed,
    config: Config,
    *,
    folder: Path | None = None,
    watch: Watch | None = None,
    samples: str = "",
) -> Run:
    """Train; resumes where a saved state in `folder` ends, if that had the same `samples` (a fingerprint)."""
    if config.data.batch_size % fabric.world_size or len(train) < fabric.world_size:
        raise OpenSetError(
            f"'data.batch_size' ({config.data.batch_size}) must divide evenly among {fabric.world_size} processes."
        )
    if config.train.select == "gamma" and not (val.labels < 0).any():
        raise OpenSetError("'train.select' by gamma needs negatives in the validation part; use accuracy or last.")
    network.method.prepare(torch.from_numpy(train.labels))
    averaged = copy.deepcopy(network) if config.train.ema else None
    plain = make_optimizers(network, config)
    module, *wrapped = _setup(fabric, network, list(plain.values()), config)
    optimizers = dict(zip(plain, wrapped, strict=True))
    if averaged is not None:
        averaged.to(fabric.device)
    run = Run(fabric, config, network, module, optimizers, averaged, train, val, folder, State(), samples)
    if folder is not None and (folder / "state.safetensors").exists():
        restore(run, folder / "state.safetensors")
    with stopping_by_signal(run.stop):
        while not run.state.done:
            train_epoch(run, watch)
            finish_epoch(run)
    return run


def _setup(
    fabric: Fabric, network: Network, optimizers: list[torch.optim.Optimizer], config: Config
) -> tuple[Any, ...]:
    target: Any = torch.compile(network) if config.engine.compile else network
    made = fabric.setup(target, *optimizers)
    return made if isinstance(made, tuple) else (made,)


def train_epoch(run: Run, watch: Watch | None) -> None:
    """The steps of an epoch that are not done yet."""
    state, config, rank, world = run.state, run.config, run.fabric.global_rank, run.fabric.world_size
    order = epoch_order(len(run.train), config.seed, state.epoch)
    steps = range(state.step, run.steps)
    places = [order[step * run.share : (step + 1) * run.share][rank::world] for step in steps]
    chances = [derive(config.seed, WINDOW, state.epoch, step, rank) for step in steps]
    odd = torch.from_numpy(turns(len(run.train), config.seed)) if config.augment.flip_in_turn else None
    run.module.train()
    began, seen = time.perf_counter(), state.seen
    for (inputs, labels), place in zip(run.train.batches(places, chances), places, strict=True):
        loss, right = train_step(run, inputs, labels, None if odd is None else odd[place])
        state.loss_sum += loss * len(labels)
        state.right += right
        state.seen += len(labels)
        state.step += 1
        if watch is not None:
            watch(state, run.steps, (state.seen - seen) * world / (time.perf_counter() - began))
        if _anybody(run.fabric, run.stop.is_set()):
            save(run)
            raise Interrupted(f"epoch {state.epoch + 1}, step {state.step}")
        if run.folder is not None and time.monotonic() - run.saved_at > 60 * config.train.save_minutes:
            save(run)


def train_step(
    run: Run, inputs: torch.Tensor, labels: torch.Tensor, odd: torch.Tensor | None = None
) -> tuple[float, int]:
    """One step of every role; the classifier's loss and number of correct answers."""
    config, state, fabric = run.config, run.state, run.fabric
    progress = state.epoch + state.step / run.steps
    place = (state.epoch, state.step, fabric.global_rank)
    chance = derive(config.seed, AUGMENT, *place)
    inputs = augment(inputs, config.augment, chance, epoch=state.epoch, odd=odd).to(fabric.device)
    if config.engine.channels_last and inputs.ndim == 4:
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    labels = labels.to(fabric.device)
    factor = rate_factor(config.schedule, config.train.epochs, progress)
    value, right = 0.0, 0
    for role in run.network.method.roles(state.epoch):
        optimizer = run.optimizers[role]
        set_rate(optimizer, factor)
        for one in run.optimizers.values():
            one.zero_grad()
        value, right = 0.0, 0
        parts = min(config.train.accumulate, len(labels))
        pieces = list(zip(inputs.chunk(parts), labels.chunk(parts), strict=True))  # perhaps fewer than asked for
        for number, (piece, answers) in enumerate(pieces):
            seed = derive(config.seed, STEP, *place, number)
            torch.manual_seed(seed)  # dropout and the like
            with fabric.no_backward_sync(run.module, enabled=number < len(pieces) - 1):
                loss, logits = run.module(piece, answers, Moment(seed, state.epoch, progress), role)
                loss = loss * (len(answers) / len(labels))
                fabric.backward(loss)
            value += loss.item()
            if logits is not None:
                right += int((logits[:, : run.network.method.n_classes].argmax(1) == answers).sum())
        if _anybody(fabric, not math.isfinite(value)):
            raise OpenSetError(_not_finite(run, role))
        optimizer.step()
    if run.averaged is not None:
        _average(run.averaged, run.network, config.train.ema, state.epoch * run.steps + state.step)
    return value, right


def finish_epoch(run: Run) -> None:
    """Validate, remember the best, and save."""
    state, config = run.state, run.config
    row = {
        "epoch": state.epoch + 1,
        "lr": config.optimizer.lr * rate_factor(config.schedule, config.train.epochs, state.epoch),
        "loss": _mean(run.fabric, state.loss_sum / state.seen),
        "accuracy": _mean(run.fabric, state.right / state.seen),
        **validate(run),
    }
    state.history.append(row)
    run.fabric.log_dict({name: value for name, value in row.items() if name != "epoch"}, step=state.epoch + 1)
    if config.train.select != "last":
        value = row[f"val_{config.train.select}"]
        if value > state.best:
            state.best, state.best_epoch = value, state.epoch + 1
            write_weights(run, "best")
        elif config.train.patience and state.epoch + 1 - state.best_epoch >= config.train.patience:
            state.done = True
    state.epoch, state.step = state.epoch + 1, 0
    state.loss_sum, state.right, state.seen = 0.0, 0, 0
    state.done = state.done or state.epoch >= config.train.epochs
    if state.done:
        write_weights(run, "last")
    save(run)


@torch.no_grad()
def validate(run: Run) -> dict[str, float]:
    """Closed-set accuracy; where there are negatives also gamma and its parts (ImageNet protocols, eq. 7).

    In full precision.
    """
    network, rank, world = run.used, run.fabric.global_rank, run.fabric.world_size
    method = network.method
    network.eval()
    sums = torch.zeros(5, dtype=torch.float64)
    mine = np.arange(rank, len(run.val), world)
    for inputs, labels in run.val.batches(mine[place] for place in in_order(len(mine), _VALIDATION_BATCH)):
        _, logits = network(center_crop(inputs, run.config.augment).to(run.fabric.device))
        shares = logits.double().softmax(dim=1)[:, : method.n_classes].cpu()
        known = labels >= 0
        own = shares.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        right = (logits[:, : method.n_classes].argmax(dim=1).cpu() == labels) & known
        open_enough = 1 - shares.max(dim=1).values + (0 if method.background else 1 / method.n_classes)
        counted = [known.sum(), right.sum(), own[known].sum(), (~known).sum(), open_enough[~known].sum()]
        sums += torch.tensor([float(one) for one in counted], dtype=torch.float64)
    network.train()
    if world > 1:
        sums = _reduced(run.fabric, sums, "sum")
    n_known, n_right, plus, n_negative, minus = sums.tolist()
    found = {"val_accuracy": n_right / n_known}
    if n_negative:
        found |= {"val_gamma_plus": plus / n_known, "val_gamma_minus": minus / n_negative}
        found["val_gamma"] = (found["val_gamma_plus"] + found["val_gamma_minus"]) / 2
    return found


# ---- small parts ---------------------------------------------------------------------------------------------------


def _average(averaged: Network, network: Network, decay: float, step: int) -> None:
    """Moving average of parameters and statistics. Early on the average is shorter, so that it can follow."""
    decay = min(decay, (1 + step) / (10 + step))
    with torch.no_grad():
        for mean, value in zip(averaged.parameters(), network.parameters(), strict=True):
            mean.lerp_(value, 1 - decay)
        for kept, current in zip(averaged.buffers(), network.buffers(), strict=True):
            if kept.is_floating_point():
                kept.lerp_(current, 1 - decay)
            else:
                kept.copy_(current)


def _anybody(fabric: Fabric, flag: bool) -> bool:
    """Whether any process says yes: all must stop together."""
    if fabric.world_size == 1:
        return flag
    return _reduced(fabric, torch.tensor(float(flag)), "sum").item() > 0


def _mean(fabric: Fabric, value: float) -> float:
    if fabric.world_size == 1:
        return value
    return _reduced(fabric, torch.tensor(value, dtype=torch.float64), "mean").item()


def _reduced(fabric: Fabric, value: torch.Tensor, how: str) -> torch.Tensor:
    reduced = fabric.all_reduce(value.to(fabric.device), reduce_op=how)
    assert isinstance(reduced, torch.Tensor)
    return reduced.cpu()


def _not_finite(run: Run, role: str) -> str:
    state = run.state
    file = None if run.folder is None else run.folder / "state.safetensors"
    kept = f" The last good checkpoint is {file}." if file is not None and file.exists() else ""
    return (
        f"The loss of the {role} is not a number at epoch {state.epoch + 1}, step {state.step + 1}.{kept} "
        f"Try a lower optimizer.lr (now {run.config.optimizer.lr:g}), or a warm-up (schedule.warmup_epochs)."
    )
