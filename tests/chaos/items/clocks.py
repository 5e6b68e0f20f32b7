"""The clock of a bot jumps, as when somebody sets it. Monotonic clocks go on as before."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.items.replicas import replicas
from tests.chaos.ledger import Ledger
from tests.chaos.system import System
from tests.chaos.trial import TAKEOVER_SECONDS, Trial

GROUP = "Clocks"
NO_LIBRARY = "libfaketime is not installed (package faketime)"
JUMPS = ("+0", "+2h", "-1h", "+1d", "-1d", "+40d")


def library() -> Path | None:
    places = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return places[0] if places else None


def own_clock(
    system: System, preload: Path, name: str
) -> tuple[dict[str, Any], Callable[[str], object]]:
    """Return the environment of a bot with its own clock, and the function that sets the clock."""
    file = system.folder / f"clock-{name}"
    file.write_text("+0")
    env: dict[str, Any] = {
        "LD_PRELOAD": preload,
        "FAKETIME_TIMESTAMP_FILE": file,
        "FAKETIME_NO_CACHE": 1,
        "FAKETIME_DONT_FAKE_MONOTONIC": 1,
        "DONT_FAKE_MONOTONIC": 1,
    }
    return env, file.write_text


@item(
    GROUP,
    breaks="the clock of one bot: 2 h and a day ahead, an hour and a day back, 40 days ahead",
    holds="every question has one answer",
    minutes=4,
)
def clock(trial: Trial) -> None:
    preload = library()
    if preload is None:
        trial.skip("clock of one bot", NO_LIBRARY)
        return
    with trial.system() as system:
        system.model.behave(delay=0.5, jitter=0.5)
        env, jump = own_clock(system, preload, "one")
        bot = system.run(fork=False, **env)
        system.indexed()
        for offset in JUMPS:
            since = len(bot.text())
            ledger = Ledger(system.slack, "j")
            ledger.some(("mention", "direct", "mention"))
            jump(offset)
            ledger.some(("mention", "direct", "mention"))
            ledger.wait(130)
            time.sleep(22)  # one round of renewing and searching claims
            trial.row(
                f"clock of one bot at {offset}",
                ledger.count(),
                **bot.health(since),
                most={"dead": 0, "tracebacks": 0},
            )


@item(
    GROUP,
    breaks="the clock of one of two bots, two hours ahead and back, during long answers",
    holds="every question has one answer",
    minutes=6,
)
def two_clocks(trial: Trial) -> None:
    preload = library()
    if preload is None:
        trial.skip("clocks of two bots", NO_LIBRARY)
        return
    with replicas(trial, 0) as several:
        if several is None:
            return
        system = several.system
        env, jump = own_clock(system, preload, "two")
        several.start(0)
        several.start(1, fork=False, **env)
        for number in range(2):
            system.indexed(f"replica-{number}")
        for offset in ("+0", "+2h", "-2h"):
            system.model.behave(delay=20, jitter=5)
            before = system.model.asked
            ledger = Ledger(system.slack, "j")
            for _ in range(4):
                ledger.some(("mention", "direct"))
            time.sleep(2)  # all of them are claimed
            jump(offset)
            ledger.wait(TAKEOVER_SECONDS + 60)
            system.model.behave()
            count = ledger.count()
            trial.row(
                f"clock of one of two bots at {offset}",
                count,
                requests_per_answer=round((system.model.asked - before) / count.asked, 1),
                tracebacks=several.tracebacks(),
                most={"tracebacks": 0},
            )
