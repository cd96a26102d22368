"""Asking the file system about a name: every answer is a path or one sentence."""

import os
from pathlib import Path

from openset.errors import OpenSetError


def existing(path: str | Path, *, may_be_empty: bool = False) -> Path:
    """`path`, if there is a file. Pipes and devices are none: they have no size, and reading them may never end."""
    file = Path(path)
    check_name(file)
    try:
        if file.is_dir():
            raise OpenSetError(f"{file} is a folder; give the name of a file.")
        if not file.exists():
            raise OpenSetError(f"There is no file {file}.")
        if not file.is_file():
            raise OpenSetError(f"{file} is a pipe or a device: save what it gives in a file.")
        if not may_be_empty and file.stat().st_size == 0:
            raise OpenSetError(f"{file} is empty.")
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
    return file


def is_folder(path: str | Path) -> bool:
    """Whether there is such a folder. `Path.is_dir` fails instead where a name is too long for any."""
    return os.path.isdir(path)  # noqa: PTH112


def real_path(path: Path) -> Path:
    """The absolute path without links, also of what is not there yet."""
    try:
        return path.resolve()
    except RuntimeError as error:  # OSError from Python 3.13 on
        raise OpenSetError(f"{path} is a link that leads to itself.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot find {path}: {reason(error)}.") from error


def check_name(path: Path, refused: str = "Cannot read: ") -> None:
    """A name that is not in UTF-8 could neither be shown nor written into any result."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise OpenSetError(f"{refused}the name of the file {shown} is not in UTF-8; rename it.") from error


def reason(error: OSError | RuntimeError) -> str:
    """What the system says, without its number and path."""
    return (getattr(error, "strerror", None) or str(error)).lower()
