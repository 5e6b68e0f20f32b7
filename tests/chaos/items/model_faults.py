"""The model is slow, silent or wrong in every way, for one question and for many at once."""

from typing import Any

from tests.chaos.bad_model import HANGS, SPOILS, WAYS
from tests.chaos.catalogue import item
from tests.chaos.ledger import CHANNELS, Ledger
from tests.chaos.processes import Process
from tests.chaos.system import System
from tests.chaos.trial import Trial

GROUP = "The model"
DEADLINE = 20.0
SETTINGS: dict[str, Any] = {"FOOTNOTE_DEADLINE": DEADLINE, "FOOTNOTE_CALL_TIMEOUT": 8}
STEPS = ("search", "answer")
HELD_UP = ("silent in the middle", "connection cut", "only pings", "an event a second")
"""Spoils that are tried on each step of its own."""


@item(
    GROUP,
    breaks=f"{len(SPOILS)} faults of the Messages API, connections refused, tools for ever",
    holds=f"every question has one answer within the deadline ({DEADLINE:.0f} s here) + 5 s",
    minutes=15,
)
def model_faults(trial: Trial) -> None:
    with trial.system() as system:
        bot = system.run(**SETTINGS)
        system.indexed()
        Ledger(system.slack, "w").root()
        for name, spoil in SPOILS.items():
            for step in STEPS if name in HELD_UP else ("",):
                system.model.behave(spoil=(spoil,), step=step)
                three(trial, system, bot, f"model: {name}{f', {step}' if step else ''}")
        system.model.close()
        three(trial, system, bot, "model: connections refused")
        system.model.open()
        system.model.behave()
        three(trial, system, bot, "model: well again", answered=3)
        trial.row(
            "requests that the real API would refuse",
            refused=len(system.model.refused),
            reasons=sorted(set(system.model.refused))[:3],
            most={"refused": 0},
        )


def three(trial: Trial, system: System, bot: Process, done: str, answered: int = 0) -> None:
    """Ask three questions at once, and hand in how they fared."""
    ledger = Ledger(system.slack, "m")
    before, since = bot.usage(), len(bot.text())
    for number in range(3):
        ledger.ask("direct" if number == 2 else "mention", CHANNELS[number])
    seconds = ledger.seconds(DEADLINE + 60)
    count = ledger.count()
    after = bot.usage()
    trial.row(
        done,
        count,
        last_answer_s=round(seconds[-1], 1) if seconds else None,
        by_model=count.verdicts["answered"],
        memory_mb=[usage and usage.memory for usage in (before, after)],
        tracebacks=bot.text(since).count("Traceback"),
        most={"last_answer_s": DEADLINE + 5, "tracebacks": 0},
        least={"by_model": answered},
    )


@item(
    GROUP,
    breaks="30 % of all turns, in every way, for 50 threads at once",
    holds="every question has one answer within the deadline (20 s here) + 15 s",
    minutes=2,
)
def model_mix(trial: Trial) -> None:
    with trial.system() as system:
        system.run(**SETTINGS)
        system.indexed()
        Ledger(system.slack, "w").root()
        spoils = tuple(SPOILS[name] for name in (*WAYS, *HANGS))
        system.model.behave(spoil=spoils, share=0.3, delay=0.2, jitter=0.6)
        crowd(trial, system, "30 % of the turns fail, 50 threads", 50, DEADLINE + 15)


@item(
    GROUP,
    breaks="a model that is silent, for 50 threads at once; then it is well again",
    holds="every question has one answer within the deadline + 5 s; then the model answers",
    minutes=4,
    quick=True,
)
def model_stall(trial: Trial) -> None:
    deadline = trial.pick(DEADLINE, 4.0)
    with trial.system() as system:
        settings: dict[str, Any] = {
            "FOOTNOTE_DEADLINE": deadline,
            "FOOTNOTE_CALL_TIMEOUT": deadline / 2,
        }
        system.run(**settings)
        system.indexed()
        Ledger(system.slack, "w").root()
        people = trial.pick(50, 12)
        system.model.behave(spoil=(SPOILS["silent after the connection"],))
        crowd(trial, system, f"model silent, {people} threads", people, deadline + 5)
        if trial.quick:
            return
        crowd(trial, system, f"model still silent, {people} threads", people, deadline + 5)
        system.model.behave()
        recovered = Ledger(system.slack, "r")
        for number in range(40):
            recovered.ask()
            recovered.wait(60)
            if recovered.count(0).verdicts["answered"]:
                break
            trial.progress(f"not yet by the model, {number + 1} asked")
        count = recovered.count()
        trial.row(
            "model well again after silence",
            count,
            by_model=count.verdicts["answered"],
            least={"by_model": 1},
        )


def crowd(trial: Trial, system: System, done: str, people: int, limit: float) -> None:
    ledger = Ledger(system.slack, "c")
    for number in range(people):
        ledger.ask("mention", CHANNELS[number % 3])
    seconds = ledger.seconds(limit * 6)
    trial.row(
        done,
        ledger.count(),
        first_answer_s=round(seconds[0], 1) if seconds else None,
        last_answer_s=round(seconds[-1], 1) if seconds else None,
        most={"last_answer_s": trial.limit(limit)},
    )
