"""Memory that a process of one's own does not give back between two uses."""

import ctypes

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
