"""Many threads at once, a flooded channel, and ends at a bad moment."""

import statistics
import time
from functools import partial

from ingest.runs.record import IngestRuns
from tests.chaos.bad_model import SPOILS
from tests.chaos.catalogue import item
from tests.chaos.ledger import CHANNELS, Asked, Ledger
from tests.chaos.pages import write_pages
from tests.chaos.processes import until
from tests.chaos.system import System
from tests.chaos.trial import RESTART_SECONDS, Trial

GROUP = "Load"
SIGNS = ("agents.sessions.setStatus", "assistant.threads.setStatus", "chat.postMessage")
NO_SIGN = ("", "active", "closed")
SHARE = 0.85
"""Share of what the model can do that has to reach people."""


@item(
    GROUP,
    breaks="50 and 200 threads at once, a model of 5 s that works on 50 at once",
    holds="at least 85 % of what the model can do, with default settings",
    minutes=4,
)
def threads(trial: Trial) -> None:
    for people, at_once in ((50, 8), (50, 50), (200, 50)):
        with trial.system() as system:
            bot = system.run()
            system.indexed()
            Ledger(system.slack, "w").root()
            system.model.behave(delay=5, at_once=at_once)
            before = system.model.asked
            ledger = Ledger(system.slack, "t")
            begun = time.monotonic()
            for number in range(people):
                ledger.ask("mention", CHANNELS[number % 3])
            asked_in = time.monotonic() - begun
            seconds = ledger.seconds(600)
            requests = system.model.asked - before
            usage = bot.usage()
            last = asked_in + seconds[-1] if seconds else None
            # All requests, in turns of as many as the model works on at once.
            ideal = -(-requests // at_once) * 5
            trial.row(
                f"{people} threads at once, {at_once} at once in the model, 5 s each",
                ledger.count(),
                requests=requests,
                model_could_s=ideal,
                last_answer_s=last and round(last, 1),
                share=last and round(ideal / last, 2),
                memory_mb=usage and usage.memory,
                least={"share": SHARE},
            )


@item(
    GROUP,
    breaks="120 questions in one channel, then one in another channel and one direct",
    holds="first sign elsewhere within 300 ms, its answer within twice its time alone",
    minutes=6,
)
def fair(trial: Trial) -> None:
    for name, rules in (("", None), (", one post a second in a channel", {"posting_limit": True})):
        with trial.system(rules=rules) as system:
            bot = system.run()
            system.indexed()
            Ledger(system.slack, "w").root()
            system.model.behave(delay=1)
            alone = max(_answered_after(system), _answered_after(system))
            ledger = Ledger(system.slack, "f")
            for _ in range(120):
                ledger.ask("mention", "C0GENERAL")
            others = Ledger(system.slack, "o")
            sent = time.time()
            one = others.ask("mention", "C0INCIDENT")
            direct = others.ask("direct")
            elsewhere = others.seconds(300)
            signs = [_first_sign(system, each, sent) for each in (one, direct)]
            flood = ledger.seconds(400)
            ledger.asked += others.asked
            usage = bot.usage()
            trial.row(
                f"120 questions in one channel, two elsewhere{name}",
                ledger.count(),
                alone_s=round(alone, 1),
                elsewhere_s=round(elsewhere[-1], 1) if len(elsewhere) == 2 else None,
                first_sign_ms=None if None in signs else round(max(filter(None, signs))),
                flood_median_s=round(statistics.median(flood), 1),
                flood_last_s=round(flood[-1], 1),
                memory_mb=usage and usage.memory,
                most={"elsewhere_s": round(2 * alone, 1), "first_sign_ms": 300},
            )


def _answered_after(system: System) -> float:
    ledger = Ledger(system.slack, "a")
    begun = time.monotonic()
    ledger.ask("mention", "C0INCIDENT")
    ledger.wait(60, 0.05)
    return time.monotonic() - begun


def _first_sign(system: System, asked: Asked, sent: float) -> float | None:
    """Milliseconds until something was to be seen in the thread of a question."""
    at = [
        call["at"]
        for call in system.slack.calls(*SIGNS)
        if call["args"].get("thread_ts") == asked.thread_ts
        and call["args"].get("status", "x") not in NO_SIGN
        and call["at"] >= sent
    ]
    return 1_000 * (min(at) - sent) if at else None


@item(
    GROUP,
    breaks="SIGTERM when idle, while the model is silent, and with an ingest under way",
    holds="it ends within 30 s by itself; what is left is answered 15 s after a start",
    minutes=2,
)
def endings(trial: Trial) -> None:
    for done in ("idle", "model silent", "model silent, ingest under way"):
        with trial.system() as system:
            bot = system.run()
            system.indexed()
            Ledger(system.slack, "w").root()
            ledger = Ledger(system.slack, "e")
            if done != "idle":
                system.model.behave(spoil=(SPOILS["silent after the connection"],))
                before = system.model.asked
                for _ in range(5):
                    ledger.some(("mention", "direct"))
                until(partial(_was_asked, system, before + 5), 30)
            if "ingest" in done:
                write_pages(system.docs, 700, "\n## More\n\nMore text of it.\n")
                IngestRuns(system.data()).request({})
                until(partial(_runs, system), 30)
            begun = time.monotonic()
            code = bot.end(90)
            ended = time.monotonic() - begun
            system.model.behave()
            begun = time.monotonic()
            system.run()
            ledger.wait(130, 0.1)
            trial.row(
                f"ended by SIGTERM: {done}",
                ledger.count(),
                code=code,
                end_s=round(ended, 1),
                answered_after_s=round(time.monotonic() - begun, 1),
                most={"code": 0, "end_s": 30, "answered_after_s": RESTART_SECONDS},
            )


def _was_asked(system: System, requests: int) -> bool:
    return system.model.asked >= requests


def _runs(system: System) -> bool:
    return IngestRuns(system.data()).next_request() is None
