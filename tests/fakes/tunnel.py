"""An HTTP proxy as in a company's network: CONNECT for sockets, and plain forwarding."""

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Tunnel:
    """Keeps the head of each request, in ``heads``."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.heads: list[str] = []
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        for each in self._open:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        self._open.append(near)
        with contextlib.suppress(OSError):
            data = b""
            while b"\r\n\r\n" not in data:
                data += near.recv(1 << 16)
            head = data.partition(b"\r\n\r\n")[0].decode()
            self.heads.append(head)
            method, target = head.split(" ")[:2]
            place = target if method == "CONNECT" else urlsplit(target).netloc
            host, _, port = place.rpartition(":")
            far = socket.create_connection((host, int(port)))
            self._open.append(far)
            if method == "CONNECT":
                near.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                far.sendall(data)
            threading.Thread(target=_pass, args=(far, near), daemon=True).start()
            _pass(near, far)


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
