"""A pretrained network as the start of a training: a folder with its weights, and what its inputs must be like."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._io.atomic import replacing
from openset._io.json_files import read_json, write_json
from openset._io.paths import existing, is_folder
from openset.backbones import Backbone, find_backbone
from openset.data.place import data_root
from openset.errors import OpenSetError, needing
from openset.models.weights import read_weights

FOLDER = "pretrained"
"""Below the data root."""
_ABOUT, _WEIGHTS = "config.json", "model.safetensors"
_PICKLED = (".pth", ".pt", ".bin")


@dataclass(frozen=True)
class Pretrained:
    """What the folder says of the network in it."""

    folder: Path
    backbone: str
    """Its name here, such as efficientnet_lite0 or timm:resnet50."""
    mean: tuple[float, ...]
    """Pixels in [0, 1] minus this, divided by `std`, are what it was trained on."""
    std: tuple[float, ...]


def folder_of(name: str, root: str | None = None) -> Path:
    """The folder of that name, or the one of a network in the data root.

    >>> folder_of("nets/mine").as_posix()
    'nets/mine'
    """
    given = Path(name)
    return given if len(given.parts) > 1 or is_folder(given) else data_root(root) / FOLDER / name


def is_there(name: str, root: str | None = None) -> bool:
    """Whether there is such a network."""
    return (folder_of(name, root) / _ABOUT).is_file()


def read_pretrained(name: str, root: str | None = None) -> Pretrained:
    """What the folder holds, without its weights; also a folder that timm's networks come in."""
    folder = folder_of(name, root)
    if not (folder / _ABOUT).is_file():
        raise OpenSetError(
            f"There is no pretrained network '{name}': {folder / _ABOUT} is missing. "
            f"'openset pretrained WEIGHTS --backbone NAME --out {folder}' makes such a folder from a weights file."
        )
    content = read_json(folder / _ABOUT)
    if not isinstance(content, dict):
        raise OpenSetError(f"{folder / _ABOUT} must name the network in 'backbone' or 'architecture'.")
    backbone = content.get("backbone")
    if backbone is None and isinstance(content.get("architecture"), str):  # as the hub stores networks of timm
        backbone, content = f"timm:{content['architecture']}", content.get("pretrained_cfg") or {}
    if not isinstance(backbone, str):
        raise OpenSetError(f"{folder / _ABOUT} must name the network in 'backbone' or 'architecture'.")
    find_backbone(backbone)
    mean, std = (_numbers(content.get(key, default), key, folder) for key, default in (("mean", [0]), ("std", [1])))
    return Pretrained(folder, backbone, mean, std)


def _numbers(value: Any, key: str, folder: Path) -> tuple[float, ...]:
    if not isinstance(value, list) or not value or not all(type(one) in (int, float) for one in value):
        raise OpenSetError(f"{folder / _ABOUT}: '{key}' must be a list of one number per channel, got {value!r:.60}.")
    return tuple(float(one) for one in value)


def files_of(name: str, root: str | None = None) -> list[Path]:
    """The files that decide what the network does."""
    return [folder_of(name, root) / _WEIGHTS]


def load_pretrained(backbone: Backbone, name: str, own: str, root: str | None = None) -> None:
    """Fill the backbone, `own` by name; weights of another network are refused by the first name that differs."""
    found = read_pretrained(name, root)
    if found.backbone != own:
        raise OpenSetError(
            f"{found.folder} holds weights of the backbone {found.backbone}, and the recipe has {own}: "
            f"add --backbone pretrained:{name}, or leave 'pretrained' out."
        )
    file = found.folder / _WEIGHTS
    stored = read_weights(file)
    weights = backbone.stages[0] if own.startswith("timm:") else backbone
    filled = weights.state_dict()
    for tensor, value in filled.items():
        if tensor not in stored and not tensor.endswith("num_batches_tracked"):
            raise OpenSetError(f"{file} holds weights of another network than {own}: '{tensor}' is missing.")
        if tensor in stored and stored[tensor].shape != value.shape:
            raise OpenSetError(
                f"{file} does not fit these images: '{tensor}' is {list(stored[tensor].shape)}, needed is "
                f"{list(value.shape)}. Grey images become colour images with data.channels=3."
            )
    weights.load_state_dict({tensor: stored.get(tensor, value) for tensor, value in filled.items()})


def convert(weights: Path, backbone: str, out: Path, *, mean: list[float], std: list[float]) -> Pretrained:
    """A weights file as a folder to train from. Of a pickled file nothing but tensors is loaded: no code runs."""
    with needing("Weights"):
        from safetensors.torch import save_file
    kind = find_backbone(backbone)
    own = {name: value for key, value in _read(weights).items() if (name := kind.own_name(key)) is not None}
    if not own:
        raise OpenSetError(f"{weights} has no tensor that belongs to the backbone {backbone}.")
    with replacing(out / _WEIGHTS) as temporary:
        save_file({name: value.contiguous().clone() for name, value in own.items()}, temporary)  # no memory shared
    write_json(out / _ABOUT, {"backbone": backbone, "mean": mean, "std": std, "made_from": weights.name})
    return read_pretrained(str(out.absolute()))


def _read(weights: Path) -> dict[str, Any]:
    file = existing(weights)
    if file.suffix.lower() not in _PICKLED:
        return read_weights(file)
    import pickle
    import warnings

    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch thinks of old files helps nobody here
            content = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OpenSetError(f"{file} cannot be read as a file of tensors alone ({first:.200}).") from error
    for key in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    if not isinstance(content, dict) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        raise OpenSetError(f"{file} holds no tensors by name: save the state_dict of the network.")
    return content
