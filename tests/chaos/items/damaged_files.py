"""Files of the data folder are damaged, or of another version; then a bot starts on them."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.ledger import Ledger
from tests.chaos.stored_index import differences, stored_index
from tests.chaos.system import System
from tests.chaos.trial import Trial

GROUP = "Storage"


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(max(3, len(data) // 2_000)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    file.write_bytes(data)


def _halve(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": _halve,
    "zeroed": lambda file: file.write_bytes(b"\0" * file.stat().st_size),
    "flipped": _flip,
    "removed": Path.unlink,
}


@item(
    GROUP,
    breaks="each file of the data folder: truncated, zeroed, bits flipped, removed",
    holds="a bot starts and answers, or says in one line what to do; the index is rebuilt",
    minutes=12,
)
def damaged(trial: Trial) -> None:
    with trial.system() as system:
        good = system.data("good")
        bot = system.run("good")
        system.indexed("good")
        ledger = Ledger(system.slack)
        ledger.ask()
        ledger.wait(60)
        bot.end()
        fresh = stored_index(good)
        files = [path for path in sorted(good.rglob("*")) if path.is_file() and path.stat().st_size]
        for number, file in enumerate(files):
            for way in DAMAGES:
                _one_damage(trial, system, file.relative_to(good), way, fresh)
            trial.progress(f"{number + 1} of {len(files)} files")


def _one_damage(trial: Trial, system: System, file: Path, way: str, fresh: dict[str, Any]) -> None:
    data = system.data()
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(system.data("good"), data)
    DAMAGES[way](data / file)
    since = _log_size(system)
    bot = system.run()
    started = bot.alive
    ledger = Ledger(system.slack, "z")
    if started:
        ledger.ask()
        ledger.wait(60)
    count = ledger.count(5)
    died = started and not bot.alive
    bot.end(40)
    text = bot.text(since)
    run = system.command("ingest", "--json", seconds=120)
    unequal = differences(stored_index(data), fresh) if run.code == 0 else []
    lines = [line for line in text.splitlines() if line.startswith("footnote:")]
    name = "/".join("index" if part.startswith("index-") else part for part in file.parts)
    trial.row(
        f"{name} {way}",
        count,
        died=int(died),
        not_started=int(not started),
        line=lines[-1][:160] if lines else "",
        silent=int(not started and not lines),
        tracebacks=text.count("Traceback"),
        ingest_code=run.code,
        unequal=len(unequal),
        most=dict.fromkeys(("died", "silent", "tracebacks", "unequal"), 0),
    )


def _log_size(system: System) -> int:
    log = system.folder / "run.log"
    return len(log.read_text(errors="replace")) if log.exists() else 0


@item(
    GROUP,
    breaks="journal and index of older and newer versions",
    holds="what can be read is read; the rest is refused in one line, or rebuilt",
    minutes=2,
)
def versions(trial: Trial) -> None:
    with trial.system() as system:
        bot = system.run()
        system.indexed()
        bot.end()
        journal = system.data() / "journal.sqlite"
        main = next(name for name in _tables(journal) if "message" in name)
        may_refuse = {
            "a column that may be empty is missing": f"ALTER TABLE {main} DROP COLUMN about",
            "one more column, as of a newer version": f"ALTER TABLE {main} ADD COLUMN future TEXT",
            "one more column with a default":
                f"ALTER TABLE {main} ADD COLUMN other TEXT NOT NULL DEFAULT 'x'",
        }  # fmt: skip
        for done, statement in may_refuse.items():
            _change(journal, statement)
            _start(trial, system, f"journal: {done}", starts=True)
        _change(journal, f"DROP TABLE {main}", f"CREATE TABLE {main} (ts TEXT NOT NULL)")
        _start(trial, system, "journal: a table of other columns", starts=False)
        journal.unlink()
        live = system.data() / (system.data() / "current").read_text().strip()
        _change(live / "pages.sqlite", "UPDATE meta SET value = '2' WHERE key = 'schema'")
        _start(trial, system, "index of an older schema", starts=True)


def _tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as rows:
        names = rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return [str(name) for (name,) in names]


def _change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as rows, rows:
        for statement in statements:
            rows.execute(statement)


def _start(trial: Trial, system: System, done: str, *, starts: bool) -> None:
    since = _log_size(system)
    bot = system.run()
    started = bot.alive
    ledger = Ledger(system.slack, "v")
    if started:
        ledger.ask()
        ledger.wait(60)
    count = ledger.count(5)
    bot.end()
    text = bot.text(since)
    lines = [line for line in text.splitlines() if line.startswith("footnote:")]
    trial.row(
        done,
        count,
        otherwise=int(started != starts),
        line=lines[-1][:160] if lines else "",
        silent=int(not started and not lines),
        tracebacks=text.count("Traceback"),
        most=dict.fromkeys(("otherwise", "silent", "tracebacks"), 0),
    )
