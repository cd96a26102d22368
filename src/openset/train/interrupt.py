"""Stopping a training by Ctrl-C or by a cluster's signal, without losing a step."""

import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(Exception):  # noqa: N818  not an error: the user asked for it
    """Training was stopped by a signal; its state is saved if there is a folder."""


_ELSEWHERE: "weakref.WeakSet[threading.Event]" = weakref.WeakSet()
"""What stops the trainings in other threads than the main one."""


def stop_trainings() -> None:
    """Trainings in other threads than the main one finish their step, save their state and end."""
    for stop in list(_ELSEWHERE):
        stop.set()


@contextmanager
def stopping_by_signal(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and termination finish the step first; a second Ctrl-C stops at once.

    Signals reach the main thread alone: a training in another one is stopped by `stop_trainings`.
    """
    if threading.current_thread() is not threading.main_thread():
        _ELSEWHERE.add(stop)
        yield
        return
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: Any) -> None:
        stop.set()
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
