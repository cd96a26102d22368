"""Engines: what counts the parts. One file each, found by its name in this folder."""

from importlib import import_module
from pkgutil import iter_modules

from openset.scale.engines._base import ENGINES as ENGINES
from openset.scale.engines._base import Engine as Engine

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        import_module(f"openset.scale.engines.{_module.name}")
