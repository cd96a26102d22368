"""What every engine is: it takes a model, samples and what is to be made of them, and leaves parts on disk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from openset._core.registry import Registry
from openset.models.batches import Done
from openset.models.card import Model, Options, open_model
from openset.models.parts import Parts
from openset.models.samples import Samples

if TYPE_CHECKING:
    import polars as pl


class Content(NamedTuple):
    """Of a part."""

    table: "pl.DataFrame"
    metadata: dict[str, Any]


class Making(Protocol):
    """What is made of the outputs of a model; it travels to other processes."""

    def content(self, model: Model, samples: Samples, batches: Sequence[Done]) -> Content:
        """The part that these batches are."""


@dataclass(frozen=True)
class Opening:
    """How a model is opened, here and in other processes."""

    name: str
    options: Options = field(default_factory=Options)

    def __call__(self) -> Model:
        """The model."""
        return open_model(self.name, self.options)


@dataclass(frozen=True)
class Resources:
    """Workers, and what each of them may use."""

    workers: int | None = None
    """None for as many as there is room for."""
    cpus: int = 1
    gpus: float = 0.0
    retries: int = 3
    """How often a part whose worker died is run again."""


class Engine:
    """Base of all engines."""

    title: ClassVar[str] = ""
    elsewhere: ClassVar[bool] = False
    """Whether it may work on other machines, which must see where the parts go."""

    def __init__(self, opening: Opening, resources: Resources | None = None) -> None:
        self.opening, self.resources = opening, resources or Resources()

    @classmethod
    def check(cls) -> None:
        """Say what is missing, if it cannot be used here."""

    def open_model(self) -> Model:
        """The model, for the command itself: what it takes, its classes and its last layer."""
        return self.opening()

    def run(
        self,
        model: Model,
        making: Making,
        samples: Samples,
        parts: Parts,
        *,
        batch: int,
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Make all parts that are missing."""
        raise NotImplementedError


ENGINES: Registry[type[Engine]] = Registry("engine")
