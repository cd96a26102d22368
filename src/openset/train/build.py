"""From a recipe and data to a network and the engine that runs it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from lightning_fabric import Fabric
from lightning_fabric.loggers.logger import Logger
from lightning_fabric.strategies.ddp import DDPStrategy

from openset.backbones import build_backbone
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.train.augment import center_crop
from openset.train.config import Augment, Config
from openset.train.feed import Feed
from openset.train.network import Network
from openset.train.pretrained import load_pretrained
from openset.train.randomness import INIT, derive
from openset.train.threads import threads_for

if TYPE_CHECKING:
    from torch import Tensor

_SEEN = 1000  # samples that a backbone looks at before training


def make_fabric(config: Config, loggers: Sequence[Logger] = ()) -> Fabric:
    """The engine: device, precision, processes, and who is told of metric values."""
    several = config.engine.devices * config.engine.nodes > 1
    method = METHODS[config.method.name]
    # Players that take turns leave each other's parameters without gradients.
    unused = len(method.all_roles) > 1
    # The other processes wait for the first one, which scores all parts after the training: that may take hours.
    strategy: Any = DDPStrategy(find_unused_parameters=unused, timeout=timedelta(hours=12)) if several else "auto"
    engine = config.engine
    try:
        return Fabric(
            accelerator=engine.accelerator,
            devices=engine.devices,
            num_nodes=engine.nodes,
            precision=engine.precision,
            strategy=strategy,
            loggers=list(loggers),
        )
    except Exception as error:  # Fabric has no kind of its own for what a machine does not have
        raise OpenSetError(
            f"The training cannot run with engine.accelerator = {engine.accelerator}, devices = {engine.devices}, "
            f"precision = {engine.precision}: {error}"
        ) from error


def make_network(config: Config, feed: Feed, n_classes: int) -> Network:
    """A network for the samples of `feed`, its first weights drawn from the seed."""
    whole, shape = tuple(feed.load(np.arange(1))[0].shape[1:]), input_shape(feed, config)
    if len(whole) == 3:
        _check_changes(config.augment, whole, feed)
    shift, scale = normalisation(config, feed, shape)
    network = make_bare_network(config, shape, n_classes, shift, scale)
    if config.pretrained:
        load_pretrained(network.backbone, config.pretrained, config.backbone.name, config.data_root)
    else:
        with threads_for(network, config, shape):
            seen, _ = feed.load(np.linspace(0, len(feed) - 1, min(len(feed), _SEEN)).astype(np.int64))
            network.backbone.observe_inputs((center_crop(seen, config.augment) - network.shift) / network.scale)
    if len(shape) == 3 and 0 < config.augment.shrink < min(shape[1:]):
        _check_shrunk(network, shape[0], config.augment.shrink, config.backbone.name)
    return network


def input_shape(feed: Feed, config: Config) -> tuple[int, ...]:
    """Shape of what the network sees of a sample: a window of it where the recipe cuts one."""
    shape = tuple(feed.load(np.arange(1))[0].shape[1:])
    cut = config.augment.crop
    return (shape[0], cut, cut) if len(shape) == 3 and cut else shape


def _check_changes(augment: Augment, shape: tuple[int, ...], feed: Feed) -> None:
    """Whether images are large enough for what is done to them in training."""
    side = min(shape[1:])
    if augment.crop > side:
        raise OpenSetError(
            f"'augment.crop' ({augment.crop}) is larger than the images, which have {shape[1]} x {shape[2]} pixels: "
            "use a smaller window, or a larger 'data.size'."
        )
    padded = augment.crop if augment.crop and feed.part.shape is None else side  # photos come as windows
    if augment.padding == "reflect" and augment.crop_padding >= padded:
        raise OpenSetError(
            f"'augment.crop_padding' ({augment.crop_padding}) must be below the side of the images ({padded}) "
            "to reflect them: use less, or 'augment.padding: black'."
        )


def _check_shrunk(network: Network, channels: int, side: int, backbone: str) -> None:
    """Small images go through the network: found out before the training, not in it."""
    try:
        with torch.no_grad():
            network.eval()(torch.zeros(1, channels, side, side))
    except (RuntimeError, AssertionError, ValueError) as error:
        raise OpenSetError(
            f"The backbone '{backbone}' cannot take images of {side} x {side} pixels ('augment.shrink'): "
            "use a larger side, or 0 to leave images as they are."
        ) from error
    finally:
        network.train()


def make_bare_network(
    config: Config,
    shape: tuple[int, ...],
    n_classes: int,
    shift: "Tensor | None" = None,
    scale: "Tensor | None" = None,
) -> Network:
    """A network for inputs of `shape`; training data is not needed."""
    method_class = METHODS[config.method.name]
    state = torch.get_rng_state()
    torch.manual_seed(derive(config.seed, INIT))
    try:
        backbone = build_backbone(
            config.backbone.name, shape, method_class.n_outputs(n_classes), **config.backbone.options
        )
        method = method_class(backbone.n_features, n_classes, **config.method.options)
        method.adapt(backbone, shape)
    finally:
        torch.set_rng_state(state)
    network = Network(backbone, method, shift=shift, scale=scale)
    return network.to(memory_format=torch.channels_last) if config.engine.channels_last else network  # type: ignore[call-overload]


def normalisation(config: Config, feed: Feed, shape: tuple[int, ...]) -> tuple["Tensor", "Tensor"]:
    """What inputs are shifted and scaled by: the recipe's values for images, the training part's for vectors."""
    if len(shape) == 1:
        vectors = torch.cat([inputs for inputs, _ in feed.batches(np.array_split(np.arange(len(feed)), 8))]).double()
        spread = vectors.std(dim=0, correction=0)
        return vectors.mean(dim=0).float(), torch.where(spread > 0, spread, 1).float()
    values = []
    for name, given, default in (("mean", config.data.mean, 0.0), ("std", config.data.std, 1.0)):
        if len(given) not in (0, 1, shape[0]):
            raise OpenSetError(f"'data.{name}' must have one value or one per channel ({shape[0]}), got {len(given)}.")
        values.append(torch.tensor(given or (default,)).view(-1, 1, 1))
    return values[0], values[1]
