"""Tests wait for a state, never for a time. The limits are long, for slow machines.

To check how work grows, tests compare processor time, not wall time.
"""

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PATIENCE = 120.0
"""Seconds after which a wait fails; a test that passes never waits so long."""


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait for a true value of ``condition`` and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def cpu_seconds(call: Callable[[], object], runs: int = 1) -> float:
    """Processor seconds of a call in this thread, the least of some runs."""
    taken = []
    for _ in range(runs):
        begin = time.thread_time()
        call()
        taken.append(time.thread_time() - begin)
    return min(taken)


def free_port() -> int:
    """A port for a server that starts later.

    It is outside the range that the system assigns, where another test could get it meanwhile.
    """
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
