"""One process at a time in a run folder: a lock that says who holds it since when, and that dies with its owner."""

import json
import math
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from openset._io.paths import reason
from openset.errors import OpenSetError

NAME = "run.lock"
BEAT = 20.0
"""Seconds between two signs of life of an owner."""
SILENCE = 180.0
"""Seconds without one after which an owner on another machine counts as dead."""
_POLL = 1.0


@dataclass(frozen=True)
class Owner:
    """A process that holds, or held, a run folder."""

    process: int
    machine: str
    since: float
    """Seconds since 1970."""

    @property
    def title(self) -> str:
        """Who, and for how long: `process 12 on gpu-3, for 2 hours`."""
        return f"process {self.process} on {self.machine}, for {age(time.time() - self.since)}"


class BusyError(OpenSetError):
    """Another process works in the run folder."""

    def __init__(self, folder: Path, owner: Owner | None) -> None:
        self.folder, self.owner = folder, owner
        who = "another process" if owner is None else owner.title
        super().__init__(f"{folder} is in use by {who}: wait until it has finished, or give another --out.")


def age(seconds: float) -> str:
    """A length of time in one unit.

    >>> age(5), age(200), age(7300)
    ('5 seconds', '3 minutes', '2 hours')
    """
    for unit, size in (("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size or size == 1:
            whole = int(max(seconds, 0) // size)
            return f"{whole} {unit}" + ("" if whole == 1 else "s")
    raise AssertionError


@contextmanager
def hold(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a run folder; another owner's is refused with `BusyError`, or waited for.

    The operating system drops the lock when its owner ends, however that ends. Where it is not seen, as on the network
    disks of some clusters, an owner on another machine counts as dead after three minutes without a sign of life.
    """
    while (handle := _take(folder)) is None:
        if not wait:
            raise BusyError(folder, owner_of(folder))
        time.sleep(_POLL)
    stop = threading.Event()
    beating = threading.Thread(target=_beat, args=(folder / NAME, stop), daemon=True)
    beating.start()
    try:
        yield
    finally:
        stop.set()
        beating.join()
        with suppress(OSError):
            (folder / NAME).unlink()  # before it is closed: afterwards it may be another's
        os.close(handle)
        with suppress(OSError):
            folder.rmdir()  # nothing was left in it, so nothing was begun


def owner_of(folder: Path) -> Owner | None:
    """Who is written in the lock of a folder; None if nobody is."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        owner = Owner(int(content["process"]), str(content["machine"]), float(content["since"]))
        return owner if math.isfinite(owner.since) else None
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError, RecursionError):  # no lock, or a damaged one
        return None


def is_held(folder: Path) -> bool:
    """Whether somebody works in a folder now."""
    if not (folder / NAME).exists():
        return False
    try:
        with hold(folder):
            return False
    except BusyError:
        return True


def _take(folder: Path) -> int | None:
    """An open lock file that is ours; None if it is another's."""
    file = folder / NAME
    handle = _open(file)
    try:
        locked = _lock(handle)
        ours = locked is not False and _is_still(file, handle) and not _is_alive(file, sure=locked is True)
        if ours:
            os.ftruncate(handle, 0)
            os.write(handle, json.dumps(asdict(Owner(os.getpid(), platform.node(), time.time()))).encode())
    except OSError as error:
        os.close(handle)
        raise OpenSetError(f"Cannot write {file}: {reason(error)}.") from error
    if not ours:
        os.close(handle)
    return handle if ours else None


def _open(file: Path) -> int:
    for _ in range(100):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            return os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # an owner that left nothing has removed the folder in between
            continue
        except OSError as error:
            if isinstance(error, FileExistsError) and not file.parent.is_file():  # the same, while it was made
                continue
            raise OpenSetError(f"Cannot write {file}: {reason(error)}.") from error
    raise OpenSetError(f"Cannot write {file}: its folder does not stay.")


def _lock(handle: int) -> bool | None:
    """Ask the operating system, which drops a lock when its owner ends; None where the disk has no such locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, 2**20, os.SEEK_SET)  # a byte behind the content, which others must be able to read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def _is_still(file: Path, handle: int) -> bool:
    """Whether the file that was locked is the one that is there: its owner may have removed it in between."""
    try:
        return os.path.samestat(file.stat(), os.fstat(handle))
    except OSError:
        return False


def _is_alive(file: Path, *, sure: bool) -> bool:
    """Whether the owner in the file lives, though the operating system gave us the lock: `sure` if it has such locks.

    It cannot tell of an owner on another machine whose locks do not reach this one: that one must beat.
    """
    owner = owner_of(file.parent)
    if owner is None:
        return False
    if owner.machine == platform.node() and (sure or sys.platform != "win32"):
        return not sure and owner.process != os.getpid() and _exists(owner.process)
    with tempfile.NamedTemporaryFile(dir=file.parent) as now:  # the clock of the disk, not that of this machine
        return Path(now.name).stat().st_mtime - file.stat().st_mtime < SILENCE


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there and belongs to somebody else
        return True
    return True


def _beat(file: Path, stop: threading.Event) -> None:
    while not stop.wait(BEAT):
        with suppress(OSError):
            os.utime(file)
