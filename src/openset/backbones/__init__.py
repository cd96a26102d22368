"""Backbones: networks from images or vectors to embeddings. `timm:NAME` gives any network of the timm package."""

from importlib import import_module
from pkgutil import iter_modules

from openset.errors import OpenSetError, did_you_mean, needing

with needing("A backbone"):
    from torch import nn

from openset.backbones._base import BACKBONES, Backbone

__all__ = ["BACKBONES", "Backbone", "build_backbone", "find_backbone"]

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        import_module(f"openset.backbones.{_module.name}")


def find_backbone(name: str) -> type[Backbone]:
    """The class of a backbone; for `timm:NAME` the adapter."""
    if name.startswith("timm:"):
        return BACKBONES["timm"]
    if name == "timm" or name not in BACKBONES:
        choices = [one for one in BACKBONES if one != "timm"] + ["timm:NAME"]
        raise OpenSetError(f"There is no backbone named {name!r}. {did_you_mean(name, choices)}")
    return BACKBONES[name]


def build_backbone(name: str, shape: tuple[int, ...], n_outputs: int, **options: object) -> Backbone:
    """A backbone for inputs of `shape` (C, H, W) or (D,), in front of a head with `n_outputs` logits.

    >>> build_backbone("classifier32", (3, 32, 32), 6).n_features
    128
    """
    made = find_backbone(name)
    if len(shape) != made.n_axes:
        kinds = {1: "feature vectors (use backbone 'mlp')", 3: "images (use 'fastnet', 'classifier32' or 'resnet50')"}
        raise OpenSetError(f"The backbone '{name}' does not fit this data, which has {kinds[len(shape)]}.")
    if name.startswith("timm:"):
        options = {**options, "model": name.removeprefix("timm:")}
    backbone = made(shape, n_outputs, **options)
    assert isinstance(backbone, nn.Module)
    return backbone
