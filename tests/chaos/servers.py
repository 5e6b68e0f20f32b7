"""PostgreSQL and a Chroma server of our own, for several bots at once."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tests.chaos.processes import Child, Process, plain_environment, until
from tests.chaos.system import System
from tests.waiting import free_port


def installed_postgres() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest one; None if there is none."""
    if initdb := shutil.which("initdb"):
        return Path(initdb).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = sorted(folders, key=lambda path: int(path.parent.parent.name))
    return newest[-1].parent if newest else None


class PostgreSQL:
    """A server in a folder of its own. It refuses to run as root, so root runs it as postgres."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        self._port = free_port()
        self._user = "postgres" if os.geteuid() == 0 else None
        self._place = folder / "postgres"
        self._place.mkdir()
        if self._user:
            shutil.chown(self._place, self._user)
            for each in (folder, folder.parent):
                each.chmod(each.stat().st_mode | 0o055)
        password = self._place / "password"
        password.write_text("sandbox")
        password.chmod(0o644)
        options = ["-U", "footnote", "-A", "scram-sha-256", "--pwfile", str(password)]
        subprocess.run(
            [str(programs / "initdb"), "-D", str(self._place / "data"), *options],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self._user,
            cwd="/",
        )
        self.process = self._start()

    @property
    def url(self) -> str:
        return f"postgresql://footnote:sandbox@127.0.0.1:{self._port}/postgres"

    def stop(self) -> None:
        """Stop as for a restart: open connections end at once."""
        self.process.send(signal.SIGINT)
        until(lambda: not self.process.alive, 60)

    def start(self) -> Process:
        self.process = self._start()
        return self.process

    def _start(self) -> Process:
        options = ["-D", self._place / "data", "-p", self._port, "-k", self._place]
        command = [self._programs / "postgres", *options, "-c", "listen_addresses=127.0.0.1"]
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        log = self._folder / "postgres.log"
        before = log.read_text().count("ready to accept") if log.exists() else 0
        process = Child("postgres", command, env, Path("/"), log, user=self._user)
        until(lambda: process.text().count("ready to accept") > before, 60)
        return process


class ChromaServer:
    """A Chroma server in a folder of its own."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.port = free_port()
        self.process = self.start()

    def start(self) -> Process:
        program = Path(sys.executable).with_name("chroma")
        place = ["--host", "127.0.0.1", "--port", self.port, "--path", self._system.data("chroma")]
        log = self._system.folder / "chroma.log"
        command = [program, "run", *place]
        self.process = Child("chroma", command, plain_environment(), self._system.folder, log)
        self._system.add(self.process)
        until(self._is_up, 60)
        return self.process

    def _is_up(self) -> bool:
        try:
            urlopen(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", timeout=2).close()
        except (URLError, OSError):
            return False
        return True
