"""Engines: who runs a model over the parts of many samples. One file each, found by its name in this folder."""

from importlib import import_module
from pkgutil import iter_modules

from openset.models.engines._base import ENGINES as ENGINES
from openset.models.engines._base import Content as Content
from openset.models.engines._base import Engine as Engine
from openset.models.engines._base import Making as Making
from openset.models.engines._base import Opening as Opening
from openset.models.engines._base import Resources as Resources

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        import_module(f"openset.models.engines.{_module.name}")
