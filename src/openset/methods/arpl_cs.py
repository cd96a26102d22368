"""ARPL with confusing samples."""

import math
from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from openset.errors import OpenSetError, check_choice
from openset.methods._base import METHODS, Batch
from openset.methods._confusing import (
    N_NOISE,
    Discriminator,
    Generator,
    mean_entropy,
    seeing_generated,
    split_batch_norms,
)
from openset.methods.arpl import ARPL


@METHODS.register("arpl_cs")
class ARPLConfusing(ARPL):
    """ARPL, and a generator of images that look real yet of no class; unknown score = -max logit.

    Chen et al., TPAMI 2021. Generator and discriminator play the usual game; generator and classifier both add
    `confusion` times a term that is small where generated images look of no class. `confusion_term="released"` is
    exp(-H), H being the mean entropy of the softmax of the distances d, as in the authors' program; "paper", which
    maximises the entropy, is log K - H of the logits d - x.c, with a gradient hundreds of times larger. Real and
    generated images have batch norms of their own. Every other epoch runs without generation, so that two epochs here
    are one of the paper's.
    """

    title = "ARPL with confusing samples"
    all_roles = ("discriminator", "generator", "classifier")

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        confusion: float = 0.1,
        confusion_term: Literal["released", "paper"] = "released",
        filters: int = 64,
        learning_rate: float = 2e-4,
        **options: Any,
    ) -> None:
        super().__init__(n_features, n_classes, **options)
        self.confusion, self.filters, self.learning_rate = confusion, filters, learning_rate
        self.confusion_term = check_choice("arpl_cs", "confusion_term", confusion_term, ["released", "paper"])
        self.players = nn.ModuleDict()

    def adapt(self, backbone: nn.Module, shape: tuple[int, ...]) -> None:
        """Build generator and discriminator for images of this shape."""
        if len(shape) != 3:
            raise OpenSetError("arpl_cs generates images, and this data has feature vectors: use arpl.")
        split_batch_norms(backbone)
        self.players["generator"] = Generator(shape, self.filters)
        self.players["discriminator"] = Discriminator(shape, self.filters)

    def roles(self, epoch: int) -> tuple[str, ...]:
        """Generation in every other epoch."""
        return self.all_roles if epoch % 2 == 0 else ("classifier",)

    def parameters_of(self, role: str, backbone: nn.Module) -> Iterable[nn.Parameter]:
        """Each player has its own; all else is the classifier's."""
        if role != "classifier":
            return list(self.players[role].parameters())
        players = {id(parameter) for parameter in self.players.parameters()}
        return [one for one in super().parameters_of(role, backbone) if id(one) not in players]

    def optimizer_of(self, role: str, parameters: list[nn.Parameter]) -> torch.optim.Optimizer | None:
        """Adam as DCGAN uses it; the classifier follows the recipe."""
        if role == "classifier":
            return None
        return torch.optim.Adam(parameters, lr=self.learning_rate, betas=(0.5, 0.999))

    def loss(self, batch: Batch, role: str) -> Tensor:
        """The loss of one player."""
        if role == "classifier":
            value = super().loss(batch, role)
            if "generator" not in self.roles(batch.moment.epoch):
                return value
            with torch.no_grad():
                images = self.generate(batch)
            return value + self.confusion * self.confusing(batch, images)
        images = self.generate(batch)
        judge = self.players["discriminator"]
        if role == "generator":
            return _binary_loss(judge(images), real=True) + self.confusion * self.confusing(batch, images)
        return _binary_loss(judge(batch.inputs), real=True) + _binary_loss(judge(images.detach()), real=False)

    def generate(self, batch: Batch) -> Tensor:
        """Images of this step's noise."""
        generator = batch.moment.generator()
        noise = torch.randn(len(batch.inputs), N_NOISE, generator=generator).to(batch.inputs.device)
        images: Tensor = self.players["generator"](noise)
        return images

    def confusing(self, batch: Batch, images: Tensor) -> Tensor:
        """How certain the classifier is of generated images."""
        with seeing_generated(batch.network):
            embedding = batch.network.end(batch.network.begin(images))
        if self.confusion_term == "released":
            return (-mean_entropy(self.head(embedding))).exp()
        return math.log(self.n_classes) - mean_entropy(batch.network.classify(embedding))


def _binary_loss(logits: Tensor, *, real: bool) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits.float(), torch.full_like(logits.float(), float(real)))
