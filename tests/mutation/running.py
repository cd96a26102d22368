"""Running the tests of a module on each of its mutants, in forks of one process that has the large packages loaded."""

import importlib.abc
import importlib.machinery
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from random import Random

from mutation.mutants import Mutant, mutants_of

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "openset"
TESTED_BY: dict[str, tuple[str, ...]] = {
    "_core": ("_core", "test_metrics.py", "test_scores.py", "test_hard_cases.py", "test_curves.py", "_io"),
    "metrics": ("test_metrics.py", "test_metric_cards.py", "contracts", "test_hard_cases.py"),
    "intervals.py": ("test_intervals.py", "test_hard_cases.py", "test_evaluation.py"),
    "operating": ("operating", "test_hard_cases.py"),
    "detection/measure": ("detection",),
}
"""The tests that a change of a module must not pass: those beside it first."""
_SECONDS = 180.0


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module the source of a mutant when it is imported."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = mutant.file.relative_to(PACKAGE.parent).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(self.mutant.file), is_package=self.is_package)
        if self.is_package:
            spec.submodule_search_locations = [str(self.mutant.file.parent)]
        spec.has_location = True
        return spec

    def exec_module(self, module: object) -> None:
        exec(compile(self.mutant.source, str(self.mutant.file), "exec"), vars(module))  # noqa: S102  our own source


def mutate(n: int, seed: int, only: str = "") -> int:
    """Try `n` mutants drawn at random, tell which of them no test noticed; the fraction that was noticed."""
    _import_large()
    found: list[tuple[str, Mutant]] = []
    for room in TESTED_BY:
        files = sorted((PACKAGE / room).rglob("*.py")) if not room.endswith(".py") else [PACKAGE / room]
        found += [(room, one) for file in files if only in str(file) for one in mutants_of(file)]
    chosen = found if not n else Random(seed).sample(found, min(n, len(found)))
    for room in {room for room, _ in chosen}:
        file = next(one.file for place, one in chosen if place == room)
        whole = Mutant(file, 0, "nothing", file.read_text(encoding="utf-8"))
        assert not _is_noticed(whole, TESTED_BY[room]), f"the tests of {room} fail without any change"
    killed: dict[str, int] = defaultdict(int)
    tried: dict[str, int] = defaultdict(int)
    for number, (room, mutant) in enumerate(chosen, 1):
        began = time.monotonic()
        noticed = _is_noticed(mutant, TESTED_BY[room])
        tried[room] += 1
        killed[room] += noticed
        where = f"{mutant.file.relative_to(PACKAGE)}:{mutant.line}"
        mark = "killed  " if noticed else "SURVIVED"
        print(f"{number:4d} {mark} {where}: {mutant.change} ({time.monotonic() - began:.0f} s)", flush=True)
    for room, count in tried.items():
        print(f"{room}: {killed[room]} of {count} killed")
    all_tried, all_killed = sum(tried.values()), sum(killed.values())
    print(
        f"{all_tried} of {len(found):,} mutants tried (seed {seed}): {all_killed} killed, {all_killed / all_tried:.0%}"
    )
    return 0


def _import_large() -> None:
    """Packages that every test imports; nothing of openset itself, which comes with the mutant."""
    import sklearn.metrics  # noqa: F401


def _is_noticed(mutant: Mutant, tests: tuple[str, ...]) -> bool:
    child = os.fork()
    if not child:
        _run_tests(mutant, tests)
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)  # a mutant that never ends is noticed, too
    os.waitpid(child, 0)
    return True


def _run_tests(mutant: Mutant, tests: tuple[str, ...]) -> None:
    code = 1
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        import pytest

        sys.meta_path.insert(0, _Changed(mutant))
        os.chdir(TESTS.parent)
        places = [str(TESTS / one) for one in tests]
        code = int(
            pytest.main(
                [*places, str(mutant.file), "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow"]
            )
        )
    finally:
        os._exit(code)
