"""The WebSocket to Slack ends: with a close frame, without one, or it goes dead."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.chaos.catalogue import item
from tests.chaos.ledger import Ledger
from tests.chaos.processes import until
from tests.chaos.system import System
from tests.chaos.trial import Trial
from tests.fakes.bad_line import Break

GROUP = "Slack's socket"
KINDS = ("drop", "drop", "refresh_requested", "warning")
DEAF_SECONDS = 75.0
"""Seconds without Slack after which somebody would call the bot deaf."""


@contextmanager
def dropping(system: System, least: float, most: float) -> Iterator[list[str]]:
    """Drop the socket, or ask for another one, again and again."""
    stop, dropped = threading.Event(), list[str]()

    def drop() -> None:
        while not stop.wait(random.uniform(least, most)):
            kind = random.choice(KINDS)
            body = {"drop": True} if kind == "drop" else {"reason": kind}
            system.slack.post("disconnect", **body)
            dropped.append(kind)

    thread = threading.Thread(target=drop)
    thread.start()
    try:
        yield dropped
    finally:
        stop.set()
        thread.join()


@item(
    GROUP,
    breaks="socket dropped, or a new one asked for, every 1 to 5 s under load",
    holds="every question has one answer, 75 s after the last drop at most",
    minutes=5,
    quick=True,
)
def drops(trial: Trial) -> None:
    with trial.system(line=True) as system:
        system.model.behave(delay=0.1, jitter=0.4)
        bot = system.run()
        system.indexed()
        ledger = Ledger(system.slack, "d")
        end = time.monotonic() + trial.pick(240, 6)
        with dropping(system, *trial.pick((1.0, 5.0), (0.5, 2.0))) as dropped:
            while time.monotonic() < end:
                ledger.ask(trial.chance.choice(("mention", "mention", "direct", "alert")))
                time.sleep(trial.chance.uniform(0.5, 1.5))
                trial.progress(f"{len(ledger.asked)} asked, {len(dropped)} drops")
        begun = time.monotonic()
        # What was on its way when the socket dropped comes again after 60 and 300 s.
        ledger.wait(340)
        waited = time.monotonic() - begun
        after = ledger.ask()
        begun = time.monotonic()
        ledger.wait(DEAF_SECONDS)
        trial.row(
            "socket dropped and refreshed under load",
            ledger.count(),
            drops=len(dropped),
            last_answer_s=round(waited, 1),
            hears_again_s=round(time.monotonic() - begun, 1) if after else None,
            tracebacks=bot.text().count("Traceback"),
            most={"hears_again_s": DEAF_SECONDS, "tracebacks": 0},
        )


def is_back(system: System, before: int) -> bool:
    """Return True once another socket is open."""
    return system.bad_line.sockets_asked > before and system.slack.state()["connections"] > 0


@item(
    GROUP,
    breaks="socket that ends without a close frame: by FIN, by RST, or silently",
    holds="the bot hears Slack again within 75 s, and no question is lost",
    minutes=8,
    quick=True,
)
def cuts(trial: Trial) -> None:
    with trial.system(line=True) as system:
        bot = system.run()
        system.indexed()
        times: dict[Break, int] = trial.pick({"fin": 12, "rst": 12, "hole": 4}, {"rst": 1})
        for how, number in times.items():
            ledger = Ledger(system.slack, how)
            back: list[float] = []
            shares: list[float] = []
            for done in range(number):
                spent, begun = bot.processor_seconds(), time.monotonic()
                asked = system.bad_line.sockets_asked
                system.bad_line.sockets.cut(how)
                ledger.ask()
                until(partial(is_back, system, asked), 90)
                seconds = time.monotonic() - begun
                shares.append((bot.processor_seconds() - spent) / seconds)
                ledger.wait(120, 0.1)
                back.append(seconds)
                trial.progress(f"{how}, {done + 1} of {number}, back after {seconds:.1f} s")
            trial.row(
                f"socket ends without a close frame: {how}",
                ledger.count(),
                deaf_max_s=round(max(back), 1),
                processor_share=round(max(shares), 2),
                most={"deaf_max_s": DEAF_SECONDS},
            )
