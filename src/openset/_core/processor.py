"""Which vector instructions NumPy sorts with, chosen before it is imported.

On AMD's Zen 4 the AVX-512 sort of NumPy is several times slower than its AVX2 sort: it writes by an instruction that
these processors carry out in microcode. NumPy has a switch for it, an environment variable that it reads once.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

SWITCH = "NPY_DISABLE_CPU_FEATURES"
_NEW_NAMES = (2, 4)  # version of NumPy from which its features are levels of x86-64
_ZEN_3_AND_4 = "25"  # family of processors; the third generation has no AVX-512


def prefer_avx2() -> bool:
    """Set the switch where AVX-512 sorts badly; True if it was set. What the user has set stays.

    Once NumPy is imported it is too late, and nothing is done.
    """
    if "numpy" in sys.modules or SWITCH in os.environ or not sorts_badly(_facts()):
        return False
    os.environ[SWITCH] = features(_numpy_version())
    return True


def sorts_badly(facts: Mapping[str, str]) -> bool:
    """Whether a processor, by what the system says of it, is a Zen 4.

    >>> zen_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "avx2 avx512f"}
    >>> sorts_badly(zen_4), sorts_badly({**zen_4, "cpu family": "26"})
    (True, False)
    """
    return (
        facts.get("vendor_id") == "AuthenticAMD"
        and facts.get("cpu family") == _ZEN_3_AND_4
        and "avx512f" in facts.get("flags", "").split()
    )


def features(numpy: tuple[int, ...]) -> str:
    """What a version of NumPy calls the features that its AVX-512 sorts need.

    >>> features((2, 4)), features((1, 26))
    ('X86_V4 AVX512_ICL AVX512_SPR', 'AVX512_SKX AVX512_ICL AVX512_SPR')
    """
    first = "X86_V4" if numpy >= _NEW_NAMES else "AVX512_SKX"
    return f"{first} AVX512_ICL AVX512_SPR"


def sorting_with() -> str:
    """The instructions that NumPy sorts with in this process."""
    from numpy._core._multiarray_umath import __cpu_features__ as there  # type: ignore[import-not-found]

    names = {"AVX-512": ("X86_V4", "AVX512_SKX"), "AVX2": ("X86_V3", "AVX2")}
    return next((title for title, own in names.items() if any(there.get(name) for name in own)), "no vectors")


def _facts() -> dict[str, str]:
    """What Linux says of the first processor; nothing elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _numpy_version() -> tuple[int, ...]:
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and needed on few machines

    try:
        return tuple(int(part) for part in version("numpy").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return _NEW_NAMES
