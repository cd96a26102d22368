"""Methods, metrics and scores from a file of the user's own: `my.py:mine`.

A file runs only when the user names it on the command line; recipes, run folders and data never name one.
"""

import re
import sys
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from openset._core.registry import Registry
from openset.errors import OpenSetError, did_you_mean

_PLACE = re.compile(r"([^,'\"()]+\.py):([A-Za-z_]\w*)")
_PREFIX = "openset_plugin_"
_TAKEN: dict[tuple[str, str], None] = {}
"""`my.py:mine` with the kind of thing it was taken as, each once."""


def run_file(path: str | Path) -> ModuleType:
    """The module that a file of the user's own makes; it runs once, however often it is named."""
    file = Path(path).resolve()
    if not file.is_file():
        raise OpenSetError(f"There is no file {path}.")
    name = _PREFIX + re.sub(r"\W", "_", str(file))
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise OpenSetError(f"{path} is not a Python file: its name must end in .py.")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look a class's module up there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else _line(error, file)
        raise OpenSetError(f"{path}{line} failed: {type(error).__name__}: {error}") from error
    return module


def _line(error: BaseException, file: Path) -> str:
    """Where in the file it was raised."""
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = f", line {trace.tb_lineno}"
        trace = trace.tb_next
    return line


def resolve(text: str, registry: Registry[Any]) -> str:
    """`text` with every `my.py:mine` replaced by the name of what the file defines, registered from now on.

    Names without a file stay as they are, so a text may be a list, or a name with options.

    >>> resolve("openauc,maxlogit", Registry("method"))
    'openauc,maxlogit'
    """
    return _PLACE.sub(lambda found: _take(found[1].strip(), found[2], registry), text)


def _take(path: str, name: str, registry: Registry[Any]) -> str:
    module = run_file(path)
    if not hasattr(module, name):
        public = [one for one, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise OpenSetError(f"{path} defines no '{name}'. {did_you_mean(name, public)}")
    try:
        taken = registry.take(name, getattr(module, name))
    except OpenSetError as error:
        raise OpenSetError(f"{path}:{name}: {error}") from error
    _TAKEN[f"{module.__file__}:{name}", registry.kind] = None
    return taken


def loaded() -> tuple[tuple[str, str], ...]:
    """Files that were run and what was taken from them, for `load_again` in another process."""
    files = (module.__file__ for name, module in sys.modules.items() if name.startswith(_PREFIX))
    return (*((file, "") for file in files if file), *_TAKEN)


def load_again(plugins: Sequence[tuple[str, str]]) -> None:
    """Run the files, and take from them what `loaded` said."""
    for place, kind in plugins:
        if kind:
            resolve(place, Registry.of_kind(kind))
        else:
            run_file(place)
