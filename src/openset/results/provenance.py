"""Where results come from: versions, machine and processor."""

import os
import platform
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from openset._core.versions import versions

_PACKAGES = ("numpy", "polars", "scikit-learn")


def provenance(*packages: str, **facts: object) -> dict[str, str]:
    """Time, versions and machine, for every result; `packages` and `facts` are what else a result depends on.

    >>> provenance("scipy", threads=4)["threads"]
    '4'
    """
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **versions(*_PACKAGES, *packages),
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: str(value) for name, value in processor().items()},
        **{name: str(value) for name, value in facts.items()},
    }


def processor() -> dict[str, object]:
    """What the processor calls itself, and how many cores it has."""
    return {"cpu": cpu_model(), "cores": os.cpu_count()}


@cache
def cpu_model() -> str:
    """What the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
