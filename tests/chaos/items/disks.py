"""The disk of the data folder is full, read-only or gone, or somebody holds a lock on its files."""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tests.chaos.catalogue import item
from tests.chaos.ledger import Kind, Ledger
from tests.chaos.pages import page, service, write_pages
from tests.chaos.processes import Process, until
from tests.chaos.stored_index import differences, stored_index
from tests.chaos.system import System
from tests.chaos.trial import Trial

GROUP = "Storage"
NO_ROOT = "a small tmpfs needs root"
THREE: tuple[Kind, ...] = ("mention", "direct", "alert")
HEARD_SECONDS = 60.0
"""Seconds within which a person has to hear something, whatever is wrong with the disk."""


@contextmanager
def tmpfs(place: Path, megabytes: int) -> Iterator[Path]:
    place.mkdir(parents=True, exist_ok=True)
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs"]
    subprocess.run(["mount", *options, str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def may_mount(trial: Trial, done: str) -> bool:
    """Return True if this user can mount a tmpfs, or skip."""
    if os.geteuid() != 0:
        trial.skip(done, NO_ROOT)
        return False
    probe = trial.session.new_folder()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(probe)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        trial.skip(done, "this machine refuses to mount a tmpfs")
        return False
    subprocess.run(["umount", str(probe)], check=True)
    return True


def fill(place: Path, leave: int = 0) -> Path:
    """Fill a file system up to some bytes, and return the file that does."""
    filler = place / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while (free := os.statvfs(place).f_bavail * os.statvfs(place).f_frsize - leave) > 0:
            file.write(b"\0" * min(free, 1 << 16))
    return filler


def asked(
    trial: Trial, system: System, bot: Process, done: str, seconds: float = HEARD_SECONDS
) -> Ledger:
    """Ask three questions, and hand in how they fared."""
    ledger, since = Ledger(system.slack, "s"), len(bot.text())
    ledger.some(THREE)
    begun = time.monotonic()
    ledger.wait(seconds)
    trial.row(
        done,
        ledger.count(),
        last_answer_s=round(time.monotonic() - begun, 1),
        tracebacks=bot.text(since).count("Traceback"),
        log_lines=bot.text(since).count("\n"),
        log=bot.complaints(since)[:4],
        most={"last_answer_s": seconds, "tracebacks": 0},
    )
    return ledger


@item(
    GROUP,
    breaks="a disk that is too small for the first ingest (1 to 20 MB)",
    holds="one line, no traceback; status still works",
    minutes=1,
)
def small_disk(trial: Trial) -> None:
    done = "first ingest of 300 pages on a disk of"
    if not may_mount(trial, done):
        return
    with trial.system() as system:
        docs = write_pages(system.folder / "many", 300)
        for size in (1, 3, 6, 12, 20):
            with tmpfs(system.data(f"tiny{size}"), size):
                data = f"tiny{size}"
                run = system.command("ingest", data=data, FOOTNOTE_DOCS_REPO=docs)
                status = system.command("status", data=data)
                said = run.said.strip().splitlines()
                trial.row(
                    f"{done} {size} MB",
                    code=run.code,
                    said=said[-1][-160:] if said else "",
                    status_failed=int("Traceback" in status.said or status.code is None),
                    tracebacks=run.said.count("Traceback"),
                    most={"status_failed": 0, "tracebacks": 0, "code": 1},
                )


@item(
    GROUP,
    breaks="the disk fills up while the bot answers and ingests, then there is room again",
    holds="whoever asks hears a true line and an answer within 60 s; the index heals",
    minutes=8,
)
def disk_full(trial: Trial) -> None:
    if not may_mount(trial, "disk full while answering"):
        return
    with trial.system() as system, tmpfs(system.data(), 160) as place:
        bot = system.run()
        system.indexed()
        asked(trial, system, bot, "before the disk is full")
        filler = fill(place)
        early = asked(trial, system, bot, "disk full while answering")
        for number in range(40):
            text = page(number, "\nChanged " + "x " * 4_000)
            (system.docs / f"{service(number)}.md").write_text(text)
        full_ingest(trial, system, bot, "ingest on a full disk")
        filler.unlink()
        asked(trial, system, bot, "room again")
        early.wait(340)
        trial.row("questions of the full disk, after there is room", early.count())
        filler = fill(place, 300_000)
        full_ingest(trial, system, bot, "ingest with 300 kB left")
        asked(trial, system, bot, "disk full again, after the ingest")
        filler.unlink()
        system.ingest()
        bot.end()
        system.command("ingest", data="fresh")
        unequal = differences(stored_index(place), stored_index(system.data("fresh")))
        trial.row("ingest once there is room", unequal=len(unequal), which=unequal,
                  most={"unequal": 0})  # fmt: skip
        filler = fill(place)
        since = len(bot.text())
        bot = system.run()
        if bot.alive:
            asked(trial, system, bot, "started on a full disk")
        else:
            said = bot.text().strip().splitlines()[-1][-160:]
            trial.row(
                "started on a full disk",
                said=said,
                tracebacks=bot.text(since).count("Traceback"),
                most={"tracebacks": 0},
            )


def full_ingest(trial: Trial, system: System, bot: Process, done: str) -> None:
    since = len(bot.text())
    with suppress(sqlite3.Error):
        before = (system.last_run() or {"id": 0})["id"]
        with closing(sqlite3.connect(system.data() / "runs.sqlite", timeout=5)) as runs, runs:
            runs.execute(
                "INSERT INTO runs (reason, state, asked_at, options) VALUES"
                " ('command', 'requested', '2026-01-01T00:00:00+00:00', '{}')"
            )
        until(lambda: (system.last_run() or {"id": 0})["id"] > before, 30, 0.3)
    trial.row(
        done,
        **bot.health(since),
        most={"dead": 0, "tracebacks": 0},
    )


@item(
    GROUP,
    breaks="a data folder that becomes read-only under the bot, and at a start",
    holds="questions are answered within 60 s; commands say so in one line",
    minutes=2,
)
def read_only(trial: Trial) -> None:
    if not may_mount(trial, "data folder read-only"):
        return
    with trial.system() as system, tmpfs(system.data(), 200) as place:
        bot = system.run()
        system.indexed()
        remount = ["mount", "-o", "remount,ro", str(place)]
        busy = subprocess.run(remount, check=False, capture_output=True).returncode
        if not busy:
            asked(trial, system, bot, "data folder read-only while answering")
        bot.end(30)
        if busy:
            subprocess.run(remount, check=True)
        for words in (["run"], ["ingest"], ["search", "limit"], ["status"], ["doctor"]):
            done = system.command(*words, seconds=40)
            text = (done.out + done.said).strip()
            trial.row(
                f"read-only: footnote {words[0]}",
                code=done.code,
                tracebacks=text.count("Traceback"),
                said=text.splitlines()[-1][-160:] if text else "",
                silent=int(not text),
                most={"tracebacks": 0, "silent": 0, "code": 2},
            )


@item(
    GROUP,
    breaks="the data folder is deleted under the running bot; then the index folder alone",
    holds="questions are answered; the log says so; folder, journal and lock are made again",
    minutes=3,
)
def deleted(trial: Trial) -> None:
    with trial.system() as system:
        bot = system.run()
        system.indexed()
        asked(trial, system, bot, "before the data folder is deleted")
        since = len(bot.text())
        shutil.rmtree(system.data())
        asked(trial, system, bot, "data folder deleted while answering")
        needed = ("journal.sqlite", "owner.lock", "runs.sqlite", "current")
        missing = until(lambda: all((system.data() / name).exists() for name in needed), 90, 0.5)
        trial.row(
            "data folder made again, without a restart",
            missing=[name for name in needed if not (system.data() / name).exists()],
            not_made=int(not missing),
            complaints=len(bot.complaints(since)),
            most={"not_made": 0},
            least={"complaints": 1},
        )
        until(lambda: system.last_run(), 60, 0.5)
        asked(trial, system, bot, "answers after the folder was made again")
        for folder in system.data().glob("index-*"):
            shutil.rmtree(folder)
        asked(trial, system, bot, "index folder deleted while answering")
        bot.end()
        bot = system.run()
        system.indexed()
        asked(trial, system, bot, "started again")


@item(
    GROUP,
    breaks="another process holds a lock on a file of the data folder: a backup, a shell",
    holds="no question is lost; a lock is not taken for damage",
    minutes=5,
)
def locked(trial: Trial) -> None:
    with trial.system() as system:
        bot = system.run()
        system.indexed()
        asked(trial, system, bot, "before the locks")
        with held(system.data() / "journal.sqlite"):
            ledger = Ledger(system.slack, "j")
            ledger.some(("mention",) * 4)
            time.sleep(25)  # the lock itself
        ledger.wait(130)
        trial.row("journal locked for 25 s", ledger.count())
        live = system.data() / (system.data() / "current").read_text().strip()
        for file in (live / "pages.sqlite", live / "chroma" / "chroma.sqlite3"):
            changed = page(1, f"\nLocked {file.name}.\n")
            (system.docs / f"{service(1)}.md").write_text(changed)
            with held(file):
                done = system.command("ingest", "--json", seconds=90)
                asked(trial, system, bot, f"{file.name} locked while answering")
            again = system.command("ingest", "--json", seconds=90)
            trial.row(
                f"ingest with {file.name} locked, and after it",
                said=done.said.strip()[-160:],
                embedded=again.json.get("embedded"),
                advises_a_rebuild=int("rebuild" in done.said),
                folders=len(list(system.data().glob("index-*"))),
                most={"embedded": 10, "advises_a_rebuild": 0, "folders": 1},
            )
        bot.end()


@contextmanager
def held(file: Path) -> Iterator[None]:
    lock = sqlite3.connect(file, isolation_level=None, timeout=10)
    lock.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        lock.rollback()
        lock.close()
