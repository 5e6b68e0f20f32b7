"""Several bots on one PostgreSQL: ended, killed, without their database, with a Chroma server."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.items.events import both, mention, new_ts
from tests.chaos.ledger import CHANNELS, Kind, Ledger, words_of
from tests.chaos.pages import limit_of, page, service
from tests.chaos.processes import Process, until
from tests.chaos.servers import ChromaServer, PostgreSQL, installed_postgres
from tests.chaos.system import System
from tests.chaos.trial import TAKEOVER_SECONDS, Trial

GROUP = "Replicas"
KINDS: tuple[Kind, ...] = ("mention", "mention", "direct", "alert")


class Replicas:
    """Bots with a data folder each, and one database for all."""

    def __init__(self, system: System, server: PostgreSQL, **settings: Any) -> None:
        self.system, self.server = system, server
        system.add(server.process)
        self._settings: dict[str, Any] = {"DATABASE_URL": server.url, **settings}
        self.bots: list[Process] = []

    def start(self, number: int, **settings: Any) -> Process:
        """Start a bot, in place of the one of the same number."""
        data = f"replica-{number}"
        bot = self.system.run(data, name=data, **self._settings, **settings)
        self.bots[number : number + 1] = [bot]
        return bot

    def start_all(self, number: int = 2) -> None:
        for each in range(number):
            self.start(each)
        for each in range(number):
            self.system.indexed(f"replica-{each}")

    def tracebacks(self) -> int:
        return sum(bot.text().count("Traceback") for bot in self.bots)


@contextmanager
def replicas(trial: Trial, number: int = 2, **settings: Any) -> Iterator[Replicas | None]:
    """Replicas that answer; None where PostgreSQL is not installed."""
    programs = installed_postgres()
    if programs is None:
        trial.skip("several bots at once", "PostgreSQL is not installed (initdb)")
        yield None
        return
    with trial.system() as system:
        several = Replicas(system, PostgreSQL(system.folder, programs), **settings)
        several.start_all(number)
        yield several


@contextmanager
def asking(ledger: Ledger, trial: Trial, pause: float) -> Iterator[None]:
    """Ask again and again meanwhile."""
    stop = threading.Event()

    def ask() -> None:
        while not stop.wait(trial.chance.random() * pause):
            ledger.ask(trial.chance.choice(KINDS))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@item(
    GROUP,
    breaks="100 questions over two bots; then each event eight times",
    holds="every question has one answer",
    minutes=2,
)
def two_bots(trial: Trial) -> None:
    with replicas(trial) as several:
        if several is None:
            return
        system = several.system
        system.model.behave(delay=0.2, jitter=0.3)
        ledger = Ledger(system.slack, "t")
        for _ in range(trial.pick(100, 10)):
            ledger.ask(trial.chance.choice(KINDS))
        ledger.wait(130)
        trial.row("100 questions over two bots", ledger.count(), tracebacks=several.tracebacks())
        ledger, bodies = Ledger(system.slack, "e"), list[dict[str, Any]]()
        for number in range(40):
            channel, ts = CHANNELS[number % 3], new_ts(100 + number)
            mention(ledger, channel, ts)
            bodies += both(channel, ts) * 4
        trial.chance.shuffle(bodies)
        system.slack.deliver(*bodies)
        ledger.wait(130)
        ledger.ask()
        ledger.wait(60)
        trial.row("each event eight times, to two bots", ledger.count())


@item(
    GROUP,
    breaks="300 questions while the bots are replaced one after the other and a third joins",
    holds="every question has one answer, 110 s after the last start at most",
    minutes=5,
)
def rolling(trial: Trial) -> None:
    with replicas(trial) as several:
        if several is None:
            return
        several.system.model.behave(delay=0.5, jitter=1.5)
        ledger, codes = Ledger(several.system.slack, "r"), list[int | None]()
        with asking(ledger, trial, 0.8):
            while len(ledger.asked) < trial.pick(300, 30):
                turn = len(codes) % 2
                codes.append(several.bots[turn].end())
                several.start(turn)
                if len(codes) == 2:
                    several.start(2)
                time.sleep(4)
                trial.progress(f"{len(ledger.asked)} asked, {len(codes)} restarts")
        begun = time.monotonic()
        ledger.wait(TAKEOVER_SECONDS + 60)
        trial.row(
            "bots replaced one after the other, a third joins",
            ledger.count(),
            restarts=len(codes),
            other_codes=sum(code != 0 for code in codes),
            last_answer_s=round(time.monotonic() - begun, 1),
            tracebacks=several.tracebacks(),
            most={"last_answer_s": TAKEOVER_SECONDS, "other_codes": 0, "tracebacks": 0},
        )


@item(
    GROUP,
    breaks="SIGKILL of one of two bots at random points of answering, 40 times",
    holds="the other one takes over: one answer each, 110 s after the last kill at most",
    minutes=5,
)
def takeover(trial: Trial) -> None:
    with replicas(trial) as several:
        if several is None:
            return
        several.system.model.behave(delay=0.1, jitter=0.5)
        ledger = Ledger(several.system.slack, "k")
        kills = trial.pick(40, 2)
        for number in range(kills):
            for _ in range(trial.chance.randint(2, 4)):
                ledger.ask(trial.chance.choice(KINDS))
            trial.pause(trial.chance.choice((0.1, 0.5, 1.5)))
            several.bots[number % 2].kill()
            begun = time.monotonic()
            if number < kills - 1:
                several.start(number % 2)
                trial.pause(1)
            trial.progress(f"{number + 1} of {kills} kills")
        ledger.wait(TAKEOVER_SECONDS + 60)
        trial.row(
            "one of two bots killed, the last time for good",
            ledger.count(),
            kills=kills,
            last_answer_s=round(time.monotonic() - begun, 1),
            tracebacks=several.tracebacks(),
            most={"last_answer_s": TAKEOVER_SECONDS, "tracebacks": 0},
        )


@item(
    GROUP,
    breaks="PostgreSQL restarted under load, away for 20 s and for 60 s",
    holds="every question has one answer; a ready answer is posted, not thrown away",
    minutes=6,
)
def database_away(trial: Trial) -> None:
    with replicas(trial) as several:
        if several is None:
            return
        system = several.system
        system.model.behave(delay=0.3, jitter=0.7)
        for seconds in (0, 20, 60):
            ledger = Ledger(system.slack, "p")
            since = [len(bot.text()) for bot in several.bots]
            with asking(ledger, trial, 1.6):
                until(partial(_has_asked, ledger, 6), 60)
                several.server.stop()
                time.sleep(seconds)  # the outage itself
                system.add(several.server.start())
                asked = len(ledger.asked)
                until(partial(_has_asked, ledger, asked + 6), 60)
            begun = time.monotonic()
            ledger.wait(340)
            count = ledger.count()
            logs = zip(several.bots, since, strict=True)
            trial.row(
                f"PostgreSQL away for {seconds} s under load",
                count,
                last_answer_s=round(time.monotonic() - begun, 1),
                without_answer=count.verdicts["line"] + count.verdicts["failed"],
                tracebacks=sum(bot.text(at).count("Traceback") for bot, at in logs),
                log=several.bots[0].complaints(since[0])[:3],
                most={"without_answer": 0, "tracebacks": 0},
            )


def _has_asked(ledger: Ledger, number: int) -> bool:
    return len(ledger.asked) >= number


@item(
    GROUP,
    breaks="one of two bots has ingested a change, the other has not",
    holds="measured only: how many answers are old",
    minutes=1,
)
def two_indexes(trial: Trial) -> None:
    with replicas(trial) as several:
        if several is None:
            return
        system = several.system
        text = page(5).replace(str(limit_of(5)), "999999")
        (system.docs / f"{service(5)}.md").write_text(text)
        system.ingest("replica-0")
        old = 0
        for _ in range(12):
            question = f"@Footnote what is the limit of {service(5)}?"
            said = system.slack.post("say", channel="C0GENERAL", user="U0ONCALL", text=question)

            def replies(ts: str = str(said["ts"])) -> list[dict[str, Any]]:
                thread = system.slack.messages("C0GENERAL", ts)
                return [message for message in thread if message.get("metadata")]

            reply = until(replies, 60, 0.2) or [{}]
            old += "999999" not in words_of(reply[0])
        trial.row("one bot has ingested a change, the other has not", asked=12, old_answers=old)


@item(
    GROUP,
    breaks="a Chroma server killed, away at a start, silent, back again",
    holds="every question has one answer within 130 s",
    minutes=6,
)
def vectors(trial: Trial) -> None:
    programs = installed_postgres()
    if programs is None:
        trial.skip("a Chroma server for two bots", "PostgreSQL is not installed (initdb)")
        return
    with trial.system() as system:
        server = ChromaServer(system)
        more = {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": server.port}
        several = Replicas(system, PostgreSQL(system.folder, programs), **more)
        several.start_all()

        def tried(done: str) -> None:
            ledger, begun = Ledger(system.slack, "v"), time.monotonic()
            for _ in range(8):
                ledger.ask()
            ledger.wait(130)
            seconds = round(time.monotonic() - begun, 1)
            trial.row(f"Chroma server {done}", ledger.count(), last_answer_s=seconds,
                      tracebacks=several.tracebacks(),
                      most={"last_answer_s": 130, "tracebacks": 0})  # fmt: skip

        tried("well")
        server.process.kill()
        tried("killed")
        several.bots[0].kill()
        several.start(0)
        tried("away, one bot started meanwhile")
        server.start()
        tried("back")
        server.process.send(signal.SIGSTOP)
        several.bots[1].kill()
        several.start(1)
        tried("silent, one bot started meanwhile")
        server.process.send(signal.SIGCONT)
        tried("goes on")
