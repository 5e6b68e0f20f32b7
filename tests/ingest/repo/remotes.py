"""Real git remotes for tests: a bare repository, somebody who pushes to it, and an https server."""

import base64
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.waiting import PATIENCE

IDENTITY = {
    "GIT_AUTHOR_NAME": "Writer",
    "GIT_AUTHOR_EMAIL": "writer@example.com",
    "GIT_COMMITTER_NAME": "Writer",
    "GIT_COMMITTER_EMAIL": "writer@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str, **environment: str) -> str:
    """Run git as a writer of docs would."""
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=folder,
        env={**os.environ, **IDENTITY, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.stdout.strip()


class DocsRemote:
    """A bare repository and the working folder of the one who pushes to it."""

    def __init__(self, folder: Path, branch: str = "main", *, filters: bool = True) -> None:
        self.bare = folder / "remote.git"
        self.work = folder / "work"
        git(folder, "init", "--quiet", "--bare", f"--initial-branch={branch}", str(self.bare))
        git(folder, "init", "--quiet", f"--initial-branch={branch}", str(self.work))
        git(self.bare, "config", "uploadpack.allowFilter", "true" if filters else "false")
        git(self.work, "remote", "add", "origin", str(self.bare))

    @property
    def url(self) -> str:
        return self.bare.as_uri()

    @property
    def head(self) -> str:
        return git(self.work, "rev-parse", "HEAD")

    def texts(self, folder: str) -> dict[str, str]:
        """Text by path below a folder, in the newest commit."""
        root = self.work / folder
        listed = git(self.work, "ls-tree", "-r", "-z", "--name-only", "HEAD")
        paths = (self.work / path for path in listed.split("\0") if path)
        return {
            path.relative_to(root).as_posix(): path.read_text(encoding="utf-8", errors="replace")
            for path in paths
            if path.is_file() and path.is_relative_to(root)
        }

    def write(self, path: str, text: str) -> None:
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        file.write_text(text, encoding="utf-8")

    def delete(self, path: str) -> None:
        file = self.work / path
        file.unlink()
        if not any(file.parent.iterdir()):
            file.parent.rmdir()

    def rename(self, old: str, new: str) -> None:
        (self.work / new).parent.mkdir(parents=True, exist_ok=True)
        (self.work / old).rename(self.work / new)

    def commit(self, message: str = "change", date: str | None = None) -> str:
        """Commit everything and push it."""
        when = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--allow-empty", "-m", message, **when)
        self.push()
        return self.head

    def push(self) -> None:
        git(self.work, "push", "--quiet", "--force", "origin", "HEAD")

    def replace_history(self, files: dict[str, str]) -> None:
        """An unrelated history in place of the present one."""
        branch = git(self.work, "symbolic-ref", "--short", "HEAD")
        git(self.work, "checkout", "--quiet", "--orphan", "replacement")
        git(self.work, "rm", "-r", "--quiet", "--cached", ".")
        for entry in self.work.iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for path, text in files.items():
            self.write(path, text)
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "-m", "another history")
        git(self.work, "branch", "--quiet", "-M", branch)
        self.push()

    def collect_garbage(self) -> None:
        git(self.bare, "reflog", "expire", "--expire=now", "--all")
        git(self.bare, "gc", "--quiet", "--prune=now")


@contextmanager
def silent_server() -> Iterator[int]:
    """Accepts connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def ssh_stand_in(folder: Path) -> Path:
    """A command for ``GIT_SSH_COMMAND`` that runs on this machine what git asks the host for.

    It writes its arguments into the file ``asked`` in the folder.
    """
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\nfor last; do :; done\nsh -c "$last"\n')
    ssh.chmod(0o755)
    return ssh


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Certificate and key of 127.0.0.1."""
    certificate, key = folder / "server.pem", folder / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return certificate, key


@contextmanager
def https_server(bare: Path, folder: Path, token: str | None) -> Iterator[tuple[str, list[str]]]:
    """Git over https from one repository: its address, and the Authorization headers it got.

    With a token only who knows it may read; without, nobody may.
    """
    certificate, key = make_certificate(folder)
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _serve(self, body: bytes) -> None:
            given = self.headers.get("Authorization", "")
            seen.append(given)
            basic = given.removeprefix("Basic ")
            if not token or base64.b64decode(basic).decode().partition(":")[2] != token:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="docs"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            answer = subprocess.run(
                ["git", "http-backend"],
                input=body,
                capture_output=True,
                check=True,
                env={
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(bare.parent),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                },
            ).stdout
            head, _, content = answer.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                name, _, value = line.partition(": ")
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/{bare.name}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
