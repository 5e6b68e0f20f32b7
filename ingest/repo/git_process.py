"""A git command as a process that ends with Footnote, whatever ends Footnote.

A shell starts git and a watcher in one process group. The watcher reads a pipe that only Footnote
writes to: the system closes that pipe when Footnote ends, also by SIGKILL, and then the watcher
kills the group, with ssh and all other children. The shell also sets the limits of git's memory and
of the files that it writes.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

_SHELL = "/bin/sh"

# Git's input is opened by its path, because a POSIX shell redirects from one-digit numbers only.
# The watcher closes the other pipes, or readers of git's output would wait for it.
_SCRIPT = """
exec 3<&0
input=$1 memory=$2 blocks=$3
shift 3
ulimit -d "$memory" 2>/dev/null
ulimit -f "$blocks" 2>/dev/null
trap '' XFSZ
"$@" <"/dev/fd/$input" 3<&- &
git=$!
exec 2>/dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null &
wait "$git"
code=$?
kill -KILL "$!"
wait "$!"
exit "$code"
"""
_BLOCK = 512
"""Bytes of a block, the unit of ``ulimit -f``."""
_UNLIMITED = "unlimited"
_USAGE = 129
"""The largest code with which git ends by itself; above it are the codes of signals."""


_lives: set[int] = set()
"""The ends of all pipes that watchers read; a child that is forked must not hold them open."""


def _close_lives() -> None:
    for life in _lives:
        with suppress(OSError):  # it has been closed at this moment
            os.close(life)
    _lives.clear()


os.register_at_fork(after_in_child=_close_lives)


class GitProcess(subprocess.Popen[bytes]):
    """A git command under its shell, the leader of its process group."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        errors: int | IO[bytes] = subprocess.PIPE,
        most_memory: int | None = None,
        most_written: int | None = None,
    ) -> None:
        """Start the command. ``most_written`` limits the bytes of each file that it writes."""
        memory = str(most_memory // 1024) if most_memory else _UNLIMITED
        blocks = str(-(-most_written // _BLOCK)) if most_written else _UNLIMITED
        life, self._life = os.pipe()
        given, feed = os.pipe()
        try:
            super().__init__(
                [_SHELL, "-c", _SCRIPT, "git", str(given), memory, blocks, *command],
                env=environment,
                stdin=life,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=(given,),
                start_new_session=True,
            )
            _lives.add(self._life)
        except BaseException:
            os.close(self._life)
            os.close(feed)
            raise
        finally:
            os.close(life)
            os.close(given)
        self.stdin = os.fdopen(feed, "wb")

    def kill_group(self) -> None:
        """Kill git with all its children, unless it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # it has ended already
                os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill git with all its children, and close its pipes."""
        self.kill_group()
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe:
                with suppress(BrokenPipeError):  # text that git has not read
                    pipe.close()
        self.wait()
        if self._life in _lives:
            _lives.discard(self._life)
            os.close(self._life)
            self._life = -1

    @property
    def has_crashed(self) -> bool:
        """True if a signal ended git, such as that of a full stack."""
        code = self.returncode or 0
        return code < 0 or code > _USAGE
