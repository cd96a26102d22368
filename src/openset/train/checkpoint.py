"""Weights and training state as safetensors: tensors and JSON, nothing that could run code."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from openset._io import checksums
from openset._io.atomic import replacing
from openset._io.json_files import parse_json
from openset._io.paths import existing
from openset._io.tensor_files import in_order
from openset.errors import OpenSetError

_KEY = "openset"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and a description, whole or not at all: a failure leaves the file that was there."""
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    description = json.dumps(metadata, allow_nan=False)
    marks = {_KEY: description, checksums.KEY: checksums.checksum(description, _bytes_of(plain))}
    content = in_order(save(plain, marks))
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and their description; a file that is cut off or of another kind is refused."""
    file = existing(path)
    try:
        with safe_open(file, "pt") as opened:
            marks = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  not a dict
    except (SafetensorError, OSError) as error:
        raise OpenSetError(
            f"{file} is damaged or cut off ({error}): restore it from a copy, or delete it to train again."
        ) from error
    description = marks.get(_KEY, "null")
    metadata = parse_json(description, f"The description in {file}")
    if not isinstance(metadata, dict):
        raise OpenSetError(f"{file} was not written by openset: its description is missing.")
    checksums.check(file, marks, description, _bytes_of(tensors))
    return tensors, metadata


def _bytes_of(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Tensors of any kind as bytes, with their kind and shape in their names; NumPy does not know all kinds."""
    return {
        f"{name}|{tensor.dtype}|{tuple(tensor.shape)}": tensor.contiguous().reshape(-1).view(torch.uint8).numpy()
        for name, tensor in tensors.items()
    }


def read_description(path: Path) -> dict[str, Any]:
    """The description alone, which is quick; {} where there is none that can be read."""
    try:
        with safe_open(path, "pt") as opened:
            found = json.loads((opened.metadata() or {}).get(_KEY, "null"))
    except (SafetensorError, ValueError, RecursionError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def fingerprint_of(path: Path) -> str:
    """Sixteen hexadecimal digits that tell a weights file from any other."""
    with existing(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def pack_optimizers(optimizers: Mapping[str, torch.optim.Optimizer]) -> dict[str, Tensor]:
    """State of optimisers as named tensors."""
    return {
        f"optimizer/{role}/{place}/{key}": value
        for role, optimizer in optimizers.items()
        for place, entries in optimizer.state_dict()["state"].items()
        for key, value in entries.items()
        if isinstance(value, Tensor)
    }


def unpack_optimizers(optimizers: Mapping[str, torch.optim.Optimizer], tensors: Mapping[str, Tensor]) -> None:
    """The way back."""
    for role, optimizer in optimizers.items():
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            kind, _, rest = name.partition("/")
            if kind == "optimizer" and rest.startswith(f"{role}/"):
                place, key = rest.removeprefix(f"{role}/").split("/")
                state.setdefault(int(place), {})[key] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Names under a prefix."""
    return {f"{prefix}/{name}": value for name, value in tensors.items()}


def under_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What is stored under a prefix."""
    start = f"{prefix}/"
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def load_weights(network: torch.nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Fill a network; weights of another network are refused by name."""
    own = network.state_dict()
    for name in [*own, *tensors]:
        if name not in tensors or name not in own:
            raise OpenSetError(f"{path} holds weights of another network: '{name}' is in only one of them.")
        if own[name].shape != tensors[name].shape:
            raise OpenSetError(
                f"{path} holds weights of another network: '{name}' is {list(tensors[name].shape)}, "
                f"needed is {list(own[name].shape)}."
            )
    network.load_state_dict(tensors)
