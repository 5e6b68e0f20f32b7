"""Methods of Slack's Web API fail for a while, then work again."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from tests.chaos.bad_slack import Trouble
from tests.chaos.catalogue import item
from tests.chaos.ledger import FOUR, Kind, Ledger
from tests.chaos.processes import until
from tests.chaos.trial import Trial

GROUP = "Slack's API"
HEAL_SECONDS = 130.0
"""Seconds after an outage within which everything has to be answered."""
LANES = 3
POST, UPDATE, REPLIES = "chat.postMessage", "chat.update", "conversations.replies"
STATUSES = ("agents.*", "assistant.*")
LIMITED = Trouble(status=429, error="ratelimited")
DOWN = Trouble(status=500)


@dataclass(frozen=True)
class Outage:
    """What fails, in which ways, for how long, and what is asked as it begins."""

    what: str
    methods: tuple[str, ...]
    trouble: Trouble
    seconds: float
    kinds: tuple[Kind, ...] = FOUR
    drops: bool = False
    """True if the socket drops, too."""

    @property
    def done(self) -> str:
        return f"{self.what} for {self.seconds:g} s"

    @property
    def troubles(self) -> Iterator[Trouble]:
        return (replace(self.trouble, method=method) for method in self.methods)


def refused(error: str) -> Trouble:
    return Trouble(error=error)


PAGE = Trouble(status=503, page="<html>Service Unavailable</html>")
TALKS: tuple[Kind, ...] = ("alert", "direct")
STREAMS: tuple[Kind, ...] = ("direct",) * 3
OUTAGES = (
    Outage("post answers 500", (POST,), DOWN, 3),
    Outage("post answers 500", (POST,), DOWN, 10),
    Outage("post answers 500", (POST,), DOWN, 40),
    Outage("post answers 503 with a page", (POST,), PAGE, 20),
    Outage("post answers internal_error", (POST,), refused("internal_error"), 10),
    Outage("post answers 429, retry-after 2,", (POST,), replace(LIMITED, retry_after=2), 10),
    Outage("post answers 429, retry-after 30,", (POST,), replace(LIMITED, retry_after=30), 20),
    Outage("post refuses connections", (POST,), Trouble(how="cut"), 15),
    Outage("post hangs", (POST,), Trouble(how="hang"), 30),
    Outage("every second post works, but its response is lost,", (POST,),
           Trouble(how="lost", share=0.5), 20, FOUR * 3),
    Outage("post works, but its response is lost,", (POST,), Trouble(how="lost"), 8, FOUR * 2),
    Outage("post works, but its response is 25 s late,", (POST,),
           Trouble(how="late", seconds=25), 8),
    Outage("post answers invalid_auth", (POST,), refused("invalid_auth"), 5),
    Outage("post answers token_revoked", (POST,), refused("token_revoked"), 5),
    Outage("post answers not_in_channel", (POST,), refused("not_in_channel"), 5),
    Outage("post answers restricted_action", (POST,), refused("restricted_action"), 5),
    Outage("update answers 500", (UPDATE,), DOWN, 10, TALKS),
    Outage("update works, but its response is lost,", (UPDATE,), Trouble(how="lost"), 10, TALKS),
    Outage("update hangs", (UPDATE,), Trouble(how="hang"), 30, TALKS),
    Outage("streams answer 500", ("chat.*Stream",), DOWN, 15, STREAMS),
    Outage("the end of streams works, but its response is lost,", ("chat.stopStream",),
           Trouble(how="lost"), 10, STREAMS),
    Outage("streams hang", ("chat.appendStream",), Trouble(how="hang"), 15, STREAMS[:2]),
    Outage("statuses answer 500", STATUSES, DOWN, 10),
    Outage("every second status answers 500", STATUSES, replace(DOWN, share=0.5), 12, FOUR * 3),
    Outage("statuses answer 429, retry-after 30,", STATUSES,
           replace(LIMITED, retry_after=30), 10),
    Outage("statuses hang", STATUSES, Trouble(how="hang"), 10),
    Outage("threads answer 500", (REPLIES,), DOWN, 10),
    Outage("threads answer 429, retry-after 5,", (REPLIES,), replace(LIMITED, retry_after=5), 30),
    Outage("threads hang", (REPLIES,), Trouble(how="hang"), 30),
    Outage("threads answer invalid_auth", (REPLIES,), refused("invalid_auth"), 5),
    Outage("people hang", ("users.*",), Trouble(how="hang"), 30),
    Outage("people answer 429, retry-after 20,", ("users.*",),
           replace(LIMITED, retry_after=20), 20),
    Outage("everything answers 500", ("*",), DOWN, 30),
    Outage("everything refuses connections, the socket drops,", ("*",),
           Trouble(how="cut"), 30, drops=True),
    Outage("everything refuses connections, the socket drops,", ("*",),
           Trouble(how="cut"), 90, drops=True),
    Outage("everything answers invalid_auth", ("*",), refused("invalid_auth"), 10),
)  # fmt: skip


@item(
    GROUP,
    breaks=f"{len(OUTAGES)} outages of single methods and of all, each for a while",
    holds="every question has one answer, 130 s after the outage at most",
    minutes=12,
    quick=True,
)
def outages(trial: Trial) -> None:
    chosen = trial.pick(OUTAGES, (replace(OUTAGES[1], seconds=5),))
    lanes = [chosen[lane::LANES] for lane in range(LANES)]
    with ThreadPoolExecutor(LANES) as pool:
        list(pool.map(lambda lane: _outages(trial, lane), filter(None, lanes)))


def _outages(trial: Trial, outages: tuple[Outage, ...]) -> None:
    with trial.system(line=True) as system:
        bot = system.run()
        system.indexed()
        system.model.behave(delay=0.2)
        warm = Ledger(system.slack, "w")
        warm.root()
        for outage in outages:
            since = len(bot.text())
            ledger = Ledger(system.slack, "o")
            if "follow" in outage.kinds:
                ledger.root()
            with system.bad_line.in_trouble(*outage.troubles):
                if outage.drops:
                    system.slack.post("disconnect", drop=True)
                ledger.some(outage.kinds)
                time.sleep(outage.seconds)  # the outage itself
            begun = time.monotonic()
            ledger.wait(HEAL_SECONDS)
            healed = time.monotonic() - begun
            trial.row(
                outage.done,
                ledger.count(),
                answered_after_s=round(healed, 1),
                tracebacks=bot.text(since).count("Traceback"),
                log=bot.complaints(since)[:4],
                most={"answered_after_s": HEAL_SECONDS},
            )
            if not bot.alive:
                bot = system.run()


@item(
    GROUP,
    breaks="one channel that answers every post with 429, retry-after 60",
    holds="other channels are answered within 10 s meanwhile; nothing is lost",
    minutes=3,
)
def limited_channel(trial: Trial) -> None:
    with trial.system(line=True) as system:
        bot = system.run()
        system.indexed()
        ledger, others = Ledger(system.slack, "l"), Ledger(system.slack, "e")
        others.root()
        trouble = replace(LIMITED, method=POST, channel="C0GENERAL", retry_after=60)
        with system.bad_line.in_trouble(trouble):
            for _ in range(60):
                ledger.ask("mention", "C0GENERAL")
            until(lambda: system.model.asked > 60, 30)
            begun = time.monotonic()
            others.ask("mention", "C0INCIDENT")
            others.ask("direct")
            others.wait(100, 0.1)
            elsewhere = time.monotonic() - begun
        ledger.wait(200)
        ledger.asked += others.asked
        trial.row(
            "one channel answers 429 to 60 posts; one question elsewhere, one direct",
            ledger.count(),
            elsewhere_s=round(elsewhere, 1),
            memory=bot.usage(),
            most={"elsewhere_s": 10},
        )
