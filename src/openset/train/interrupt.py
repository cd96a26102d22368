"""Stopping a training by Ctrl-C or by a cluster's signal, without losing a step."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(Exception):  # noqa: N818  not an error: the user asked for it
    """Training was stopped by a signal; its state is saved if there is a folder."""


@contextmanager
def stopping_by_signal(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and termination finish the step first; a second Ctrl-C stops at once."""
    if threading.current_thread() is not threading.main_thread():
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
