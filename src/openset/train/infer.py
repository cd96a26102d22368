"""What a trained network says about a part: outputs for post-hoc scores, and scores of its method."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from openset.posthoc import Outputs, softmax
from openset.scores import Scores
from openset.train.augment import center_crop, views
from openset.train.config import Augment
from openset.train.feed import Feed, in_order
from openset.train.network import Network

if TYPE_CHECKING:
    from openset.methods import Method
    from openset.protocols import Part

_BATCH = 256


def run_network(network: Network, feed: Feed, augment: Augment) -> Outputs:
    """Logits and features of all samples, in full precision: rounded logits would tie."""
    network.eval()
    logits, features = [], []
    for inputs, _ in feed.batches(in_order(len(feed), _BATCH)):
        embedding, batch_logits = forward_views(network, inputs, augment)
        logits.append(batch_logits)
        features.append(embedding)
    return Outputs(
        labels=feed.labels,
        logits=torch.cat(logits).numpy(),
        features=torch.cat(features).numpy(),
        background=network.method.background,
        head=network.method.linear_head(),
    )


@torch.no_grad()
def forward_views(network: Network, images: Tensor, augment: Augment) -> tuple[Tensor, Tensor]:
    """Embeddings and logits of a batch, averaged over the views that the recipe asks for."""
    device = next(network.parameters()).device
    embedding, logits = mean_of_views(network, center_crop(images, augment).to(device), augment)
    return embedding.cpu(), logits.cpu()


def mean_of_views(network: Network, images: Tensor, augment: Augment) -> tuple[Tensor, Tensor]:
    """The same of images that are cropped and where the network is."""
    embedding, logits = torch.zeros(1, device=images.device), torch.zeros(1, device=images.device)
    for weight, view in views(images, augment.test_views):
        one, view_logits = network(view)
        embedding, logits = embedding + weight * one.float(), logits + weight * view_logits.float()
    return embedding, logits


def scores_of(
    method: "Method", outputs: Outputs, part: "Part", class_names: tuple[str, ...], meta: dict[str, Any]
) -> Scores:
    """Scores as the method means them."""
    assert outputs.logits is not None
    return Scores(
        part.labels,
        outputs.known_logits().argmax(axis=1),
        method.unknown_score(outputs),
        softmax(outputs.logits, background=outputs.background).astype(np.float32),
        class_names,
        ids=part.ids,
        groups=part.groups,
        open_classes=part.open_classes,
        meta={**meta, "score": method.score_used(), "background": outputs.background},
    )


def as_arrays(
    outputs: Outputs, part: "Part", class_names: tuple[str, ...], meta: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """Outputs as an NPZ file holds them; `openset evaluate` makes any post-hoc score from it."""
    metadata = json.dumps({"class_names": class_names, "meta": meta})
    weight, bias = outputs.head or (None, None)
    arrays: dict[str, Any] = {
        "labels": part.labels,
        "logits": outputs.logits,
        "features": outputs.features,
        "weight": weight,
        "bias": bias,
        "ids": part.ids,
        "groups": part.groups,
        "open_classes": part.open_classes,
        "openset": np.array(metadata),
    }
    return {name: array for name, array in arrays.items() if array is not None}
