"""Handing inputs to a worker and watching it from outside: time, memory, and whether it is still alive."""

import contextlib
import multiprocessing
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue

from fuzz.samples import Samples, make_samples
from fuzz.worker import few_resamples, work

MOST_MEMORY = 2e9
MOST_SECONDS = 20.0
"""Of processor time; a busy machine is not a defect."""
MOST_STILL = 60.0
"""A process that waits so long for something, and does nothing, waits for ever."""
_RESTING = 1.2e9
"""A worker that holds on to so much memory between two inputs is replaced."""


@dataclass
class Tally:
    """What became of all inputs."""

    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    most_memory: float = 0.0
    most_seconds: float = 0.0


Attempted = tuple[str, list[str], int | None, list[str], float, float]
"""Kind, words, exit code, broken rules, memory and seconds."""


class Worker:
    """A process that tries inputs, started anew when it died or had to be stopped."""

    def __init__(self, samples: Samples, place: Path) -> None:
        self.samples, self.place, self.n_started = samples, place, 0
        (place / "broken").mkdir(parents=True)
        self.process: BaseProcess | None = None
        self.start()

    def start(self) -> None:
        """A new process with a folder of its own."""
        self.stop()
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.n_started += 1
        arguments = (theirs, self.samples, self.place / f"worker{self.n_started}")
        self.process = context.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        assert self.connection.recv() == "ready"

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.join()

    def attempt(self, seed: int, number: int) -> Attempted:
        """Try one input."""
        assert self.process is not None
        connection: Connection = self.connection
        before, memory = _seconds(self.process.pid), 0.0
        last, since = before, time.monotonic()
        connection.send((seed, number))
        while not connection.poll(0.02):
            memory = max(memory, _memory(self.process.pid))
            used = _seconds(self.process.pid) - before
            if used != last or not _waits(self.process.pid):
                last, since = used, time.monotonic()
            elif time.monotonic() - since > MOST_STILL:
                return self._lost(number, "it waits for ever", memory, used)
            if memory > MOST_MEMORY or used > MOST_SECONDS:
                fault = f"{memory / 1e9:.1f} GB" if memory > MOST_MEMORY else f"{used:.0f} s"
                return self._lost(number, f"it takes {fault}", memory, used)
            if not self.process.is_alive() and not connection.poll(0.1):
                return self._lost(number, f"the process died ({self.process.exitcode})", memory, used)
        try:
            answer = connection.recv()
        except EOFError:
            self.process.join(5)
            return self._lost(number, f"the process died ({self.process.exitcode})", memory, 0.0)
        used, memory = _seconds(self.process.pid) - before, max(memory, _memory(self.process.pid))
        if memory > _RESTING:
            self.start()
        return *answer, memory, used

    def _lost(self, number: int, fault: str, memory: float, used: float) -> Attempted:
        folder = self.place / f"worker{self.n_started}" / f"try{number}"
        if folder.exists():
            folder.rename(self.place / "broken" / f"lost-{number}")
        self.start()
        return "lost", [], None, [fault], memory, used


def _memory(process: int | None) -> float:
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0.0
    return float(pages) * os.sysconf("SC_PAGE_SIZE")


def _seconds(process: int | None) -> float:
    """Processor time of a process so far."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _waits(process: int | None) -> bool:
    """Whether a process sleeps, instead of working or waiting for a processor."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "S"
    except OSError:
        return False


def _attempts(seed: int, numbers: Sequence[int], place: Path, jobs: int) -> Iterator[tuple[int, Attempted]]:
    """What becomes of each input, in some order; as many at a time as there are jobs."""
    few_resamples()
    samples, idle = make_samples(place / "samples"), SimpleQueue[Worker]()
    workers = [Worker(samples, place / f"job{job}") for job in range(min(jobs, len(numbers)))]
    for worker in workers:
        idle.put(worker)

    def attempt(number: int) -> tuple[int, Attempted]:
        worker = idle.get()
        try:
            return number, worker.attempt(seed, number)
        finally:
            idle.put(worker)

    try:
        with ThreadPoolExecutor(len(workers)) as pool:
            yield from pool.map(attempt, numbers)
    finally:
        for worker in workers:
            worker.stop()


def fuzz(seed: int, numbers: Sequence[int], place: Path, jobs: int = 1) -> int:
    """Try all these inputs and tell what was found; 1 if a rule was broken."""
    began, tally = time.monotonic(), Tally()
    total = len(numbers)
    with contextlib.closing(_attempts(seed, numbers, place, jobs)) as attempts:
        for number, (kind, words, code, broken, memory, seconds) in attempts:
            tally.kinds[kind] += 1
            tally.codes["died" if code is None else f"exit {code}"] += 1
            tally.most_memory, tally.most_seconds = max(tally.most_memory, memory), max(tally.most_seconds, seconds)
            for fault in broken:
                tally.broken.append(fault)
                print(f"OPENSET_FUZZ_SEED={seed}, number {number} ({kind}): {fault}")
                print(f"    openset {' '.join(map(ascii, words))}", flush=True)
    print(
        f"{total:,} inputs with seed {seed}: {len(tally.broken)} broken rules; "
        f"{', '.join(f'{code}: {count:,}' for code, count in sorted(tally.codes.items()))}; "
        f"at most {tally.most_memory / 1e9:.2f} GB and {tally.most_seconds:.1f} s; "
        f"{time.monotonic() - began:.0f} s in all."
    )
    print(", ".join(f"{kind}: {count:,}" for kind, count in tally.kinds.most_common()))
    if tally.broken:
        print(f"The files are in {place}/job*/broken; again: OPENSET_FUZZ_SEED={seed} python -m fuzz --only NUMBER")
        return 1
    shutil.rmtree(place)
    return 0
