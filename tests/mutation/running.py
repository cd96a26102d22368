"""Trying mutants: the tests are collected once, and each mutant gets a fork of that process and the tests that meet it.

A mutant's functions are put in place of the loaded ones, so that nothing is imported again. What is computed when a
module is imported (constants, defaults of arguments) cannot be exchanged in this way and is not tried.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mutation.exchange import function_of, put_in_place
from mutation.mutants import Mutant, count_places, mutant_of

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "openset"
ROOMS = (
    *("_core", "metrics", "intervals.py", "curves.py", "operating", "audit.py", "_io", "reading.py"),
    *("detection", "train"),
)
"""What is mutated."""
TESTED_BY = (
    *("_core", "_io", "operating", "contracts", "detection", "train", "results", "chaos", "data/test_opening.py"),
    *("test_metrics.py", "test_metric_cards.py", "test_scores.py", "test_curves.py", "test_hard_cases.py"),
    *("test_intervals.py", "test_evaluation.py", "test_audit.py", "test_fooled_decisions.py", "test_frames.py"),
    *("test_package.py", "test_scoring.py", "test_extending.py"),
    *("scale/test_counting.py", "scale/test_source.py", "scale/test_evaluation.py"),
    *("cli/test_apply.py", "cli/test_commands.py", "cli/test_detect.py", "cli/test_evaluate.py", "cli/test_watch.py"),
    *("cli/test_hostile_files.py", "cli/test_hostile_text.py", "cli/test_training_pages.py"),
)
"""The tests that should notice."""
_NOT_LOADED, _LOST = 97, 98
_TESTS_SECONDS = 30.0
"""Processor time of the tests that a mutant gets, the fastest first; one that they do not notice has survived."""


@dataclass
class Met:
    """Which tests call which function, and how long each takes."""

    tests: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By `file:name` of the function."""
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass
class Score:
    """What became of the mutants."""

    killed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    tried: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    survivors: list[str] = field(default_factory=list)


def mutate(n: int, seed: int, only: tuple[str, str], first: int, map_file: Path) -> int:
    """Try `n` places drawn at random, from the `first` on, and tell at which of them no test noticed."""
    plugin = _Plugin(n, seed, only, first, map_file)
    places = [str(TESTS / one) for one in TESTED_BY if (TESTS / one).exists()]
    sources = [str(PACKAGE / room) for room in ROOMS]
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header"]
    return int(pytest.main([*places, *sources, *words], plugins=[plugin]))


class _Plugin:
    def __init__(self, n: int, seed: int, only: tuple[str, str], first: int, map_file: Path) -> None:
        self.n, self.seed, self.first, self.map_file = n, seed, first, map_file
        self.only, self.but = only

    def _is_used(self, item: pytest.Item) -> bool:
        """Slow tests are used where there are no others: all that train a network are."""
        if (TESTS / "train") in item.path.parents:
            return self.but != "/train/"
        return item.get_closest_marker("slow") is None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items if self._is_used(item)}
        _in_fork(lambda: _meet(list(items.values()), self.map_file))
        stored = json.loads(self.map_file.read_text(encoding="utf-8"))
        met = Met(stored["tests"], stored["seconds"])
        places = [place for place in _all_places() if self.only in str(place[1]) and self.but not in str(place[1])]
        order = Random(self.seed).sample(places, len(places))
        print(f"\n{len(items)} tests; {len(places):,} places that could be changed; seed {self.seed}")
        score = Score()
        for number, (room, file, place) in enumerate(order[self.first :][: self.n or None], self.first + 1):
            mutant = mutant_of(file, place)
            key = function_of(mutant)
            if key is not None:
                _try(number, room, mutant, key, met, items, score)
        _tell(score)
        return True


def _all_places() -> Iterator[tuple[str, Path, int]]:
    for room in ROOMS:
        for file in [PACKAGE / room] if room.endswith(".py") else sorted((PACKAGE / room).rglob("*.py")):
            for number in range(count_places(file)):
                yield room, file, number


def _try(number: int, room: str, mutant: Mutant, key: str, met: Met, items: dict[str, Any], score: Score) -> None:
    began = time.monotonic()
    names, seconds = _affordable({name for name in met.tests.get(key, []) if name in items}, met.seconds)
    chosen = [items[name] for name in names]
    outcome = _in_fork(lambda: _run(mutant, chosen, seconds)) if names else 0
    if outcome and outcome != _NOT_LOADED and number % 20 == 0:  # now and then: do they pass without the change?
        assert not _in_fork(lambda: _run(None, chosen, seconds)), f"the tests of {key} fail without any change"
    if outcome == _NOT_LOADED:
        print(f"{number:4d} not loaded: {mutant.file.relative_to(PACKAGE)}:{mutant.line}: {mutant.change}")
        return
    score.tried[room] += 1
    score.killed[room] += outcome != 0
    mark = "SURVIVED" if outcome == 0 else "killed  "
    text = f"{mutant.file.relative_to(PACKAGE)}:{mutant.line}: {mutant.change}"
    if outcome == 0:
        score.survivors.append(text)
    print(f"{number:4d} {mark} {text} ({len(names)} tests, {time.monotonic() - began:.1f} s)", flush=True)


def _affordable(names: set[str], seconds: dict[str, float]) -> tuple[list[str], float]:
    """The fastest tests, as many as a mutant may cost, and what they take."""
    chosen: list[str] = []
    total = 0.0
    for name in sorted(names, key=lambda one: (seconds[one], one)):
        if chosen and total + seconds[name] > _TESTS_SECONDS:
            break
        chosen.append(name)
        total += seconds[name]
    return chosen, total


def _tell(score: Score) -> None:
    for room, count in score.tried.items():
        print(f"{room}: {score.killed[room]} of {count} killed")
    tried, killed = sum(score.tried.values()), sum(score.killed.values())
    if tried:
        from openset.intervals import clopper_pearson

        sure = clopper_pearson(killed, tried)
        print(f"{killed} of {tried} killed: {killed / tried:.1%} [{sure.low:.1%}, {sure.high:.1%}]")


def _in_fork(work: Callable[[], int]) -> int:
    """What `work` returns, computed in a fork in silence; negative if it took too long."""
    child = os.fork()
    if not child:
        code = _LOST
        try:
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + 1200  # a fork that hangs without taking processor time
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended and (code := os.waitstatus_to_exitcode(status)) == _LOST:
            raise RuntimeError("a fork failed by itself, not by a test")
        if ended:
            return code
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise RuntimeError("a mutant waits for ever")


def _run(mutant: Mutant | None, items: Sequence[pytest.Item], seconds: float) -> int:
    """1 as soon as a test fails; without a mutant, none should. One that never ends is noticed, too."""
    limit = int(20 + 5 * seconds)  # far more than they take: being stopped means an endless loop, not slow tests
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    if mutant is not None and not put_in_place(mutant):
        return _NOT_LOADED
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return 1
    return 0


def _meet(items: Sequence[pytest.Item], file: Path) -> int:
    """Run every test that the file does not tell of, and write down which functions it calls."""
    met, prefix = Met(), str(PACKAGE)
    if file.exists():
        stored = json.loads(file.read_text(encoding="utf-8"))
        met.tests.update(stored["tests"])
        met.seconds.update(stored["seconds"])
    called: set[str] = set()

    def note(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(prefix):
            called.add(f"{code.co_filename[len(prefix) + 1 :]}:{code.co_qualname}")

    new = [item for item in items if item.nodeid not in met.seconds]
    threading.setprofile(note)
    for item, following in zip(new, [*new[1:], None], strict=False):
        called.clear()
        failed, began = item.session.testsfailed, time.process_time()
        sys.setprofile(note)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        if item.session.testsfailed == failed:  # a test that fails without any change says nothing
            met.seconds[item.nodeid] = time.process_time() - began
            for key in called:
                met.tests[key].append(item.nodeid)
    file.write_text(json.dumps({"tests": met.tests, "seconds": met.seconds}), encoding="utf-8")
    return 0
