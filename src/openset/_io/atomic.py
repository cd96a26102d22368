"""Writing files whole or not at all."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from openset._core.text import half_character
from openset._io.paths import is_folder, reason
from openset.errors import OpenSetError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it only when the block succeeds: never a half file.

    A link stays one, and what it leads to is written; a pipe or a device stays what it is, and is written into.
    """
    target = Path(path)
    if is_folder(target):
        raise OpenSetError(f"Cannot write {target}: it is a folder; give a file name.")
    try:
        through = _is_written_into(target)
        if not through:
            target = target.resolve() if target.is_symlink() else target
            target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=None if through else target.parent, prefix=f".{target.stem[:40]}.", suffix=target.suffix[:40]
        )
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        raise OpenSetError(f"Cannot write {target}: {reason(error)}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if through:
            with temporary.open("rb") as source, _open_into(target) as stream:
                shutil.copyfileobj(source, stream)
            return
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp makes private files; a result is an ordinary one
        temporary.replace(target)
    except OpenSetError:
        raise
    except Exception as error:
        refused = _said_by_system(error)
        if refused is None:
            raise
        raise OpenSetError(f"Cannot write {target}: {reason(refused)}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _said_by_system(error: BaseException | None) -> OSError | None:
    """What the system said first: on a full disk, packing libraries fail once more when they close the file.

    Those in Rust give the number of the system's error in words of their own.
    """
    while error is not None and not isinstance(error, OSError):
        if number := re.search(r"\(os error (\d+)\)", str(error)):
            return OSError(int(number[1]), os.strerror(int(number[1])))
        error = error.__cause__ or error.__context__
    return error


def _is_written_into(target: Path) -> bool:
    """Whether a name stands for a pipe, a device, or an open file of this process such as /dev/stdout."""
    return target.exists() and (not target.is_file() or target.absolute().parts[1:2] in (("dev",), ("proc",)))


def _open_into(target: Path) -> BinaryIO:
    """The pipe or device to write into; this process's own output goes on where it is, also if it is a file."""
    if os.path.samestat(target.stat(), os.fstat(1)):
        sys.stdout.flush()
        return os.fdopen(os.dup(1), "wb")
    return target.open("ab")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise OpenSetError(f"Cannot write {path}: {half_character(error)}.") from error
    with replacing(path) as temporary:
        temporary.write_bytes(content)
