"""What every method is: a head that turns embeddings into logits, a loss, and an unknown score."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from openset._core.registry import Registry
from openset.errors import OpenSetError
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing
from openset.posthoc import SCORES, Outputs, parse_score


class Moment(NamedTuple):
    """Where in the training a batch is. All chance in a method comes from `seed`, so that a step can be repeated."""

    seed: int
    epoch: int
    progress: float
    """Epochs done so far, with fraction."""

    def generator(self, device: torch.device | str = "cpu") -> torch.Generator:
        """Random numbers of this step."""
        return torch.Generator(device=device).manual_seed(self.seed)


class Batch:
    """One training batch; what the network makes of it is computed when a loss asks for it."""

    def __init__(self, network: "Trainable", inputs: Tensor, labels: Tensor, moment: Moment) -> None:
        self.network, self.inputs, self.moment = network, inputs, moment
        self.labels = labels
        """>= 0 a known class, -1 a negative."""

    @cached_property
    def hidden(self) -> Tensor:
        """Activations after the stage that the method asked for with `tap`."""
        return self.network.begin(self.inputs)

    @cached_property
    def embedding(self) -> Tensor:
        """What the backbone says."""
        return self.network.end(self.hidden)

    @cached_property
    def logits(self) -> Tensor:
        """What the head says."""
        return self.network.classify(self.embedding)

    def finish(self, hidden: Tensor) -> Tensor:
        """Logits of changed hidden activations, without touching running statistics."""
        with frozen_statistics(self.network):
            return self.network.classify(self.network.end(hidden))


class Trainable(nn.Module):
    """A backbone in two parts and a head, as `Batch` needs it."""

    def begin(self, inputs: Tensor) -> Tensor:
        """Inputs to hidden activations."""
        raise NotImplementedError

    def end(self, hidden: Tensor) -> Tensor:
        """Hidden activations to embeddings."""
        raise NotImplementedError

    def classify(self, embedding: Tensor) -> Tensor:
        """Embeddings to logits, in full precision."""
        raise NotImplementedError


@contextmanager
def frozen_statistics(module: nn.Module) -> Iterator[None]:
    """Batch norms use the batch's statistics but do not remember them."""
    norms = [one for one in module.modules() if isinstance(one, nn.modules.batchnorm._BatchNorm)]
    before = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, before, strict=True):
            norm.momentum = momentum


class Method(nn.Module):
    """Base of all methods; plain cross-entropy with a linear head unless a method says otherwise.

    A subclass overrides what differs: `forward` (the head), `loss`, and `score` or `unknown_score`. Its options are
    the keyword arguments of `__init__`.
    """

    title: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    score: str = "max_logit"
    """Name in `openset.posthoc` of the score that `unknown_score` is."""
    background: ClassVar[bool] = False
    """Whether the last of K+1 logits is a background class."""
    uses_negatives: ClassVar[bool] = False
    """Whether samples of negative classes take part in training."""
    trained_as: ClassVar[str] = ""
    """Name of another method whose training this one shares; only the score differs."""
    warm_start_from: ClassVar[str] = ""
    """Name of another method whose training is the same, to the last bit, for the first `plain_epochs` epochs."""
    plain_epochs: float = 0.0
    all_roles: ClassVar[tuple[str, ...]] = ("classifier",)
    """Everybody who is trained in some epoch."""
    tap: int | None = None
    """Number of backbone stages after which the method wants to see the hidden activations."""

    def __init__(
        self, n_features: int, n_classes: int, *, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform"
    ) -> None:
        super().__init__()
        self.n_features, self.n_classes = n_features, n_classes
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)
        self.head = self.make_head()

    def make_head(self) -> nn.Module:
        """The layer from embeddings to logits."""
        return nn.Linear(self.n_features, self.n_outputs(self.n_classes), bias=False)

    @classmethod
    def n_outputs(cls, n_classes: int) -> int:
        """Number of logits for K known classes."""
        return n_classes + 1 if cls.background else n_classes

    def forward(self, embedding: Tensor) -> Tensor:
        """Logits of embeddings."""
        logits: Tensor = self.head(embedding)
        return logits

    def linear_head(self) -> tuple[NDArray[np.float32], NDArray[np.float32] | None] | None:
        """Weight and bias of the layer that makes logits from embeddings; None where it is no linear layer."""
        if type(self).forward is not Method.forward or not isinstance(self.head, nn.Linear):
            return None
        bias = self.head.bias
        weight = self.head.weight.detach().float().cpu().numpy()
        return weight, None if bias is None else bias.detach().float().cpu().numpy()

    def loss(self, batch: Batch, role: str) -> Tensor:
        """What the optimiser of `role` makes small."""
        value: Tensor = self.classification(batch.logits, batch.labels)
        return value

    def unknown_score(self, outputs: Outputs) -> NDArray[np.float64]:
        """Unknown scores of stored outputs, higher = more unknown."""
        return SCORES[self.score].compute(outputs, None)

    def score_used(self) -> dict[str, Any]:
        """Name and parameters of the score that `unknown_score` is, as results hold them."""
        return parse_score(self.score).as_json()

    def prepare(self, labels: Tensor) -> None:
        """See all training labels once, before training."""

    def adapt(self, backbone: nn.Module, shape: tuple[int, ...]) -> None:
        """Change the backbone or build parts that depend on the shape of the inputs (C, H, W), before training."""

    def roles(self, epoch: int) -> tuple[str, ...]:
        """Who is trained in this epoch, in turn. One optimiser each; the last is always the classifier."""
        return self.all_roles

    def parameters_of(self, role: str, backbone: nn.Module) -> Iterable[nn.Parameter]:
        """The parameters that `role` trains."""
        return [*backbone.parameters(), *self.parameters()]

    def optimizer_of(self, role: str, parameters: list[nn.Parameter]) -> torch.optim.Optimizer | None:
        """A method's own optimiser for `role`; None means the one of the recipe."""
        return None


def adopt_method(name: str, thing: Any) -> type[Method]:
    """A class that a user wrote, if it is a method."""
    if not isinstance(thing, type) or not issubclass(thing, Method):
        raise OpenSetError("this is not a method: a method is a class that inherits from openset.methods.Method.")
    return thing


METHODS: Registry[type[Method]] = Registry("method", group="openset.methods", adopt=adopt_method)


def options_of(maker: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Keyword options of a method or backbone, also those it inherits: what a recipe may set."""
    found: dict[str, inspect.Parameter] = {}
    makers = reversed(maker.__mro__) if isinstance(maker, type) else [maker]
    for one in makers:
        function = one.__dict__.get("__init__") if isinstance(one, type) else one
        if inspect.isfunction(function):
            own = inspect.signature(function).parameters
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in own.values()):
                found = {}  # without **options nothing is inherited
            found |= {name: one for name, one in own.items() if one.kind is one.KEYWORD_ONLY}
    return found
