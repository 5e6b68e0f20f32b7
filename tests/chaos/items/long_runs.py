"""Thousands of questions, and two months of nights: does anything grow?"""

import time
from pathlib import Path
from typing import Any

from tests.bench.measure import disk_mb
from tests.chaos.catalogue import item
from tests.chaos.items.ingest_kills import remote_of
from tests.chaos.ledger import Ledger
from tests.chaos.pages import change_pages
from tests.chaos.processes import Usage
from tests.chaos.trial import Trial

GROUP = "Months"
UNDER_WAY = 12
"""Questions that are asked before the first of them is answered."""


@item(
    GROUP,
    breaks="2,000 questions in a row",
    holds="memory grows by at most 15 % after the first quarter; files and threads do not",
    minutes=12,
)
def long(trial: Trial) -> None:
    questions = trial.pick(2_000, 100)
    with trial.system() as system:
        bot = system.run()
        system.indexed()
        usages: list[Usage] = []
        total: dict[str, Any] = {
            "asked": 0,
            "lost": 0,
            "doubled": 0,
            "crossed": 0,
            "half": 0,
            "stuck": 0,
        }
        while total["asked"] < questions:
            ledger = Ledger(system.slack, f"l{total['asked']}-")
            for _ in range(100):
                while len(ledger.unanswered()) >= UNDER_WAY:
                    time.sleep(0.05)
                ledger.ask(trial.chance.choice(("mention", "mention", "direct", "alert")))
            ledger.wait(130)
            figures = ledger.count().figures()
            total = {name: total[name] + figures[name] for name in total}
            usage = bot.usage()
            assert usage, "the bot has ended"
            usages.append(usage)
            trial.progress(f"{total['asked']} asked, {usage}")
            if total["asked"] % 500 == 0:
                system.slack.post("reset")  # else the sandbox is what grows
        quarter, last = usages[len(usages) // 4], usages[-1]
        trial.row(
            f"{questions:,} questions in a row",
            **total,
            memory_quarter_mb=quarter.memory,
            memory_last_mb=last.memory,
            memory_growth=round(last.memory / quarter.memory, 2),
            more_files=last.files - quarter.files,
            more_threads=last.threads - quarter.threads,
            journal_mb=round((system.data() / "journal.sqlite").stat().st_size / 1e6, 1),
            tracebacks=bot.text().count("Traceback"),
            most=dict.fromkeys(("lost", "doubled", "crossed", "half", "stuck", "tracebacks"), 0)
            | {"memory_growth": 1.15, "more_files": 10, "more_threads": 10},
        )


@item(
    GROUP,
    breaks="60 nights by one bot, a quarter of the pages changed in each",
    holds="the index is at most 1.3 times a fresh one; memory at most 1.3 times night 10",
    minutes=4,
)
def nights(trial: Trial) -> None:
    count = trial.pick(60, 3)
    with trial.system() as system:
        remote, pages = remote_of(system, 180)
        settings: dict[str, Any] = {
            "FOOTNOTE_DOCS_REPO": remote.url,
            "FOOTNOTE_MAX_DELETED_SHARE": 1,
        }
        bot = system.run(**settings)
        system.indexed()
        ledger, usages, failed = Ledger(system.slack, "n"), list[Usage](), 0
        for night in range(count):
            change_pages(remote.work, pages, trial.chance, 0.25)
            remote.commit()
            failed += system.ingest().get("state") != "done"
            ledger.ask(about=trial.chance.choice(sorted(pages)))  # others are deleted by now
            ledger.wait(60)
            usage = bot.usage()
            assert usage, "the bot has ended"
            usages.append(usage)
            trial.progress(f"night {night + 1}, {usage}, {index_mb(system.data()):.1f} MB")
        system.command("ingest", data="fresh", **settings)
        mine, fresh = index_mb(system.data()), index_mb(system.data("fresh"))
        tenth = usages[min(9, len(usages) - 1)]
        trial.row(
            f"{count} nights, a quarter of 180 pages changed in each",
            ledger.count(),
            failed_runs=failed,
            index_mb=round(mine, 1),
            fresh_index_mb=round(fresh, 1),
            index_growth=round(mine / fresh, 2),
            clone_mb=round(disk_mb(system.data() / "clone"), 1),
            memory_night_10_mb=tenth.memory,
            memory_last_mb=usages[-1].memory,
            memory_growth=round(usages[-1].memory / tenth.memory, 2),
            more_threads=usages[-1].threads - tenth.threads,
            most={
                "failed_runs": 0,
                "index_growth": 1.3,
                "memory_growth": 1.3,
                "more_threads": 10,
            },
        )


def index_mb(data: Path) -> float:
    return sum(disk_mb(folder) for folder in data.glob("index-*"))
