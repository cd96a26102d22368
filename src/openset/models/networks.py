"""A torch network as a model: its last layer is found by what it computes, and what enters it are the features."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from openset.errors import OpenSetError
from openset.models.card import Answers, Takes
from openset.posthoc import Head

_ROUNDING = 1e-3
"""By how much of the largest logit a head may miss: single precision, in another order of adding."""


def logits_of(answer: Any) -> Tensor:
    """The logits in whatever a network returns: a tensor, or an object or mapping that has `logits`."""
    found = answer
    if isinstance(answer, Mapping):
        found = answer.get("logits")
    elif not isinstance(answer, Tensor):
        found = getattr(answer, "logits", None)
    if not isinstance(found, Tensor) or found.ndim != 2:
        shape = list(found.shape) if isinstance(found, Tensor) else type(answer).__name__
        raise OpenSetError(f"The network must return logits of shape (n, K), and returned {shape}: is it a classifier?")
    return found


class LastLayer:
    """The linear layer that makes a network's logits, found in one forward pass; none where no layer does."""

    def __init__(self, layer: nn.Linear | None, why: str = "") -> None:
        self.layer, self.why = layer, why

    @classmethod
    def find(cls, network: nn.Module, run: Callable[[], Tensor]) -> tuple["LastLayer", Tensor, Tensor | None]:
        """The layer, with the logits and features of the pass in which it was found."""
        seen: list[tuple[nn.Linear, Tensor, Tensor]] = []

        def keep(layer: nn.Module, inputs: Any, made: Any) -> None:
            assert isinstance(layer, nn.Linear)
            if isinstance(made, Tensor) and inputs and isinstance(inputs[0], Tensor):
                seen.append((layer, inputs[0], made))

        with ExitStack() as hooks:
            for one in network.modules():
                if isinstance(one, nn.Linear):
                    hooks.enter_context(_removed(one.register_forward_hook(keep)))
            logits = run()
        for layer, entered, made in reversed(seen):
            if made.shape == logits.shape and torch.equal(made.float(), logits.float()) and entered.ndim == 2:
                why = _wrong(layer, entered, logits)
                return cls(None if why else layer, why), logits, None if why else entered
        return cls(None, "no linear layer of it returns the logits"), logits, None

    def watch(self, run: Callable[[], Tensor]) -> tuple[Tensor, Tensor | None]:
        """Logits of a pass, and what entered the layer."""
        if self.layer is None:
            return run(), None
        entered: list[Tensor] = []
        with _removed(self.layer.register_forward_pre_hook(lambda _, inputs: entered.append(inputs[0]))):
            logits = run()
        return logits, entered[-1]

    def head(self) -> Head | None:
        """Weight and bias."""
        if self.layer is None:
            return None
        bias = self.layer.bias
        return _array(self.layer.weight), None if bias is None else _array(bias)


class _removed:  # noqa: N801  a context, used like a function
    """A hook for the length of a block."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self.handle.remove()


def _wrong(layer: nn.Linear, entered: Tensor, logits: Tensor) -> str:
    """Why weight and bias do not make the logits from the features; empty where they do."""
    bias = 0.0 if layer.bias is None else layer.bias.float()
    made = entered.float() @ layer.weight.float().T + bias
    off = (made - logits.float()).abs().max().item()
    if off > _ROUNDING * max(1.0, logits.float().abs().max().item()):
        return f"its last layer changes more than a linear layer does (by {off:.2g})"
    return ""


def _array(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()


@dataclass(eq=False)
class TorchModel:
    """A torch network with the preparation that belongs to it. `collate` makes its keyword arguments of a batch."""

    name: str
    network: nn.Module
    prepare: Callable[[Any], Any]
    collate: Callable[[Sequence[Any]], Mapping[str, Any]]
    class_names: tuple[str, ...] | None
    fingerprint: str
    preparation: dict[str, Any]
    takes: Takes = "images"
    device: str = "cpu"
    notes: list[str] = field(default_factory=list)
    background: bool = False
    score: dict[str, Any] | None = None
    own_score: None = None
    _last: LastLayer | None = None

    def __post_init__(self) -> None:
        try:
            self.network.eval().to(self.device)
        except (RuntimeError, AssertionError) as error:
            raise OpenSetError(f"{self.name} cannot run on the device '{self.device}': {_line(error)}.") from error

    @property
    def head(self) -> Head | None:
        """Weight and bias of the last layer where that is linear; known once the network has run."""
        return None if self._last is None else self._last.head()

    @torch.inference_mode()
    def run(self, batch: Sequence[Any]) -> Answers:
        """Logits and features of prepared samples."""
        inputs = {key: value.to(self.device) for key, value in self.collate(batch).items()}
        positional = inputs.pop("", None)

        def forward() -> Tensor:
            return logits_of(self.network(**inputs) if positional is None else self.network(positional))

        try:
            if self._last is None:
                self._last, logits, features = LastLayer.find(self.network, forward)
                if self._last.layer is None:
                    self.notes.append(f"Features and the last layer are left out: {self._last.why}.")
            else:
                logits, features = self._last.watch(forward)
        except (RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, OpenSetError):
                raise
            raise OpenSetError(f"{self.name} cannot be run on this input: {_line(error)}.") from error
        return Answers(_array(logits), None if features is None else _array(features))


def stacked(batch: Sequence[Any]) -> dict[str, Tensor]:
    """Arrays of one shape as the only argument of a network."""
    return {"": torch.from_numpy(np.stack(batch))}


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
