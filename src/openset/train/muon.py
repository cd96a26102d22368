"""Muon: an optimiser that learns convolutions in fewer steps than SGD."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

_REST_MOMENTUM = 0.85
_POLYNOMIAL = (3.4445, -4.7750, 2.0315)  # brings singular values in (0, 1] close to 1 when applied again and again
_ROUNDS = 3


class Muon(torch.optim.Optimizer):
    """Filters of convolutions move equally far in all directions, everything else by SGD with Nesterov momentum.

    K. Jordan, 2024. The momentum of a layer's filters, as a matrix with a row per filter, is replaced by a nearly
    orthogonal matrix, so that rare directions are learned as quickly as frequent ones. Filters keep the length 1 on
    average: made for layers that are followed by batch norm. (torch's own Muon takes matrices only.)

    Args:
        parameters: all parameters; those with four axes are filters.
        lr: of filters, in units of their length.
        rest_lr: of everything else.
        momentum: of filters.
        weight_decay: of everything else.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        lr: float = 0.24,
        rest_lr: float = 1.0,
        momentum: float = 0.6,
        weight_decay: float = 0.0,
    ) -> None:
        every = list(parameters)
        groups: list[dict[str, Any]] = [
            {"params": [one for one in every if one.ndim == 4], "filters": True, "lr": lr, "momentum": momentum},
            {"params": [one for one in every if one.ndim != 4], "filters": False, "lr": rest_lr},
        ]
        common = {"momentum": _REST_MOMENTUM, "weight_decay": weight_decay}
        super().__init__([group for group in groups if group["params"]], common)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Move all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                gradient = parameter.grad
                if not group["filters"]:
                    gradient = gradient.add(parameter, alpha=group["weight_decay"])
                state = self.state[parameter]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(parameter)
                momentum = state["momentum"].mul_(group["momentum"]).add_(gradient)
                direction = gradient.add(momentum, alpha=group["momentum"])
                if group["filters"]:
                    parameter.mul_(len(parameter) ** 0.5 / (parameter.norm() + 1e-7))
                    direction = orthogonal(direction.flatten(1)).view(parameter.shape)
                parameter.add_(direction, alpha=-group["lr"])
        return loss


def orthogonal(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors whose singular values are all about 1 (Newton-Schulz iteration)."""
    a, b, c = _POLYNOMIAL
    found = matrix / (matrix.norm() + 1e-7)
    if turned := len(matrix) > matrix.shape[1]:
        found = found.T
    for _ in range(_ROUNDS):
        square = found @ found.T
        found = a * found + (b * square + c * square @ square) @ found
    return found.T if turned else found
