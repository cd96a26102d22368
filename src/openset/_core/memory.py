"""How much memory there is, and memory that a process of one's own does not give back between two uses."""

import ctypes
import os
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of malloc.h
_NEVER = -1


def keep_memory() -> bool:
    """Let the C library keep what is freed, for the next array; True where it can (glibc).

    Otherwise large arrays get fresh pages every time, which on a virtual machine can take longer than the work on them:
    a training step makes and frees hundreds of megabytes. For commands; a long-lived server should give memory back.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return False
    return bool(mallopt(_TRIM_THRESHOLD, _NEVER)) and bool(mallopt(_MMAP_MAX, 0))


def free_memory() -> int | None:
    """Bytes that this process can still have: of the machine, its container and its own limit; None if nobody says."""
    found = [_of_machine(), _of_container(), _of_limit()]
    return min((one for one in found if one is not None), default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None


_GROUPS = (
    [f"/sys/fs/cgroup/memory.{name}" for name in ("max", "current", "stat")],
    [f"/sys/fs/cgroup/memory/memory.{name}" for name in ("limit_in_bytes", "usage_in_bytes", "stat")],
)
"""Where a control group of version 2 and of version 1 says its limit, what is used, and what that is."""


def _of_container() -> int | None:
    """What the control group leaves; files in its cache, which count as used, can be given up."""
    for files in _GROUPS:
        try:
            limit, used, counts = (Path(file).read_text(encoding="ascii") for file in files)
            cached = next((int(line.split()[1]) for line in counts.splitlines() if line.startswith("inactive_file")), 0)
            return int(limit) - int(used) + cached
        except (OSError, ValueError):  # another version, or "max": no limit
            continue
    return None


def _of_limit() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        return limit - int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
