"""``footnote trace``: how an answer came about, out of the journal, for people and as JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from rich.console import Console

from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord
from bot.report.terminal_answers import TERMINAL
from ingest.errors import FootnoteError

_SHOWN = 20
_LINK = re.compile(r"/archives/(?P<channel>\w+)/p(?P<seconds>\d{10})(?P<rest>\d{6})")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

Json = dict[str, Any]


def find_answer(journal: Journal, named: str) -> AnswerRecord:
    """The record of an answer, by its id or by Slack's link to its question or reply.

    Raises FootnoteError with the way to find it.
    """
    link = _LINK.search(named)
    record = _linked(journal, link) if link else journal.answer(named.strip())
    if record is None:
        raise FootnoteError(
            f"no answer {named!r} is in this journal. `footnote trace` lists the newest; "
            "FOOTNOTE_DATA_DIR and DATABASE_URL say which journal is read."
        )
    return record


def _linked(journal: Journal, link: re.Match[str]) -> AnswerRecord | None:
    """The newest answer to the message that is linked to, or the one it carries."""
    ts = f"{link['seconds']}.{link['rest']}"
    newest_first = (
        sa.select(AnswerRecord)
        .where(
            AnswerRecord.channel == link["channel"],
            (AnswerRecord.ts == ts) | (AnswerRecord.reply_ts == ts),
        )
        .order_by(AnswerRecord.at.desc())
    )
    with journal.session() as session:
        return session.scalars(newest_first).first()


def newest(journal: Journal) -> list[Json]:
    """The newest answers, one line each, newest first."""
    return [_summary(record) for record in journal.answers(limit=_SHOWN)]


def trace_json(record: AnswerRecord, journal: Journal) -> Json:
    """Everything the journal knows of an answer."""
    words = journal.text(record.id)
    return {
        **_summary(record),
        "reason": record.reason,
        "steps": record.steps,
        "usage": usage(record),
        "citations": record.citations,
        "passages": record.passages,
        "unsupported": record.unsupported,
        "searches": searches(record.trace),
        "trace": record.trace,
        "votes": [{"vote": v.vote, "reason": v.reason} for v in journal.votes(record.id)],
        "question": words.question if words else None,
        "text": words.text if words else None,
    }


def usage(record: AnswerRecord) -> dict[str, int]:
    """Tokens of all requests together."""
    return {name: sum(int(e.get(name) or 0) for e in record.trace) for name in _TOKENS}


def searches(trace: Sequence[Json]) -> list[Json]:
    """The searches that were made, in order; the query is None where it was the question."""
    return [
        {name: event.get(name) for name in ("query", "ids", "distances", "weak")}
        for event in trace
        if event["kind"] in ("open", "tool_result") and "distances" in event
    ]


def print_newest(lines: list[Json], console: Console) -> None:
    """A line an answer."""
    for line in lines:
        when = line["at"][:16].replace("T", " ")
        cost = dollars(line["cost_usd"])
        told = f"{line['id']}  {when}  {line['verdict']:<14} {line['seconds']:5.1f} s  {cost:<12}"
        console.print(f"{told}  {line['where']}", markup=False)
    if not lines:
        console.print("No answers yet.")


def print_trace(told: Mapping[str, Any], console: Console) -> None:
    """A trace in the order in which things happened."""
    for line in _lines(told):
        console.print(line, markup=False)


def dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"≈ ${cost:.4f}"


def _summary(record: AnswerRecord) -> Json:
    here = record.team == TERMINAL
    return {
        "id": record.id,
        "at": datetime.fromtimestamp(record.at, UTC).isoformat(timespec="seconds"),
        "where": TERMINAL if here else f"{record.channel} {record.thread_ts}".strip(),
        "verdict": record.verdict,
        "model": record.model,
        "revision": record.revision,
        "seconds": record.seconds,
        "cost_usd": record.cost_usd,
    }


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{told['id']}  {told['verdict']}  {told['at']}  {told['where']}"
    model = f"{told['model']}, {told['steps']} steps" if told["model"] else "no model"
    yield f"{model}, {told['seconds']:.1f} s, {dollars(told['cost_usd'])}, docs {told['revision']}"
    tokens = ", ".join(
        f"{name.removesuffix('_tokens').replace('_', ' ')} {count:,}"
        for name, count in told["usage"].items()
        if count
    )
    if tokens:
        yield f"tokens: {tokens}"
    if told["reason"]:
        yield f"reason: {told['reason']}"
    if told["question"] is not None:
        yield f"question: {told['question']}"
    yield ""
    for event in told["trace"]:
        detail = {k: v for k, v in event.items() if k not in ("at", "kind")}
        yield f"{event['at']:8.3f} s  {event['kind']:<12} {_told(detail)}"
    yield ""
    for cited in told["citations"]:
        first, last = cited["lines"]
        yield f"cited  [{cited['id']}] {cited['path']}, lines {first}-{last}"
    if told["unsupported"]:
        yield f"{told['unsupported']} spans are marked as unsupported"
    for vote in told["votes"]:
        yield f"vote   {vote['vote']} {vote['reason'] or ''}".rstrip()


def _told(detail: Mapping[str, Any]) -> str:
    """``name value`` pairs; ids with the distance they were found at."""
    parts = []
    distances = detail.get("distances") or ()
    for name, value in detail.items():
        if name == "distances":
            continue
        if name == "ids" and distances:
            value = [f"{i} {d:.2f}" for i, d in zip(value, distances, strict=False)]
        if isinstance(value, list):
            shown = ", ".join(map(str, value[:6])) + (", …" if len(value) > 6 else "")
            parts.append(f"{name} [{shown}]")
        elif value not in (None, "", False):
            parts.append(f"{name}={value}")
    return "  ".join(parts)
