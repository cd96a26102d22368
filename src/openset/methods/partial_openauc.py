"""Partial OpenAUC: rank only the mixtures that look most like knowns."""

from typing import Any

import torch
from torch import Tensor

from openset.errors import OpenSetError, check_share
from openset.methods._base import METHODS, Batch
from openset.methods._mixing import MixPlan
from openset.methods._pairs import Surrogate
from openset.methods.openauc import OpenAUC


@METHODS.register("partial_openauc")
class PartialOpenAUC(OpenAUC):
    """OpenAUC at low false positive rates: only the fraction `max_fpr` of mixtures with the lowest scores is ranked.

    At a threshold that accepts a fraction f of the unknowns, those accepted are the f lowest scored. So the part of the
    curve below f = `max_fpr` (the open problem named at the end of Wang et al., NeurIPS 2022) depends on those alone.
    The batch is mixed `copies` times, so that there are some to choose from, and every chosen mixture is compared
    with every correctly classified known. Other options as in `openauc`; mixing is at the embedding.
    """

    title = "Partial OpenAUC"

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        max_fpr: float = 0.1,
        copies: int = 4,
        weight: float = 0.1,
        surrogate: Surrogate = "squared_hinge",
        alpha: float = 2.0,
        start: float = 0.0,
        warmup: float = 0.0,
        label_smoothing: float = 0.0,
    ) -> None:
        options: dict[str, Any] = {"weight": weight, "surrogate": surrogate, "alpha": alpha}
        options |= {"start": start, "warmup": warmup}
        super().__init__(n_features, n_classes, pairing="all", label_smoothing=label_smoothing, **options)
        self.max_fpr = check_share("partial_openauc", "max_fpr", max_fpr)
        if copies < 1:
            raise OpenSetError(f"partial_openauc: 'copies' must be at least 1, got {copies}.")
        self.copies = copies

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification, and ranking of the hardest mixtures."""
        if self.strength(batch.moment) == 0:
            return self.classification(batch.logits, batch.labels)
        logits, labels = batch.logits.float(), batch.labels
        plans = [self.criterion.plan(labels, batch.moment.seed + copy) for copy in range(self.copies)]
        joined = {name: torch.cat([getattr(one, name) for one in plans]) for name in _TENSORS}
        plan = MixPlan(**joined, partner=None)
        mixed = plan.mix(logits)
        hardest = self.hardest(self.criterion.unknown_score(mixed.detach()), plan.usable)
        chosen = MixPlan(plan.first, plan.second, plan.share, plan.usable & hardest, partner=None)
        value: Tensor = self.criterion(logits, labels, plan=chosen, mixed=mixed, strength=self.strength(batch.moment))
        return value

    def hardest(self, score: Tensor, usable: Tensor) -> Tensor:
        """True for the fraction `max_fpr` of the usable mixtures with the lowest unknown scores, at least one."""
        ranks = torch.where(usable, score, torch.inf).argsort().argsort()
        return ranks < (self.max_fpr * usable.sum()).ceil().clamp(min=1)


_TENSORS = ("first", "second", "share", "usable")
