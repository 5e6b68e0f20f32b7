"""A bot is killed or ended at random points of answering, and started again."""

import sqlite3
import statistics
import time
from collections import Counter
from contextlib import closing

from tests.chaos.catalogue import item
from tests.chaos.ledger import Kind, Ledger
from tests.chaos.pages import service
from tests.chaos.processes import until
from tests.chaos.system import System
from tests.chaos.trial import RESTART_SECONDS, Trial

KINDS: tuple[Kind, ...] = ("mention", "mention", "direct", "alert", "follow")
GROUP = "Processes"


@item(
    GROUP,
    breaks="SIGKILL at random points of answering, then a start",
    holds="every question has one answer, 15 s after the start at most",
    minutes=30,
    quick=True,
)
def kills(trial: Trial) -> None:
    with trial.system() as system:
        system.model.behave(delay=0.1, jitter=0.5)
        bot = system.run()
        system.indexed()
        ledger = Ledger(system.slack)
        took: list[float] = []
        kills = 0
        rounds = trial.pick(200, 3)
        for number in range(rounds):
            ledger.some(trial.chance.choices(KINDS, k=trial.chance.randint(1, 4)))
            trial.pause(trial.chance.choice((0.15, 0.6, 1.5, 3.0)))
            bot.kill()
            begun = time.monotonic()
            bot = system.run()
            kills += 1
            if number % 6 == 2:  # once more, while it recovers
                trial.pause(1.5)
                bot.kill()
                begun = time.monotonic()
                bot = system.run()
                kills += 1
            ledger.wait(130, 0.1)
            took.append(time.monotonic() - begun)
            trial.progress(f"{number + 1} of {rounds}, {kills} kills, last {took[-1]:.1f} s")
        count = ledger.count()
        trial.row(
            "bot killed by SIGKILL while it answers, and started again",
            count,
            kills=kills,
            recovery_median_s=round(statistics.median(took), 1),
            recovery_max_s=round(max(took), 1),
            tracebacks=bot.text().count("Traceback"),
            most={"recovery_max_s": trial.limit(RESTART_SECONDS), "tracebacks": 0},
        )


@item(
    GROUP,
    breaks="SIGTERM within a second of the questions, as a deploy does it",
    holds="every question has one answer; the process ends by itself, with code 0",
    minutes=6,
    quick=True,
)
def ends(trial: Trial) -> None:
    with trial.system() as system:
        system.model.behave(delay=0.1, jitter=0.3)
        bot = system.run()
        system.indexed()
        ledger = Ledger(system.slack, "t")
        codes: Counter[str] = Counter()
        ended: list[float] = []
        recovered: list[float] = []
        for number in range(trial.pick(50, 2)):
            ledger.some(trial.chance.choices(("mention", "direct"), k=3))
            trial.pause(trial.chance.choice((0.02, 0.1, 1.0)))
            begun = time.monotonic()
            codes[str(bot.end(90))] += 1
            ended.append(time.monotonic() - begun)
            begun = time.monotonic()
            bot = system.run()
            ledger.wait(130, 0.1)
            recovered.append(time.monotonic() - begun)
            trial.progress(f"{number + 1}, codes {dict(codes)}")
        trial.row(
            "bot ended by SIGTERM while it answers, and started again",
            ledger.count(),
            ends=sum(codes.values()),
            other_codes=sum(codes.values()) - codes["0"],
            end_median_s=round(statistics.median(ended), 1),
            end_max_s=round(max(ended), 1),
            recovery_max_s=round(max(recovered), 1),
            most={
                "other_codes": 0,
                "end_max_s": trial.limit(30),
                "recovery_max_s": trial.limit(RESTART_SECONDS),
            },
        )


@item(
    GROUP,
    breaks="SIGKILL while a private question (`/footnote ask`) is answered",
    holds="whoever asked hears a word after the next start",
    minutes=2,
    quick=True,
)
def private(trial: Trial) -> None:
    with trial.system() as system:
        system.run()
        system.indexed()
        rounds = trial.pick(5, 1)
        answers = [_killed_in_private(system, number) for number in range(rounds)]
        trial.row(
            "bot killed while it answers a private question, and started again",
            asked=rounds,
            unheard=sum(not lines for _, lines in answers),
            heard_max_s=round(max(seconds for seconds, _ in answers), 1),
            lines=sorted({line[:100] for _, lines in answers for line in lines}),
            most={"unheard": 0, "heard_max_s": trial.limit(RESTART_SECONDS)},
        )


def _killed_in_private(system: System, page: int) -> tuple[float, list[str]]:
    """Kill a bot after its first word. Return the seconds until the next words, and the words."""
    bot = system.processes[-1]
    system.model.behave(delay=60)
    before = len(heard(system))
    text = f"ask what is the limit of {service(page)}?"
    system.slack.post("command", user="U0ONCALL", channel="C0GENERAL", text=text)
    until(lambda: len(heard(system)) > before, 30)
    promised = len(heard(system))
    bot.kill()
    system.model.behave()
    begun = time.monotonic()
    system.run()
    lines = until(lambda: heard(system)[promised:], 60) or []
    return time.monotonic() - begun, lines


def heard(system: System) -> list[str]:
    """Return what one person alone has read in the channel."""
    messages = system.slack.messages("C0GENERAL")
    return [str(each.get("text")) for each in messages if each.get("_viewer") == "U0ONCALL"]


@item(
    GROUP,
    breaks="words of questions that are kept longer than 30 days",
    holds="they are deleted at the next start (and once an hour, which takes too long here)",
    minutes=1,
)
def retention(trial: Trial) -> None:
    with trial.system() as system:
        bot = system.run(FOOTNOTE_STORE_TEXT="true")
        system.indexed()
        ledger = Ledger(system.slack)
        ledger.ask()
        ledger.wait(60)
        file = system.data() / "journal.sqlite"

        def rows() -> int:
            with closing(sqlite3.connect(file, timeout=10)) as journal:
                return int(journal.execute("SELECT count(*) FROM texts").fetchone()[0])

        with closing(sqlite3.connect(file, timeout=10)) as journal, journal:
            journal.execute("UPDATE texts SET at = at - 31 * 86400")
        before = rows()
        bot.end()
        bot = system.run(FOOTNOTE_STORE_TEXT="true")
        trial.row(
            "words made 31 days old; then the bot starts again",
            rows=before,
            rows_after_a_start=rows(),
            most={"rows_after_a_start": 0},
            least={"rows": 1},
        )
