"""Rows of figures -> docs/reliability.md, one table for each group of items."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.chaos.catalogue import GROUPS, ITEMS, in_order
from tests.chaos.pages import PAGES
from tests.chaos.rows import NEVER, Row, read_rows
from tests.chaos.trial import RESTART_SECONDS, TAKEOVER_SECONDS
from tests.conftest import ROOT

REPORT = ROOT / "docs" / "reliability.md"
UNITS = {"_s": " s", "_ms": " ms", "_mb": " MB"}
HEAD = """# Reliability

Written by `make chaos` on {date} ({machine}). Do not edit it by hand.

`make chaos` starts real processes: the bot, a local Slack workspace and a strict stand-in for the
Messages API. It breaks one thing, asks questions meanwhile, and counts what people got. Every
question is about one of {pages} pages, each of which states another number.

- **lost**: a question without a reply. **doubled**: one with several. **crossed**: a reply in
  another thread, or about another page.
- **half**: a message that is the beginning of an answer. **stuck**: a thread that goes on showing
  work under way.
- The limit of these five is 0 everywhere. One process that starts again answers what is left
  within {restart:.0f} s; where another process takes over, it does so within {takeover:.0f} s.
  Times are wall times on the machine above.
- A reply counts whatever it says: where the model is down, it quotes passages and says so. Where
  it matters how many answers the model made, the figures say so.

{summary}
"""
NOT_SHOWN = ("verdicts", "lines", "log", "said", "line", "reasons", "statuses", "which")


def write_report(files: Iterable[Path]) -> Path:
    """Write the report of all rows in these files that are not from a quick run."""
    rows = [row for file in files for row in read_rows(file) if not row.quick]
    REPORT.write_text(report_of(rows), encoding="utf-8")
    return REPORT


def report_of(rows: Sequence[Row]) -> str:
    head = HEAD.format(
        date=max((row.at for row in rows), default="no day"),
        machine=re.sub(r", load.*", "", rows[-1].machine) if rows else "no machine",
        pages=PAGES,
        restart=RESTART_SECONDS,
        takeover=TAKEOVER_SECONDS,
        summary=summary_of(rows),
    )
    return head + "".join(_group(name, rows) for name in GROUPS)


def summary_of(rows: Sequence[Row]) -> str:
    """Return the totals in one sentence, and everything beyond its limit."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update({name: row.figures.get(name) or 0 for name in ("asked", *NEVER)})
    tried = [row for row in rows if not row.skipped]
    beyond = [row for row in tried if row.faults]
    skipped = len(rows) - len(tried)
    counts = ", ".join(f"{total[name]} {name}" for name in NEVER)
    text = (
        f"{len(tried)} trials with {total['asked']:,} questions: {counts}. "
        f"{len(tried) - len(beyond)} kept all their limits, {len(beyond)} did not"
    )
    return f"{text}, {skipped} could not be tried on this machine." if skipped else f"{text}."


def _group(name: str, rows: Sequence[Row]) -> str:
    lines = list(
        _lines([row for row in rows if row.item in ITEMS and ITEMS[row.item].group == name])
    )
    if not lines:
        return ""
    items = {row.item for row in rows}
    meaning = [
        f"- `{each.name}`: {each.breaks}. Held: {each.holds}.\n"
        for each in in_order()
        if each.group == name and each.name in items
    ]
    table = "| item | what was done | result | held |\n| --- | --- | --- | --- |\n"
    return f"\n## {name}\n\n{''.join(meaning)}\n{table}{''.join(lines)}"


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    order = [each.name for each in in_order()]
    for row in sorted(rows, key=lambda row: order.index(row.item)):
        if row.skipped:
            cells = (f"`{row.item}`", row.done, f"not tried: {row.skipped}", "")
        else:
            cells = (f"`{row.item}`", row.done, figures_of(row), "**no**" if row.faults else "yes")
        yield f"| {' | '.join(_cell(cell) for cell in cells)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def figures_of(row: Row) -> str:
    """Return the figures as words, each with its limit; those that have to be 0 and are, as one."""
    none, words = list[str](), list[str]()
    for name, value in row.figures.items():
        if name in NOT_SHOWN or isinstance(value, dict | list):
            continue
        if value == 0 == row.most.get(name) and name not in row.least:
            none.append(_named(name))
        else:
            words.append(_figure(row, name, value))
    return ", ".join([*words, *([f"0 {', '.join(none)}"] if none else [])])


def _figure(row: Row, name: str, value: object) -> str:
    """Return ``recovery max 6.5 s (at most 15)``, in bold beyond the limit."""
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    number = f"{value:,g}" if isinstance(value, int | float) else str(value)
    text = f"{_named(name)} {'never' if value is None else number + unit}"
    most, least = row.most.get(name), row.least.get(name)
    if most is not None and most == least:
        limit = f" (has to be {most:g})"
    elif most is not None:
        limit = f" (at most {most:g})"
    else:
        limit = f" (at least {least:g})" if least is not None else ""
    beyond = any(fault.startswith(f"{name} ") for fault in row.faults)
    return f"**{text}**{limit}" if beyond else f"{text}{limit}"


def _named(name: str) -> str:
    return re.sub(r"_(s|ms|mb)$", "", name).replace("_", " ")
