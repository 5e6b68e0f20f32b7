"""SIGTERM and SIGINT, handled at once even if the main thread is blocked.

Python runs signal handlers in the main thread, which may be blocked in a lock or a library. So a
thread reads signals from the pipe that Python's C handler writes to (``set_wakeup_fd``).
"""

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.25
"""Seconds between nudges: one that arrives just before a system call is lost."""
_NUDGE = signal.SIGURG
"""Signal that wakes the main thread from a system call; ignored by default."""


class Ending:
    """A request to end the process, by a signal. A second signal ends the process at once."""

    def __init__(self) -> None:
        self._requested = threading.Event()
        self._interrupting = False
        self._pipe: tuple[socket.socket, socket.socket] | None = None

    def listen(self) -> "Ending":
        """Handle signals from now on. Call it in the main thread, before any slow work."""
        reader, writer = self._pipe = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        signal.signal(_NUDGE, self._interrupt)
        threading.Thread(target=self._read, args=(reader,), name="signals", daemon=True).start()
        return self

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Abort the work inside by KeyboardInterrupt on a signal, and exit with code 0."""
        self._interrupting = True
        try:
            if self._requested.is_set():
                raise KeyboardInterrupt
            yield
        except KeyboardInterrupt:
            log.info("Stopped before the start was complete.")
            raise SystemExit(0) from None
        finally:
            self._interrupting = False

    def wait(self) -> None:
        """Wait for a signal."""
        self._requested.wait()

    def _read(self, reader: socket.socket) -> None:
        while True:
            for number in reader.recv(64):
                if number == _NUDGE:
                    continue
                if self._requested.is_set():
                    log.warning("Second signal: the process ends at once.")
                    os._exit(128 + number)
                self._requested.set()
                threading.Thread(target=self._nudge, name="nudge", daemon=True).start()

    def _nudge(self) -> None:
        """Interrupt the main thread until it has left the ``interrupting`` block."""
        main = threading.main_thread().ident
        while self._interrupting and main is not None:
            signal.pthread_kill(main, _NUDGE)
            threading.Event().wait(_AGAIN_SECONDS)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._interrupting:
            self._interrupting = False
            raise KeyboardInterrupt
