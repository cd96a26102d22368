"""Freed memory is kept where the C library can; elsewhere nothing happens."""

import ctypes
import platform
import subprocess
import sys

import pytest

from openset._core.memory import keep_memory

COUNT_NEW_PAGES = """
import resource
import numpy as np
from openset._core.memory import keep_memory

def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.ones(5_000_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = new_pages()
kept = keep_memory()
new_pages()
print(first, kept, new_pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_arrays_get_the_pages_of_those_before():
    printed = subprocess.run([sys.executable, "-c", COUNT_NEW_PAGES], capture_output=True, text=True, check=True).stdout
    first, kept, afterwards = printed.split()
    assert kept == "True"
    assert int(afterwards) < int(first) / 10


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_another_c_library_is_left_alone(error, monkeypatch):
    def fail(name):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert keep_memory() is False
