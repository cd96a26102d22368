"""Methods: how a network learns to say "I don't know this". One file each: head, loss and unknown score.

Every loss is a plain `nn.Module` for anybody's training loop; `METHODS` lists the methods that `openset train` offers.
A new method is one new file here with the `METHODS.register` decorator on its class.
"""

from importlib import import_module
from pkgutil import iter_modules

from openset.errors import needing

with needing("A method"):
    import torch  # noqa: F401

from openset.methods._base import METHODS, Batch, Method, Moment, options_of
from openset.methods._cross_entropy import CrossEntropyLoss
from openset.methods._openauc_loss import OpenAUCLoss
from openset.methods.arpl import ARPLLoss
from openset.methods.background import BackgroundLoss
from openset.methods.entropic import EntropicLoss
from openset.methods.gcpl import GCPLLoss
from openset.methods.objectosphere import ObjectosphereLoss
from openset.methods.rpl import RPLLoss

__all__ = [
    "METHODS",
    "ARPLLoss",
    "BackgroundLoss",
    "Batch",
    "CrossEntropyLoss",
    "EntropicLoss",
    "GCPLLoss",
    "Method",
    "Moment",
    "ObjectosphereLoss",
    "OpenAUCLoss",
    "RPLLoss",
    "options_of",
]

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        import_module(f"openset.methods.{_module.name}")
