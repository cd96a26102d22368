"""Backbone and method as one network, and what it says about samples."""

from typing import Any

import torch
from torch import Tensor

from openset.backbones import Backbone
from openset.methods import Batch, Method, Moment
from openset.methods._base import Trainable


class Network(Trainable):
    """Inputs to embeddings to logits. Inputs are shifted and scaled first, so that the weights file is complete."""

    shift: Tensor
    scale: Tensor

    def __init__(
        self, backbone: Backbone, method: Method, *, shift: Tensor | None = None, scale: Tensor | None = None
    ) -> None:
        super().__init__()
        self.backbone, self.method = backbone, method
        self.sees_embeddings = False
        """Whether inputs have gone through the backbone already, which then stays as it is."""
        self.register_buffer("shift", torch.zeros(1) if shift is None else shift)
        self.register_buffer("scale", torch.ones(1) if scale is None else scale)

    def forward(
        self, inputs: Tensor, labels: Tensor | None = None, moment: Moment | None = None, role: str = ""
    ) -> Any:
        """(embedding, logits) of inputs; with labels the loss of `role`, and for the classifier also its logits.

        Both go through here, because this is the call that is wrapped for several processes.
        """
        if labels is None or moment is None:
            embedding = self.end(self.begin(inputs))
            return embedding, self.classify(embedding)
        batch = Batch(self, inputs, labels, moment)
        loss = self.method.loss(batch, role)
        return loss, batch.logits.detach() if role == "classifier" else None

    def begin(self, inputs: Tensor) -> Tensor:
        """Up to the stage that the method wants to see."""
        if self.sees_embeddings:
            return inputs
        values = (inputs - self.shift) / self.scale
        hidden: Tensor = self.backbone(values, stop=self.method.tap or 0)
        return hidden

    def end(self, hidden: Tensor) -> Tensor:
        """From there to the embedding."""
        if self.sees_embeddings:
            return hidden
        embedding: Tensor = self.backbone(hidden, start=self.method.tap or 0)
        return embedding.float()

    def classify(self, embedding: Tensor) -> Tensor:
        """The head, always in full precision: rounded logits would tie."""
        with torch.autocast(embedding.device.type, enabled=False):
            logits: Tensor = self.method(embedding.float())
        return logits
