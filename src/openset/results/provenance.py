"""Where results come from: versions, machine and processor."""

import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "polars", "scikit-learn")


def provenance(*packages: str, **facts: object) -> dict[str, str]:
    """Time, versions and machine, for every result; `packages` and `facts` are what else a result depends on.

    >>> provenance("scipy", threads=4)["threads"]
    '4'
    """
    from openset import __version__

    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "openset": __version__,
        **{package: _version(package) for package in (*_PACKAGES, *packages)},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        **{name: str(value) for name, value in facts.items()},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


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
