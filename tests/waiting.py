"""What tests wait for: a state, never a time. The limits are long, for machines that are slow."""

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PATIENCE = 90.0
"""Seconds after which nothing will come any more; a test that passes never waits so long."""


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """The first true value of ``condition``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def free_port() -> int:
    """A port for a server that is started later.

    None of those that systems hand out themselves: another test would get it meanwhile.
    """
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
