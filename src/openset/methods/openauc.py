"""OpenAUC: learn to classify, and to rank mixtures of classes above correctly classified knowns."""

from typing import Any, ClassVar

from torch import Tensor

from openset.errors import OpenSetError, check_choice
from openset.methods._base import METHODS, Batch, Method, Moment
from openset.methods._mixing import Pairing
from openset.methods._openauc_loss import OpenAUCLoss, Score
from openset.methods._pairs import Surrogate
from openset.posthoc import SCORES


@METHODS.register("openauc")
class OpenAUC(Method):
    """CE + weight * [known classified correctly] * surrogate(r(mixture) - r(known)); unknown score r = -max logit.

    Wang et al., NeurIPS 2022, eq. 17 and appendix D. `mix_at` says where samples are mixed: `embedding` (the last
    linear layer is f_post), or a number of backbone stages n >= 0, after which activations are mixed and go through
    the rest (0 mixes the inputs). The first `start` epochs are plain cross-entropy, and `warmup` epochs then bring the
    weight from 0 to its value. `reject_by` names the score that rejects, where that is not the one that the loss
    ranks. The losses that this class and its variants use are in `OpenAUCLoss`, which explains the other options.
    """

    title = "OpenAUC"
    paper = "arXiv:2210.13458"
    warm_start_from = "softmax"
    use_switch: ClassVar[bool] = True

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        weight: float = 0.1,
        pairing: Pairing = "slots",
        surrogate: Surrogate = "square",
        score: Score = "max_logit",
        reject_by: str = "",
        alpha: float = 2.0,
        mix_at: str | int = "embedding",
        start: float = 0.0,
        warmup: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        self.criterion = OpenAUCLoss(
            weight,
            pairing=pairing,
            surrogate=surrogate,
            score=score,
            alpha=alpha,
            switch=self.use_switch,
            **options,
        )
        usable = [name for name, card in SCORES.items() if not card.fitted]
        self.score = check_choice("openauc", "reject_by", reject_by or score, usable)
        self.plain_epochs, self.warmup = start, warmup
        if mix_at != "embedding":
            if not isinstance(mix_at, int) or mix_at < 0:
                raise OpenSetError(f"openauc: 'mix_at' must be 'embedding' or a number of stages, got {mix_at!r}.")
            self.tap = mix_at

    def loss(self, batch: Batch, role: str) -> Tensor:
        """Classification and ranking."""
        strength = self.strength(batch.moment)
        if strength == 0:
            return super().loss(batch, role)
        plan = self.criterion.plan(batch.labels, batch.moment.seed)
        mixed = None if self.tap is None else batch.finish(plan.mix(batch.hidden))
        value: Tensor = self.criterion(batch.logits, batch.labels, plan=plan, mixed=mixed, strength=strength)
        return value

    def strength(self, moment: Moment) -> float:
        """How much of the weight counts at this moment of the training."""
        since = moment.progress - self.plain_epochs
        if since < 0:
            return 0.0
        return min(1.0, since / self.warmup) if self.warmup > 0 else 1.0
