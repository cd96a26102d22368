"""Where a training run reports its metric values while it runs, beside log.csv: Fabric's loggers, found by name."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lightning_fabric.loggers.logger import Logger
from lightning_fabric.loggers.tensorboard import TensorBoardLogger
from lightning_fabric.utilities.rank_zero import rank_zero_only

from openset._core.registry import Registry
from openset.errors import MissingPackageError, OpenSetError, is_installed


@dataclass(frozen=True)
class LoggerCard:
    """A place to report to: the packages of which one is needed, and how its logger is made for a run folder."""

    name: str
    packages: tuple[str, ...]
    make: Callable[[Path], Logger]


LOGGERS: Registry[LoggerCard] = Registry("logger")


def make_loggers(names: Sequence[str], out: Path) -> list[Logger]:
    """The loggers of these names; a package that is missing is told before the training."""
    cards = [LOGGERS[name] for name in dict.fromkeys(names)]
    for card in cards:
        if not any(map(is_installed, card.packages)):
            raise MissingPackageError(
                f"The logger '{card.name}' needs the package {' or '.join(card.packages)}: pip install "
                f"'{card.packages[0]}'."
            )
    return [card.make(out) for card in cards]


@contextmanager
def reporting(loggers: Sequence[Logger], config: Mapping[str, Any]) -> Iterator[None]:
    """Tell the loggers what the run was started with, and at its end whether it was finished."""
    for logger in loggers:
        logger.log_hyperparams(dict(config))
    ended = "failed"
    try:
        yield
        ended = "success"
    finally:
        for logger in loggers:
            logger.finalize(ended)


class ServiceLogger(Logger):
    """A service with a client package of its own: `begin` is called when the first value comes."""

    def __init__(self, title: str, out: Path) -> None:
        self._title, self._out = title, out
        self._begun = False

    @property
    def name(self) -> str:
        """Of the service."""
        return self._title

    @property
    def version(self) -> str:
        """The name of the run folder."""
        return self._out.name

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Report values of an epoch."""
        self._begin()
        self.send({name: float(value) for name, value in metrics.items()}, step)

    @rank_zero_only
    def log_hyperparams(self, params: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Report the config of the run."""
        self._begin()
        self.send_config(_flat(params))

    def _begin(self) -> None:
        if self._begun:
            return
        try:
            self.begin()
        except Exception as error:  # whatever the client raises: no server, no account, a store that it gave up
            raise OpenSetError(
                f"The logger '{self._title}' cannot begin a run: {' '.join(str(error).split())}"
            ) from error
        self._begun = True

    def begin(self) -> None:
        """Open the service's own run."""

    def send(self, metrics: Mapping[str, float], step: int | None) -> None:
        """Values of a step."""
        raise NotImplementedError

    def send_config(self, config: Mapping[str, Any]) -> None:
        """What the run was started with."""
        raise NotImplementedError


class WandbLogger(ServiceLogger):
    """Weights & Biases."""

    def begin(self) -> None:
        """A run in the project `openset`, unless the environment names another (WANDB_PROJECT)."""
        project = os.environ.get("WANDB_PROJECT", "openset")
        self.run = import_module("wandb").init(project=project, name=self.version, dir=str(self._out))

    def send(self, metrics: Mapping[str, float], step: int | None) -> None:
        """Values of a step."""
        self.run.log(dict(metrics), step=step)

    def send_config(self, config: Mapping[str, Any]) -> None:
        """What the run was started with."""
        self.run.config.update(dict(config), allow_val_change=True)

    def finalize(self, status: str) -> None:
        """Close the run."""
        if self._begun:
            self.run.finish(exit_code=0 if status == "success" else 1)


class MlflowLogger(ServiceLogger):
    """MLflow; the server and the experiment are those of the environment (MLFLOW_TRACKING_URI)."""

    def begin(self) -> None:
        """A run named after the folder."""
        self.mlflow = import_module("mlflow")
        self.mlflow.start_run(run_name=self.version)

    def send(self, metrics: Mapping[str, float], step: int | None) -> None:
        """Values of a step."""
        self.mlflow.log_metrics(dict(metrics), step=step)

    def send_config(self, config: Mapping[str, Any]) -> None:
        """What the run was started with."""
        self.mlflow.log_params({name: str(value)[:500] for name, value in config.items()})

    def finalize(self, status: str) -> None:
        """Close the run."""
        if self._begun:
            self.mlflow.end_run("FINISHED" if status == "success" else "FAILED")


def _flat(params: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested fields under names with points, as recipes and --set write them."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return found


def _tensorboard(out: Path) -> Logger:
    return TensorBoardLogger(root_dir=out, name="tensorboard", version="")


LOGGERS.add("tensorboard", LoggerCard("tensorboard", ("tensorboard", "tensorboardX"), _tensorboard))
LOGGERS.add("wandb", LoggerCard("wandb", ("wandb",), lambda out: WandbLogger("wandb", out)))
LOGGERS.add("mlflow", LoggerCard("mlflow", ("mlflow",), lambda out: MlflowLogger("mlflow", out)))
