"""The calls of the system git.

Git never asks questions and never searches for a repository: each command works in a git dir of
Footnote's or in none, so that only Footnote's and the user's own configuration apply (``local`` has
the one exception). Only a fetch connects to a remote, by https, ssh or a file address; all other
commands run with all transports off. A token is passed in git's environment only: no argument,
address, configuration file or message contains it.
"""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast
from urllib.parse import urlsplit

from ingest.errors import DocsRepoError, DocsRepoProblem
from ingest.repo.git_address import Remote, without_password
from ingest.repo.git_process import GitProcess

_KEPT_FROM_GIT = ("GIT_", "FOOTNOTE_", "SLACK_", "ANTHROPIC_", "CHROMA_", "DATABASE_URL")
_KEPT_GIT_VARIABLES = ("GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_CONFIG_GLOBAL")

_OVERRIDES = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "credential.interactive": "false",
    # A background process of git would write into the data folder after its owner has ended.
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    # Only configured folders are read, and git still checks who owns them.
    "safe.bareRepository": "all",
}

NOWHERE = Path(os.devnull)
"""The git dir of a command that needs no repository."""

_TRANSPORTS = "https:ssh:file"

MOST_ENTRIES = 500_000
"""Maximum number of files and links in a listing."""
_MOST_BYTES = 200_000_000
_LONGEST_RECORD = 64 << 10
MOST_MEMORY = 1 << 30
"""Maximum number of bytes that a local command of git may allocate, where the system limits it."""
_CHUNK = 64 << 10

_HELPER = '!f() { echo "username=$FOOTNOTE_USERNAME"; echo "password=$FOOTNOTE_TOKEN"; }; f'

_UNHELPFUL = (
    "Could not read from remote repository|Please make sure you have|and the repository exists"
)

# The first match decides the kind.
_SYMPTOMS: tuple[tuple[DocsRepoProblem, str, str], ...] = (
    (
        "transport_refused",
        r"transport '.*' not allowed",
        "Only https, ssh and file addresses are used.",
    ),
    (
        "fetch_failed",
        r"Host key verification failed",
        "Add the host's key to known_hosts of the user that runs footnote.",
    ),
    (
        "auth_failed",
        r"Authentication failed|could not read (Username|Password)|terminal prompts disabled"
        r"|Permission denied \(|requested URL returned error: 40[13]|HTTP Basic: Access denied"
        r"|Invalid username or (password|token)",
        "Check FOOTNOTE_DOCS_TOKEN (https) or the ssh key.",
    ),
    (
        "timeout",
        r"timed out|Operation too slow",
        "Check the network, or raise FOOTNOTE_GIT_TIMEOUT.",
    ),
    (
        "too_large",
        r"out of memory|Out of memory|File too large|too deep|exceeded maximum allowed tree depth",
        "Name a smaller folder in FOOTNOTE_DOCS_ROOT, or remove what is too large.",
    ),
    (
        "no_repository",
        r"not a git repository",
        "It is cloned again at the next ingest.",
    ),
    (
        "fetch_failed",
        r"^remote: fatal: |upload-pack: |on the remote side",
        "The repository at this address lacks objects or is damaged: repair it, or clone it again.",
    ),
    (
        "local_clone_corrupt",
        r"bad object|is corrupt|corrupt loose object|unable to read tree|inflate: data stream"
        r"|bad tree object|missing blob|packfile .* (cannot be accessed|is corrupt)"
        r"|unable to unpack|object file .* is empty|bad pack header"
        r"|does not match index|file .* is not a GIT packfile|bad config",
        "It is cloned again at the next ingest.",
    ),
)

_PREFIX = re.compile(r"^(?:(?:fatal|error|remote|ssh): )+")
_EXCEPTION = re.compile(r"git config --global --add safe\.directory .+")
"""The command that git suggests for trusting a repository of another user."""


@dataclass(frozen=True)
class Git:
    """The system git, at work in one folder."""

    folder: Path
    timeout: float
    remote: Remote | None = None
    git_dir: Path | None = NOWHERE
    """The repository; None lets git look for one in the folder, but not above the folder."""
    work_tree: Path | None = None
    fresh: bool = False
    """True while nothing is stored here, so that any damage is the remote's."""

    @property
    def place(self) -> str:
        """Name of this repository for people."""
        return self.remote.url if self.remote else str(self.folder)

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        online: bool = False,
        most_written: int | None = None,
    ) -> bytes:
        """Return the output of one git command. Raises DocsRepoError with git's reason.

        ``most_written`` limits the bytes of each file that it writes.
        """
        process = self.start(*arguments, online=online, most_written=most_written)
        try:
            output, errors = process.communicate(stdin, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise self.timed_out(_command(arguments)) from None
        finally:
            process.end()
        if process.returncode:
            raise self._failure_of(process, _command(arguments), errors)
        return output

    def stream(
        self,
        *arguments: str,
        separator: bytes = b"\0",
        most: int | None = None,
        most_bytes: int = _MOST_BYTES,
        online: bool = False,
    ) -> Iterator[bytes]:
        """Yield the records of one git command as they come. Raises DocsRepoError.

        More records or bytes than the limits are an error, and end git: a small pack can mean any
        number of paths.
        """
        with TemporaryFile() as errors:
            process = self.start(*arguments, online=online, errors=errors)
            late = threading.Event()

            def give_up() -> None:
                late.set()
                process.kill_group()

            timer = threading.Timer(self.timeout, give_up)
            timer.start()
            try:
                limits = (MOST_ENTRIES if most is None else most, most_bytes)
                yield from self._records(process, arguments[0], separator, *limits)
                process.wait()
            finally:
                timer.cancel()
                process.end()
            if late.is_set():
                raise self.timed_out(arguments[0])
            if process.returncode:
                errors.seek(0)
                raise self._failure_of(process, arguments[0], errors.read(_CHUNK))

    def _records(
        self, process: GitProcess, command: str, separator: bytes, most: int, most_bytes: int
    ) -> Iterator[bytes]:
        output, rest = cast("IO[bytes]", process.stdout), b""
        while data := output.read(_CHUNK):
            *complete, rest = (rest + data).split(separator)
            most, most_bytes = most - len(complete), most_bytes - len(data)
            if most < 0 or most_bytes < 0 or len(rest) > _LONGEST_RECORD:
                raise self.too_large(command)
            yield from filter(None, complete)
        if rest:
            yield rest

    def text(self, *arguments: str) -> str | None:
        """Return one line of output, or None if the command fails, unless it timed out."""
        try:
            return self.run(*arguments).decode(errors="replace").strip()
        except DocsRepoError as error:
            if error.kind == "timeout":
                raise
            return None

    def start(
        self,
        *arguments: str,
        online: bool = False,
        errors: int | IO[bytes] = subprocess.PIPE,
        most_written: int | None = None,
    ) -> GitProcess:
        """Start a git command. Only one that is ``online`` may fetch."""
        environment = self._environment(online)
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise DocsRepoError("git was not found. Install git.", "fetch_failed")
        return GitProcess(
            [program, "-C", str(self.folder), *arguments],
            environment,
            errors=errors,
            most_memory=None if online else MOST_MEMORY,
            most_written=most_written,
        )

    def timed_out(self, command: str) -> DocsRepoError:
        cure = "Check the network" if self.remote else "Look for a pipe among the files of its .git"
        return DocsRepoError(
            f"git {command} on {self.place} was ended after {self.timeout:g} seconds. {cure}, or"
            " raise FOOTNOTE_GIT_TIMEOUT.",
            "timeout",
        )

    def too_large(self, command: str) -> DocsRepoError:
        return DocsRepoError(
            f"git {command} on {self.place} was ended: the repository has more than {MOST_ENTRIES}"
            " files there, or too many or too deep folders. Name a smaller folder in"
            " FOOTNOTE_DOCS_ROOT, or remove them from the repository.",
            "too_large",
        )

    def _failure_of(self, process: GitProcess, command: str, errors: bytes) -> DocsRepoError:
        # Git's own recursion has no limit, here and at a remote.
        if process.has_crashed or b"died of signal" in errors:
            return self.too_large(command)
        return self.failure(command, errors.decode(errors="replace"))

    def failure(self, command: str, errors: str) -> DocsRepoError:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        if exception := next(filter(_EXCEPTION.match, lines), None):
            return DocsRepoError(
                f"git refuses {self.place}: it belongs to another user. If you trust it, run:"
                f" {exception}",
                "not_trusted",
            )
        lines = [line for line in lines if not re.search(_UNHELPFUL, line)] or lines
        # The first error is the cause of those after it, such as `early EOF`.
        errors_of = [line for line in lines if re.match(r"(remote: )?(fatal|error):", line)]
        said = [line for line in lines if re.match(r"(remote|ssh):", line)] or lines
        reason = (errors_of[:1] or said[-1:] or ["git gave no reason"])[0]
        if self.remote and self.remote.token:
            reason = reason.replace(self.remote.token, "***")
        kind: DocsRepoProblem = "fetch_failed"
        cure = "Check the address and the network."
        for symptom_kind, pattern, symptom_cure in _SYMPTOMS:
            if symptom := next((line for line in lines if re.search(pattern, line)), None):
                kind, cure, reason = symptom_kind, symptom_cure, symptom
                break
        if not self.remote and kind != "too_large":
            cure = "Make a full clone in its place."
        elif self.fresh and kind in ("no_repository", "local_clone_corrupt"):
            kind, cure = "fetch_failed", "Repair the repository at this address."
        reason = without_password(_PREFIX.sub("", reason)).rstrip(".")
        return DocsRepoError(f"git {command} on {self.place} failed: {reason}. {cure}", kind)

    def _environment(self, online: bool) -> dict[str, str]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(_KEPT_FROM_GIT) or name in _KEPT_GIT_VARIABLES
        }
        ssh = environment.get("GIT_SSH_COMMAND", "ssh")
        environment |= {
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes -o ConnectTimeout=30",
            "GIT_ALLOW_PROTOCOL": _TRANSPORTS if online else "",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        if not online:
            environment["GIT_NO_LAZY_FETCH"] = "1"
        if self.git_dir is None:
            environment["GIT_CEILING_DIRECTORIES"] = str(self.folder.parent)
        else:
            environment["GIT_DIR"] = str(self.git_dir)
        if self.work_tree:
            environment["GIT_WORK_TREE"] = str(self.work_tree)
        overrides = list(_OVERRIDES.items())
        if self.remote and self.remote.token:
            environment["FOOTNOTE_USERNAME"] = self.remote.username or ""
            environment["FOOTNOTE_TOKEN"] = self.remote.token
            # The empty value drops helpers configured elsewhere. Our helper gives the token to this
            # host only, not to a host that it redirects to.
            scope = "://".join(urlsplit(self.remote.url)[:2])
            overrides += [("credential.helper", ""), (f"credential.{scope}.helper", _HELPER)]
        elif self.remote and self.remote.username:
            overrides += [("credential.username", self.remote.username)]
        environment["GIT_CONFIG_COUNT"] = str(len(overrides))
        for number, (key, value) in enumerate(overrides):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        return environment


def _command(arguments: Sequence[str]) -> str:
    """Return the name of the command, which options of git itself may precede."""
    return next(a for a in arguments if not a.startswith("-") and "=" not in a)


def algorithm_of(id_: str | None) -> str:
    """Hash algorithm of a repository, by the length of one of its ids."""
    return "sha256" if id_ and len(id_) == 64 else "sha1"
