"""``footnote trace``: the recorded steps of an answer, from the journal, for people and as JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord
from bot.report.figures import Json
from bot.report.terminal_answers import TERMINAL
from ingest.errors import FootnoteError
from ingest.terminal import VisibleConsole

_SHOWN = 20
_LINK = re.compile(r"/archives/(?P<channel>\w+)/p(?P<seconds>\d{10})(?P<rest>\d{6})")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def find_answer(journal: Journal, named: str) -> AnswerRecord:
    """Find an answer by its id, or by Slack's link to its question or reply.

    Raises FootnoteError if the journal does not have it.
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
    """Return the newest answer that replies to the linked message or is posted in it."""
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
    """Summaries of the newest answers, newest first."""
    return [_summary(record) for record in journal.answers(limit=_SHOWN)]


def trace_json(record: AnswerRecord, journal: Journal) -> Json:
    """Return everything that the journal stores about an answer."""
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
    """Sum of the tokens of all requests."""
    return {name: sum(int(e.get(name) or 0) for e in record.trace) for name in _TOKENS}


def searches(trace: Sequence[Json]) -> list[Json]:
    """Searches of an answer, in order; a query of None means the text of the question."""
    return [
        {name: event.get(name) for name in ("query", "ids", "distances", "weak")}
        for event in trace
        if event["kind"] in ("open", "tool_result") and "distances" in event
    ]


def print_newest(lines: list[Json], console: VisibleConsole) -> None:
    """Print one line for each answer."""
    for line in lines:
        when = line["at"][:16].replace("T", " ")
        cost = dollars(line["cost_usd"])
        summary = (
            f"{line['id']}  {when}  {line['verdict']:<14} {line['seconds']:5.1f} s  {cost:<12}"
        )
        console.print(f"{summary}  {line['where']}", markup=False)
    if not lines:
        console.print("No answers yet.")


def print_trace(trace: Mapping[str, Any], console: VisibleConsole) -> None:
    """Print a trace in the order of its events."""
    for line in _lines(trace):
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


def _lines(trace: Mapping[str, Any]) -> Iterator[str]:
    yield f"{trace['id']}  {trace['verdict']}  {trace['at']}  {trace['where']}"
    model = f"{trace['model']}, {trace['steps']} steps" if trace["model"] else "no model"
    cost = dollars(trace["cost_usd"])
    yield f"{model}, {trace['seconds']:.1f} s, {cost}, docs {trace['revision']}"
    tokens = ", ".join(
        f"{name.removesuffix('_tokens').replace('_', ' ')} {count:,}"
        for name, count in trace["usage"].items()
        if count
    )
    if tokens:
        yield f"tokens: {tokens}"
    if trace["reason"]:
        yield f"reason: {trace['reason']}"
    if trace["question"] is not None:
        yield f"question: {trace['question']}"
    yield ""
    for event in trace["trace"]:
        detail = {k: v for k, v in event.items() if k not in ("at", "kind")}
        yield f"{event['at']:8.3f} s  {event['kind']:<12} {_details(detail)}"
    yield ""
    for cited in trace["citations"]:
        first, last = cited["lines"]
        yield f"cited  [{cited['id']}] {cited['path']}, lines {first}-{last}"
    if trace["unsupported"]:
        yield f"{trace['unsupported']} spans are marked as unsupported"
    for vote in trace["votes"]:
        yield f"vote   {vote['vote']} {vote['reason'] or ''}".rstrip()


def _details(detail: Mapping[str, Any]) -> str:
    """Return ``name=value`` pairs; in a list of ids, each id is followed by its distance."""
    parts = []
    distances = detail.get("distances") or ()
    for name, value in detail.items():
        if name == "distances":
            continue
        if name == "ids" and distances:
            value = [f"{i} {d:.2f}" for i, d in zip(value, distances, strict=False)]
        if isinstance(value, list):
            first = ", ".join(map(str, value[:6])) + (", …" if len(value) > 6 else "")
            parts.append(f"{name} [{first}]")
        elif value not in (None, "", False):
            parts.append(f"{name}={value}")
    return "  ".join(parts)
