"""Training the head alone: every image goes through the backbone once, and its embeddings are kept for other runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset._io.npz import read_npz, write_npz
from openset.data.place import cache_folder
from openset.errors import OpenSetError
from openset.models.weights import fingerprint_of
from openset.train.config import Config
from openset.train.feed import Feed, Vectors
from openset.train.infer import run_network
from openset.train.network import Network
from openset.train.pretrained import files_of

Embed = Callable[[Feed], Feed]
"""From images to their embeddings; or nothing is done, where the backbone is trained too."""


def as_they_are(feed: Feed) -> Feed:
    """Images stay images."""
    return feed


@contextmanager
def backbone_frozen(network: Network, config: Config, device: torch.device, data: str) -> Iterator[Embed]:
    """With `train.frozen`, the network takes embeddings inside, which the yielded function makes of images.

    `data` is the fingerprint of the protocol's data.
    """
    if not config.train.frozen:
        yield as_they_are
        return
    if network.method.tap or len(network.method.all_roles) > 1:
        raise OpenSetError(
            f"'train.frozen' trains the head alone, and the method '{config.method.name}' works inside the network: "
            "mix at the embedding, choose another method, or leave 'train.frozen' out."
        )
    network.to(device).backbone.requires_grad_(False)
    decided_by: list[Any] = [fingerprint_of(files_of(config.pretrained, config.data_root)), data, config.backbone.name]
    decided_by += [config.augment.crop, config.data.size, config.data.channels, *config.data.mean, *config.data.std]

    def embed(feed: Feed) -> Feed:
        network.sees_embeddings = False
        try:
            vectors = _embeddings(network, feed, config, decided_by)
        finally:
            network.sees_embeddings = True
        return Feed(Vectors(vectors, feed.labels), config.data)

    network.sees_embeddings = True
    try:
        yield embed
    finally:
        network.sees_embeddings = False


def _embeddings(network: Network, feed: Feed, config: Config, decided_by: list[Any]) -> NDArray[np.float32]:
    """Of all samples of a feed; from the cache, if the same network has seen the same samples before."""
    ids = np.asarray(getattr(feed.part, "ids", np.arange(len(feed.part))))[feed.rows]
    key = fingerprint([ids, np.array([repr(one) for one in decided_by])])
    file = cache_folder() / "embeddings" / f"{key}.npz"
    if file.exists():
        found: NDArray[np.float32] = read_npz(file)["features"]
        return found
    features = run_network(network, feed, config.augment).features
    assert features is not None
    write_npz(file, {"features": features})
    return features
