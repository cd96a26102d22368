"""Executors: who runs the tasks of a grid. One file each, found by its name in this folder."""

from importlib import import_module
from pkgutil import iter_modules

from openset.studies.executors._base import EXECUTORS as EXECUTORS
from openset.studies.executors._base import Executor as Executor
from openset.studies.executors._base import Resources as Resources

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    if not _module.name.startswith("_"):
        import_module(f"openset.studies.executors.{_module.name}")
