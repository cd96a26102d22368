"""Where a training run is, and how that is saved and restored."""

import math
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from lightning_fabric import Fabric

from openset._io.tables import write_csv
from openset.errors import OpenSetError
from openset.train import checkpoint
from openset.train.config import Config, read_config
from openset.train.feed import Feed
from openset.train.network import Network


@dataclass
class State:
    """Where the training is; everything beside tensors that is needed to resume."""

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    right: int = 0
    seen: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    best: float = -math.inf
    best_epoch: int = -1
    done: bool = False
    seconds: float = 0.0
    """Of training, over all interruptions."""
    resumed: list[list[int]] = field(default_factory=list)
    """Epoch and step, counted from 0, at which it went on after each interruption."""

    def as_plain(self) -> dict[str, Any]:
        """Ready for JSON, which knows no infinity."""
        return {**asdict(self), "best": None if self.best == -math.inf else self.best}

    @classmethod
    def restored(cls, content: Any, file: Path) -> "State":
        """The way back; what is not of its kind is an error that names the file."""
        try:
            state = cls(**{**content, "best": -math.inf if content["best"] is None else content["best"]})
            lists = ("history", "resumed", "done")
            numbers = [value for name, value in vars(state).items() if name not in lists]
            numbers += [value for row in state.history for value in row.values()]
            numbers += [value for place in state.resumed for value in place]
            if not all(isinstance(value, int | float) for value in numbers):
                raise TypeError("there is text where a number belongs")
        except (TypeError, KeyError, AttributeError) as error:
            raise OpenSetError(f"{file} is damaged ({error}): delete it to train again.") from error
        return state


@dataclass
class Run:
    """All that the functions of the loop share."""

    fabric: Fabric
    config: Config
    network: Network
    module: Any
    """The network as Fabric wraps it."""
    optimizers: dict[str, Any]
    averaged: Network | None
    train: Feed
    val: Feed
    folder: Path | None
    state: State
    samples: str = ""
    """Fingerprint of what it learns from; a run cannot resume with other samples."""
    stop: threading.Event = field(default_factory=threading.Event)
    saved_at: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.perf_counter)

    @property
    def used(self) -> Network:
        """The weights that are validated and kept."""
        return self.averaged or self.network

    @property
    def share(self) -> int:
        """Samples of a step over all processes, the same for each of them."""
        whole = min(self.config.data.batch_size, len(self.train))
        return whole - whole % self.fabric.world_size

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return len(self.train) // self.share


def save(run: Run) -> None:
    """Write the state, in one file, so that it is never half old and half new."""
    run.saved_at = time.monotonic()
    run.state.seconds = time.perf_counter() - run.began
    if run.folder is None or not run.fabric.is_global_zero:
        return
    tensors = checkpoint.with_prefix("network", run.network.state_dict())
    if run.averaged is not None:
        tensors |= checkpoint.with_prefix("averaged", run.averaged.state_dict())
    tensors |= checkpoint.pack_optimizers(run.optimizers)
    metadata = {
        "state": run.state.as_plain(),
        "config": run.config.as_plain(),
        "samples": run.samples,
        "precision": run.fabric.strategy.precision.state_dict(),  # the loss scale of 16-mixed
    }
    try:
        checkpoint.write_tensors(run.folder / "state.safetensors", tensors, metadata)
        if run.state.step == 0 and run.state.epoch in run.config.train.keep:
            checkpoint.write_tensors(kept_state(run.folder, run.state.epoch), tensors, metadata)
    except OpenSetError as error:
        raise OpenSetError(f"{error} The checkpoint before is kept: make room, then add --resume.") from error
    write_log(run.folder.parent / "log.csv", run.state.history)


def kept_state(folder: Path, epoch: int) -> Path:
    """The file of the state that `train.keep` left after an epoch."""
    return folder / f"state-{epoch}.safetensors"


def write_log(path: Path, history: list[dict[str, float]]) -> None:
    """One row per epoch."""
    if history:
        write_csv(path, pl.DataFrame(history))


def restore(run: Run, file: Path) -> None:
    """Resume where `save` left off; config and samples must be the same."""
    tensors, metadata = checkpoint.read_tensors(file)
    for field_name, then, now in differences(as_now(metadata, file), run.config.as_plain()):
        raise OpenSetError(
            f"{file} was made with {field_name} = {then!r}, now it is {now!r}: "
            "use the same recipe to resume, or another --out to start again."
        )
    if metadata.get("samples") and metadata["samples"] != run.samples:
        raise OpenSetError(
            f"{file} was made with other training or validation samples than there are now: "
            "bring the data back to what it was to resume, or give another --out to start again."
        )
    checkpoint.load_weights(run.network, checkpoint.under_prefix("network", tensors), file)
    if run.averaged is not None:
        checkpoint.load_weights(run.averaged, checkpoint.under_prefix("averaged", tensors), file)
    checkpoint.unpack_optimizers(run.optimizers, tensors)
    if metadata.get("precision"):
        run.fabric.strategy.precision.load_state_dict(metadata["precision"])
    run.state = State.restored(metadata.get("state"), file)
    run.state.resumed.append([run.state.epoch, run.state.step])
    run.began = time.perf_counter() - run.state.seconds


FIELDS_WITHOUT_EFFECT = (
    "data_root",
    "data.workers",
    "train.keep",
    "train.save_minutes",
    "train.threshold",
    "train.train_outputs",
    "engine.threads",
)
"""Fields of a config that the weights do not depend on; on the number of threads no more than on the machine."""


def differences(then: dict[str, Any], now: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Fields that matter to the result and differ."""
    for name in dict.fromkeys([*then, *now]):
        if f"{prefix}{name}" in FIELDS_WITHOUT_EFFECT:
            continue
        one, two = then.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(two, dict):
            yield from differences(one, two, f"{prefix}{name}.")
        elif one != two:
            yield f"{prefix}{name}", one, two


def as_now(metadata: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The config in a state file, with the fields that came later: they have the values that change nothing."""
    stored = metadata.get("config")
    if not isinstance(stored, Mapping):  # a text would be taken for the name of a recipe
        raise OpenSetError(f"{file} does not say how it was trained: delete it to train again.")
    return read_config(stored).as_plain()


def write_weights(run: Run, name: str) -> None:
    """The weights alone, for inference."""
    if run.folder is not None and run.fabric.is_global_zero:
        metadata = {"config": run.config.as_plain(), "epoch": run.state.epoch}
        checkpoint.write_tensors(run.folder / f"{name}.safetensors", run.used.state_dict(), metadata)
