"""A TCP line between two programs that breaks on command. It does not change the bytes."""

import contextlib
import socket
import struct
import threading
from types import TracebackType
from typing import Literal, Self

Break = Literal["fin", "rst", "hole"]
_RESET = struct.pack("ii", 1, 0)


class BadLine:
    """Forwards TCP to ``port``. ``cut`` breaks connections, ``refuses`` turns new ones away."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._all: list[socket.socket] = []
        self._dead: set[socket.socket] = set()
        self.refuses = False
        self.refused = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        self.cut("rst")
        for one in self._all:
            one.close()

    def cut(self, how: Break) -> None:
        """Break open connections: by FIN, by RST, or by passing on no more bytes."""
        pairs, self._pairs = self._pairs, []
        for near, far in pairs:
            self._dead |= {near, far}
            if how == "rst":
                with contextlib.suppress(OSError):
                    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            _end(far)
            if how != "hole":
                _end(near, reset=how == "rst")

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self.refuses:
                    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                    near.close()
                    self.refused += 1
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._all += [near, far]
                self._pairs.append((near, far))
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if source not in self._dead:
                    sink.sendall(data)
        if source not in self._dead:
            _end(sink)


def _end(one: socket.socket, *, reset: bool = False) -> None:
    with contextlib.suppress(OSError):
        # Whoever reads it wakes up; nothing goes ahead of a reset.
        one.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
    one.close()
