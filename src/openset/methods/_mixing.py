"""Open-set samples made by mixing knowns of different classes, and which knowns they are compared with."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

Pairing = Literal["slots", "halves", "all"]


@dataclass(frozen=True)
class MixPlan:
    """How to mix a batch: sample `first[j]` with share `share[j]` and `second[j]` with the rest."""

    first: Tensor
    second: Tensor
    share: Tensor
    usable: Tensor
    """False where both are of the same class, or one is not of a known class."""
    partner: Tensor | None
    """The known that mixture j is compared with; None means every known of the batch."""

    def mix(self, values: Tensor) -> Tensor:
        """Mixtures of anything that has one row per sample: logits, embeddings, hidden activations."""
        share = self.share.to(values.dtype).view(-1, *[1] * (values.ndim - 1))
        return share * values[self.first] + (1 - share) * values[self.second]


def plan_mixing(labels: Tensor, pairing: Pairing, alpha: float, seed: int | None = None) -> MixPlan:
    """Choose partners by shuffling and shares by Beta(alpha, alpha).

    slots: every sample is mixed with a shuffled partner and compared with itself (OpenAUC paper, appendix D).
    halves: the second half of the batch is mixed with its own shuffle, one share for all, and compared with the first
    half (the form of the released experiments); the last sample of an odd batch is in neither half.
    all: mixed as in slots, and every mixture is compared with every known.
    """
    if seed is None:
        seed = int(torch.randint(2**62, ()))
    rng = np.random.default_rng(seed)
    n = len(labels)
    if pairing == "halves":
        half = n // 2
        first = np.arange(half, 2 * half)
        second = half + rng.permutation(half)
        share = np.full(half, rng.beta(alpha, alpha))
        partner = np.arange(half)
    else:
        first = np.arange(n)
        second = rng.permutation(n)
        share = rng.beta(alpha, alpha, size=n)
        partner = first
    to = labels.device
    a, b = torch.from_numpy(first).to(to), torch.from_numpy(second).to(to)
    usable = (labels[a] != labels[b]) & (labels[a] >= 0) & (labels[b] >= 0)
    compared = None if pairing == "all" else torch.from_numpy(partner).to(to)
    return MixPlan(a, b, torch.from_numpy(share.astype(np.float32)).to(to), usable, compared)
