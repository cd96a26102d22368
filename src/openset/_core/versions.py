"""Which versions something was made with."""

import platform
from importlib.metadata import PackageNotFoundError, version


def versions(*packages: str) -> dict[str, str]:
    """The versions of openset, of `packages` and of Python.

    >>> list(versions("numpy"))
    ['openset', 'numpy', 'python']
    """
    from openset import __version__

    return {"openset": __version__, **{name: _version(name) for name in packages}, "python": platform.python_version()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
