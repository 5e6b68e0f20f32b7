"""One item at work: it gets systems and chance, and hands in rows."""

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar

from tests.bench.machine import machine
from tests.chaos.catalogue import Item
from tests.chaos.ledger import Count
from tests.chaos.processes import Zygote, until
from tests.chaos.rows import Row, row_of
from tests.chaos.system import System

Value = TypeVar("Value")

RESTART_SECONDS = 15.0
"""Seconds within which a process that was started again answers what was left."""
TAKEOVER_SECONDS = 110.0
"""Seconds within which another process answers what a dead one left."""
QUICK_RULES = {"retry_delays": [0.0, 5.0, 30.0]}
"""Seconds before Slack delivers an event again, in the quick form."""
QUICK_PATIENCE = 4.0
"""Limits of times are so much longer in the quick form, which runs on busy machines."""


@dataclass
class Session:
    """One run of the harness: where rows go, and what the items share."""

    out: TextIO | None
    seed: int
    quick: bool
    zygote: Zygote
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="footnote-chaos-")))
    rows: list[Row] = field(default_factory=list)
    shared: System | None = None
    _said_at: float = 0.0

    def close(self) -> None:
        if self.shared:
            self.shared.__exit__(None, None, None)
        # Git may tidy up a repository for a moment after its last command.
        until(self._removed, 10, 0.5)

    def _removed(self) -> bool:
        shutil.rmtree(self.folder, ignore_errors=True)
        return not self.folder.exists()

    def say(self, text: str) -> None:
        print(f"{datetime.now():%H:%M:%S} {text}", flush=True)  # noqa: T201, DTZ005  # a command, for a person

    def progress(self, text: str) -> None:
        """Tell how far an item is: one line on a terminal, else a line now and then."""
        if sys.stdout.isatty():
            print(f"\r\033[K  {text}", end="\r", flush=True)  # noqa: T201  # a command
        elif time.monotonic() - self._said_at > 30:
            self._said_at = time.monotonic()
            self.say(f"  {text}")

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


class Trial:
    """What an item works with."""

    def __init__(self, session: Session, item: Item) -> None:
        self.session, self.item = session, item
        self.quick = session.quick
        self.chance = random.Random(f"{session.seed} {item.name}")
        random.seed(f"{session.seed} {item.name}")

    def pick(self, whole: Value, quick: Value) -> Value:
        """Return how much is done, in the whole and in the quick form."""
        return quick if self.quick else whole

    def limit(self, seconds: float) -> float:
        return seconds * self.pick(1.0, QUICK_PATIENCE)

    def pause(self, most: float) -> None:
        """Wait for a time of chance: what follows has no state to wait for."""
        time.sleep(self.chance.random() * most)

    def progress(self, text: str) -> None:
        self.session.progress(f"{self.item.name}: {text}")

    @contextmanager
    def system(self, **options: Any) -> Iterator[System]:
        """A system of its own; the quick form shares one where the item asks for no other."""
        session = self.session
        if self.quick and self.item.quick and set(options) <= {"line"}:
            if session.shared is None:
                folder = session.new_folder()
                session.shared = System(session.zygote, folder, line=True, rules=QUICK_RULES)
            try:
                yield session.shared
            finally:
                session.shared.reset()
            return
        with System(session.zygote, session.new_folder(), **options) as system:
            yield system

    def row(
        self,
        done: str,
        count: Count | None = None,
        *,
        most: Mapping[str, float] | None = None,
        least: Mapping[str, float] | None = None,
        **figures: Any,
    ) -> None:
        """Hand in what was done, its figures, and the limits of some of them."""
        self.hand_in(row_of(self.item.name, done, count, most or {}, least or {}, figures))

    def skip(self, done: str, reason: str) -> None:
        self.hand_in(Row(self.item.name, done, skipped=reason))

    def hand_in(self, row: Row) -> None:
        session = self.session
        at = f"{datetime.now(UTC):%Y-%m-%d}"
        row = replace(row, at=at, machine=machine(), seed=session.seed, quick=self.quick)
        session.rows.append(row)
        if session.out:
            session.out.write(row.to_json() + "\n")
            session.out.flush()
        faults = row.faults
        held = f"skipped: {row.skipped}" if row.skipped else f"FAILED: {'; '.join(faults)}"
        session.say(f"{row.item}: {row.done}: {held if row.skipped or faults else 'held'}")
        if faults:
            session.say(f"  {row.figures}")
