"""Surrogates of the AUC risk, and their sums over all pairs without forming the pairs."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

Surrogate = Literal["square", "squared_hinge", "logistic"]

# What each pair costs, given by how much the open-set sample's unknown score exceeds that of the known.
SURROGATES: dict[str, Callable[[Tensor], Tensor]] = {
    "square": lambda lead: (1 - lead) ** 2,
    "squared_hinge": lambda lead: (1 - lead).clamp(min=0) ** 2,
    "logistic": lambda lead: F.softplus(-lead),
}


def _wide(values: Tensor) -> Tensor:
    """Double precision where the device has it: sums of squares lose digits."""
    return values.float() if values.device.type == "mps" else values.double()


def mean_over_pairs(known: Tensor, switch: Tensor, opened: Tensor, usable: Tensor, surrogate: Surrogate) -> Tensor:
    """Mean over all pairs (i, j) of switch_i * surrogate(opened_j - known_i), j being usable.

    Square in O(n) through the moments of the scores, squared hinge in O(n log n) by sorting them. The scores are
    centred first: their differences matter, and large common values would cost digits.
    """
    a, b = _wide(known) + 1, _wide(opened)
    weight, count = _wide(usable), usable.sum().clamp(min=1)
    centre = ((b * weight).sum() / count).detach()
    a, b = a - centre, b - centre
    if surrogate == "square":
        sums = [weight.sum(), (weight * b).sum(), (weight * b * b).sum()]
    else:
        order = torch.argsort(b.detach())
        b, weight = b[order], weight[order]
        below = torch.searchsorted(b.detach(), a.detach())  # how many open-set samples lead by less than 1
        sums = [_prefix(weight * b**power)[below] for power in range(3)]
    per_known = sums[0] * a**2 - 2 * sums[1] * a + sums[2]
    return (torch.where(switch, per_known, 0).sum() / (count * len(known))).to(known.dtype)


def _prefix(values: Tensor) -> Tensor:
    return F.pad(values.cumsum(0), (1, 0))
