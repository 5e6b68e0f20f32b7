"""Commands and servers as processes: started, measured, and ended by their own id."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from tests.conftest import ROOT

Value = TypeVar("Value")


def until(
    condition: Callable[[], Value | None], seconds: float, pause: float = 0.05
) -> Value | None:
    """Wait for a true value and return it; after ``seconds``, return the last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() >= end:
            return value
        time.sleep(pause)


def plain_environment() -> dict[str, str]:
    """Return the environment that every process gets: no setting of the person who runs this."""
    kept = {"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"}
    values = {name: value for name, value in os.environ.items() if name in kept}
    return values | {"PYTHONPATH": str(ROOT), "ANONYMIZED_TELEMETRY": "False"}


@dataclass(frozen=True)
class Usage:
    """Memory in MB, open files and threads of a process."""

    memory: float
    files: int
    threads: int


class Process(ABC):
    """A process that this harness started."""

    name: str
    pid: int
    log: Path

    @property
    @abstractmethod
    def code(self) -> int | None:
        """Exit code; negative for a signal, None while the process runs."""

    @property
    def alive(self) -> bool:
        return self.code is None

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL to this process alone: its own children live on, as after a real crash."""
        self.send(signal.SIGKILL)
        until(lambda: not self.alive, 30, 0.005)

    def end(self, seconds: float = 60.0) -> int | None:
        """SIGTERM; return the exit code, or None if only SIGKILL ended the process."""
        self.send(signal.SIGTERM)
        if not until(lambda: not self.alive, seconds, 0.02):
            self.kill()
            return None
        return self.code

    def usage(self) -> Usage | None:
        """Return what the process uses; None if it has ended."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
            files = sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())
        except OSError:
            return None
        memory = re.search(r"VmRSS:\s+(\d+)", status)
        threads = re.search(r"Threads:\s+(\d+)", status)
        if not memory or not threads:
            return None
        return Usage(round(int(memory[1]) / 1024, 1), files, int(threads[1]))

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def text(self, since: int = 0) -> str:
        """Return its log from an offset on."""
        return self.log.read_text(errors="replace")[since:] if self.log.exists() else ""

    def health(self, since: int = 0) -> dict[str, Any]:
        """Return figures of its state, and what its log says from an offset on."""
        return {
            "dead": int(not self.alive),
            "tracebacks": self.text(since).count("Traceback"),
            "log": self.complaints(since)[:3],
        }

    def complaints(self, since: int = 0) -> list[str]:
        """Return the different warnings and errors in its log, without their times."""
        lines = (line for line in self.text(since).splitlines() if re.search("WARN|ERROR", line))
        return sorted({line.split(" ", 2)[-1][:160] for line in lines})


class Child(Process):
    """A process of its own program."""

    def __init__(
        self,
        name: str,
        command: Sequence[object],
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        out: Path | None = None,
        user: str | None = None,
    ) -> None:
        self.name, self.log = name, log
        with log.open("ab") as errors, (out or log).open("ab") as output:
            self._popen = subprocess.Popen(
                [str(word) for word in command],
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                user=user,
            )
        self.pid = self._popen.pid

    @property
    def code(self) -> int | None:
        return self._popen.poll()


class Forked(Process):
    """A command of Footnote, forked by the zygote, which also collects its exit code."""

    def __init__(self, name: str, zygote: "Zygote", log: Path, request: dict[str, Any]) -> None:
        self.name, self.log, self._zygote = name, log, zygote
        self._code: int | None = None
        self.pid = int(zygote.ask(request)["pid"])

    @property
    def code(self) -> int | None:
        if self._code is None:
            self._code = self._zygote.ask({"wait": self.pid})["code"]
        return self._code


class Zygote:
    """The interpreter with everything imported, from which commands are forked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.zygote"],
            env=plain_environment(),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._ready = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._popen.stdin
        self._popen.stdin.close()
        self._popen.wait(30)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._popen.stdin
        assert self._popen.stdout
        with self._lock:
            if not self._ready:
                self._ready = self._popen.stdout.readline() == "ready\n"
            self._popen.stdin.write(json.dumps(request) + "\n")
            self._popen.stdin.flush()
            answer: dict[str, Any] = json.loads(self._popen.stdout.readline())
            return answer
