"""What tests wait for: a state, never a time. The limits are long, for machines that are slow.

Where work must not grow without bound, its own processor time is compared, not the clock's.
"""

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PATIENCE = 120.0
"""Seconds after which nothing will come any more; a test that passes never waits so long."""


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true value of ``condition``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def cpu_seconds(call: Callable[[], object], runs: int = 1) -> float:
    """What a call takes of the processor in this thread, whatever else runs; the least of so many
    runs."""
    taken = []
    for _ in range(runs):
        begin = time.thread_time()
        call()
        taken.append(time.thread_time() - begin)
    return min(taken)


def free_port() -> int:
    """A port for a server that is started later.

    None of those that systems hand out themselves: another test would get it meanwhile.
    """
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
