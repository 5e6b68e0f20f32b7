"""SIGTERM and SIGINT, noticed at once whatever the main thread is busy with.

The system may hand a signal to any thread, and Python's handler then waits for the main thread,
which may sleep in a lock or in a library without end. So what C notes of a signal is read from a
pipe, by a thread of its own.
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
"""A nudge may come just before a system call begins, and is lost then."""
_NUDGE = signal.SIGURG
"""Wakes the main thread out of a system call; harmless to whoever does not expect it."""


class Ending:
    """Whether somebody asked the process to end; a second signal ends it there and then."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._interrupting = False
        self._pipe: tuple[socket.socket, socket.socket] | None = None

    def listen(self) -> "Ending":
        """Hear signals from now on: called in the main thread, before anything that takes long."""
        noted, note = self._pipe = socket.socketpair()
        note.setblocking(False)
        signal.set_wakeup_fd(note.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        signal.signal(_NUDGE, self._interrupt)
        threading.Thread(target=self._hear, args=(noted,), name="signals", daemon=True).start()
        return self

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """What is done within is given up, by KeyboardInterrupt, and the process ends well."""
        self._interrupting = True
        try:
            if self._asked.is_set():
                raise KeyboardInterrupt
            yield
        except KeyboardInterrupt:
            log.info("Stopped before there was anything to finish.")
            raise SystemExit(0) from None
        finally:
            self._interrupting = False

    def wait(self) -> None:
        """Until somebody asks."""
        self._asked.wait()

    def _hear(self, noted: socket.socket) -> None:
        while True:
            for number in noted.recv(64):
                if number == _NUDGE:
                    continue
                if self._asked.is_set():
                    log.warning("Asked to end once more: ending at once.")
                    os._exit(128 + number)
                self._asked.set()
                threading.Thread(target=self._nudge, name="nudge", daemon=True).start()

    def _nudge(self) -> None:
        """Until the main thread has left what may be given up."""
        main = threading.main_thread().ident
        while self._interrupting and main is not None:
            signal.pthread_kill(main, _NUDGE)
            threading.Event().wait(_AGAIN_SECONDS)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._interrupting:
            self._interrupting = False
            raise KeyboardInterrupt
