"""The loss that optimises OpenAUC."""

from typing import Literal

import torch
from torch import Tensor, nn

from openset.errors import OpenSetError, check_choice
from openset.methods._cross_entropy import CrossEntropyLoss, Smoothing, mean_over
from openset.methods._mixing import MixPlan, Pairing, plan_mixing
from openset.methods._pairs import SURROGATES, Surrogate, mean_over_pairs

Score = Literal["max_logit", "msp"]


class OpenAUCLoss(nn.Module):
    """CE + weight * mean over pairs of [x is classified correctly] * surrogate(r(x~) - r(x)).

    The mean is over all pairs, as in eq. 17; with `pairing="halves"` over the pairs whose known is classified
    correctly, as in the released experiments, so that at an accuracy of .1 its term is ten times larger.

    x is a known, x~ a mixture of knowns of two classes that stands for an unknown, r the unknown score. Without
    gradient through the switch [...]. Mixtures of logits are the logits of mixed embeddings, because the last layer
    is linear; to mix elsewhere in the network, make a `plan`, pass `plan.mix(hidden)` through the rest of the network
    and give the result as `mixed`.

    Args:
        weight: lambda in eq. 17.
        pairing: `slots`, `halves` or `all`; see `plan_mixing`. Pairs are formed within a batch, so with several
            processes within each process' part of it.
        surrogate: `square` (1 - t)^2, `squared_hinge` max(0, 1 - t)^2, `logistic` log(1 + e^-t). Square punishes
            leads above 1 as well.
        score: r = -max logit, or `msp`: r = 1 - max probability.
        alpha: of the Beta distribution of the mixing fractions.
        switch: off for the loss of Acc + AUC, which ranks misclassified knowns as well.

    >>> _ = torch.manual_seed(0)
    >>> loss = OpenAUCLoss()(torch.randn(8, 3), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1]))
    """

    def __init__(
        self,
        weight: float = 0.1,
        *,
        pairing: Pairing = "slots",
        surrogate: Surrogate = "square",
        score: Score = "max_logit",
        alpha: float = 2.0,
        switch: bool = True,
        label_smoothing: float = 0.0,
        smoothing: Smoothing = "uniform",
    ) -> None:
        super().__init__()
        check_choice("openauc", "pairing", pairing, ["slots", "halves", "all"])
        check_choice("openauc", "surrogate", surrogate, SURROGATES)
        check_choice("openauc", "score", score, ["max_logit", "msp"])
        if pairing == "all" and surrogate == "logistic":
            raise OpenSetError(
                "openauc: 'logistic' over all pairs would cost the square of the batch size; "
                "use 'squared_hinge', or pairing 'slots'."
            )
        if alpha <= 0:
            raise OpenSetError(f"openauc: 'alpha' must be above 0, got {alpha:g}.")
        self.weight, self.pairing, self.surrogate, self.score = weight, pairing, surrogate, score
        self.alpha, self.switch = alpha, switch
        self.classification = CrossEntropyLoss(label_smoothing, smoothing)

    def plan(self, labels: Tensor, seed: int | None = None) -> MixPlan:
        """Which samples to mix; without a seed by torch's own random numbers."""
        return plan_mixing(labels, self.pairing, self.alpha, seed)

    def forward(
        self,
        logits: Tensor,
        labels: Tensor,
        *,
        plan: MixPlan | None = None,
        mixed: Tensor | None = None,
        strength: float = 1.0,
    ) -> Tensor:
        """The loss of logits (n, K) and labels (n). `strength` scales the weight, for a warm-up."""
        value: Tensor = self.classification(logits, labels)
        plan = plan or self.plan(labels)
        logits = logits.float()
        mixed = plan.mix(logits) if mixed is None else mixed.float()
        return value + strength * self.weight * self.auc_risk(logits, labels, mixed, plan)

    def auc_risk(self, logits: Tensor, labels: Tensor, mixed: Tensor, plan: MixPlan) -> Tensor:
        """The second term: how badly mixtures are ranked above the knowns."""
        known, opened = self.unknown_score(logits), self.unknown_score(mixed)
        counts = logits.argmax(dim=1) == labels if self.switch else labels >= 0
        if plan.partner is None:
            return mean_over_pairs(known, counts, opened, plan.usable, self.surrogate)
        cost = SURROGATES[self.surrogate](opened - known[plan.partner])
        ranked = plan.usable & counts[plan.partner]
        if self.pairing == "halves":
            return mean_over(cost, ranked)
        return mean_over(torch.where(ranked, cost, 0), plan.usable)

    def unknown_score(self, logits: Tensor) -> Tensor:
        """R of logits, with gradient."""
        return -logits.max(dim=1).values if self.score == "max_logit" else 1 - logits.softmax(dim=1).max(dim=1).values
