"""The switch for NumPy's sort: set on Zen 4 alone, before NumPy is there, by names that NumPy knows."""

import os
import subprocess
import sys

import pytest

from openset._core import processor
from openset._core.processor import SWITCH, features, prefer_avx2, sorts_badly

ZEN_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "fpu avx2 avx512f"}

SCRIPT = f"""
import sys, warnings
warnings.simplefilter("error")
import openset.cli
from openset._core import processor
assert "numpy" not in sys.modules
processor._facts = lambda: {ZEN_4!r}
try:
    openset.cli.main(["--version"])
except SystemExit:
    pass
import numpy
print(processor.sorting_with())
"""


@pytest.mark.parametrize(
    "other", [{"vendor_id": "GenuineIntel"}, {"cpu family": "26"}, {"cpu family": "6"}, {"flags": "fpu avx2"}]
)
def test_only_zen_4_is_meant(other):
    assert sorts_badly(ZEN_4)
    assert not sorts_badly({**ZEN_4, **other})
    assert not sorts_badly({})


def run(**environment):
    kept = {name: value for name, value in os.environ.items() if name != SWITCH}
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env={**kept, **environment}
    )
    return made.stdout.splitlines()[-1]


def test_the_command_sorts_without_avx512_there():
    assert run() in ("AVX2", "no vectors")  # this processor may have no AVX2 either


def test_what_the_user_has_set_stays():
    plain = subprocess.run(
        [sys.executable, "-c", "from openset._core.processor import sorting_with; print(sorting_with())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run(**{SWITCH: ""}) == plain.stdout.strip()


def test_with_numpy_there_it_is_too_late(monkeypatch):
    monkeypatch.setattr(processor, "_facts", lambda: ZEN_4)
    monkeypatch.delenv(SWITCH, raising=False)
    assert "numpy" in sys.modules
    assert not prefer_avx2()
    assert SWITCH not in os.environ


def test_the_names_are_those_of_this_numpy():
    from numpy._core._multiarray_umath import __cpu_dispatch__ as known

    if not any(name.startswith(("X86", "AVX")) for name in known):
        pytest.skip("NumPy was built for another processor")
    assert set(features(processor._numpy_version()).split()) <= set(known)
