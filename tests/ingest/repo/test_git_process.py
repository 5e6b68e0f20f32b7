"""Git ends with the process that started it, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.repo.git import Git
from tests.conftest import ROOT
from tests.ingest.repo.remotes import silent_server
from tests.waiting import wait_for

OPEN = """
import sys
from pathlib import Path
from ingest.repo import open_checkout
from ingest.sources import DocsSource
open_checkout(DocsSource(sys.argv[1]), Path(sys.argv[2]))
"""

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"
)


def sessions_below(pid: int) -> dict[int, int]:
    """Sessions that the children of a process lead -> number of their live processes."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if state != "Z":
            processes.append((int(stat.parent.name), int(parent), int(session)))
    leaders = [child for child, parent, session in processes if parent == pid and child == session]
    return {leader: sum(of == leader for _, _, of in processes) for leader in leaders}


def alive(session: int) -> bool:
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    states = [
        stat.read_text().rpartition(")")[2].split()
        for stat in Path("/proc").glob("[0-9]*/stat")
        if stat.exists()
    ]
    return any(int(state[3]) == session and state[0] != "Z" for state in states)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_proc
@pytest.mark.parametrize("host", ["ssh", "https", "file"])
def test_git_ends_with_a_process_that_is_killed_while_the_host_is_silent(
    tmp_path: Path, host: str
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\nsleep 600 & sleep 600\n")
    ssh.chmod(0o755)
    if host == "file":
        (tmp_path / "docs.git" / "objects").mkdir(parents=True)
        os.mkfifo(tmp_path / "docs.git" / "HEAD")
    with silent_server() as port:
        address = {
            "ssh": "ssh://git@h.example/docs.git",
            "https": f"https://127.0.0.1:{port}/docs.git",
            "file": (tmp_path / "docs.git").as_uri(),
        }[host]
        running = subprocess.Popen(
            [sys.executable, "-c", OPEN, address, str(tmp_path / "data")],
            env={**os.environ, "GIT_SSH_COMMAND": str(ssh), "PYTHONPATH": str(ROOT)},
        )
        try:
            enough = {"ssh": 6, "https": 4, "file": 3}[host]

            def stuck() -> list[int]:
                return [s for s, n in sessions_below(running.pid).items() if n >= enough]

            [session] = wait_for(stuck)
        finally:
            running.send_signal(signal.SIGKILL)
            running.wait()
        wait_for(lambda: not alive(session))


@needs_proc
def test_nothing_of_a_command_outlives_it(tmp_path: Path) -> None:
    process = Git(tmp_path, 30).start("version")
    output, _ = process.communicate()
    assert output.startswith(b"git version")
    assert not alive(process.pid)
    files = open_files()
    process.end()
    assert open_files() == files - 1


FORKED = """
import os, sys, time
from pathlib import Path
from ingest.repo.git import Git
folder = Path(sys.argv[1])
process = Git(folder, 30, git_dir=folder).start("cat-file", "--batch")
print(process.pid, flush=True)
child = os.fork()
if child == 0:
    time.sleep(600)
print(child, flush=True)
time.sleep(600)
"""


@needs_proc
def test_git_ends_with_its_process_also_if_that_one_has_forked(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path)], check=True)
    with subprocess.Popen(
        [sys.executable, "-c", FORKED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdout
        session, child = int(running.stdout.readline()), int(running.stdout.readline())
        try:
            assert alive(session)
            running.kill()
            wait_for(lambda: not alive(session))
        finally:
            os.kill(child, signal.SIGKILL)
