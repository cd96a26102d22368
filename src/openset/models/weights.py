"""Weights from safetensors alone: a pickled file could run code when it is loaded."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openset._io.paths import existing
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from torch import nn

PICKLED = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".tar", ".joblib"})


def pickle_refusal(file: Path, convert: str) -> OpenSetError:
    """The sentence for weights in a format that can run code."""
    return OpenSetError(
        f"{file} is a pickled file, which could run code when it is loaded, so it is not read: convert it to "
        f"safetensors where you trust it, {convert}."
    )


def read_weights(path: Path) -> dict[str, Any]:
    """Tensors by name from a .safetensors file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    file = existing(path)
    if file.suffix.lower() in PICKLED:
        raise pickle_refusal(
            file, "with safetensors.torch.save_file(torch.load(FILE, weights_only=True), 'weights.safetensors')"
        )
    if file.suffix.lower() != ".safetensors":
        raise OpenSetError(f"{file}: weights are read from .safetensors files alone.")
    try:
        return dict(load_file(file))
    except (SafetensorError, OSError, ValueError) as error:
        raise OpenSetError(f"{file} is not a readable safetensors file, or it is cut off ({error}).") from error


def fingerprint_of(files: Sequence[Path], *also: Any) -> str:
    """Sixteen hexadecimal digits of the content of weights files, and of what else changes a model's answers."""
    digest = hashlib.sha256()
    for file in files:
        with existing(file).open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    for one in also:
        digest.update(json.dumps(one, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def load_into(network: "nn.Module", state: dict[str, Any], path: Path) -> None:
    """Fill a network; weights of another one are refused with the first name that differs."""
    own = network.state_dict()
    counters = {name for name in own if name.endswith("num_batches_tracked")}  # some files leave them out
    for name in [*(one for one in own if one not in counters), *state]:
        if name not in state or name not in own:
            raise OpenSetError(f"{path} holds weights of another network: '{name}' is in only one of them.")
        if own[name].shape != state[name].shape:
            raise OpenSetError(
                f"{path} holds weights of another network: '{name}' is {list(state[name].shape)}, needed is "
                f"{list(own[name].shape)}."
            )
    network.load_state_dict(state, strict=False)


def n_outputs(network: "nn.Module", state: dict[str, Any]) -> int | None:
    """How many classes the stored weights have, where only the last layer differs from a network of another number."""
    sizes = {
        (len(value), len(state[name]))
        for name, value in network.state_dict().items()
        if name in state and value.ndim and state[name].ndim == value.ndim and value.shape != state[name].shape
    }
    return next(iter(sizes))[1] if len(sizes) == 1 else None
