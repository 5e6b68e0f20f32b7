"""``footnote replay``: an old question against today's index, and the differences.

The question is read again from Slack, or from the terminal's own record if it was kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.answer import Answer
from agent.conversation import CitedChunk, Conversation, Turn
from agent.loop import build_agent
from agent.settings import AgentSettings
from bot.channels import SECTIONS, read_channels
from bot.journal.records import AnswerRecord
from bot.question.event import read_question
from bot.question.thread import ThreadReader
from bot.question.turns import build_conversation
from bot.report.figures import Json
from bot.report.terminal_answers import TERMINAL, Terminal
from bot.report.traces import dollars, searches
from bot.settings import BotSettings
from bot.slack.clients import SLACK_FAILED, SlackRefused, identify, open_clients, slack_error
from bot.slack.people import People
from ingest.config_file import read_collections, read_config_file
from ingest.errors import FootnoteError
from ingest.index import open_index
from ingest.settings import IndexSettings, read_settings
from ingest.terminal import VisibleConsole


def replay(record: AnswerRecord, terminal: Terminal) -> tuple[Answer, Json]:
    """Return today's answer, recorded like any other, and its difference from ``record``."""
    is_from_terminal = record.team == TERMINAL
    conversation = _from_terminal(record, terminal) if is_from_terminal else _from_slack(record)
    index = open_index(read_settings(IndexSettings))
    try:
        agent = build_agent(index, read_settings(AgentSettings), terminal.spending)
        answer = agent.answer(conversation)
    finally:
        index.close()
    terminal.record(conversation, answer)
    return answer, difference(record, answer)


def difference(record: AnswerRecord, answer: Answer) -> Json:
    """Return both answers, and citations that were added, are gone, or have a new text."""
    old = {cited["id"]: cited["hash"] for cited in record.citations}
    new = {passage.id: passage.hash for passage in answer.citations}
    return {
        "id": record.id,
        "before": {
            "verdict": record.verdict,
            "reason": record.reason,
            "revision": record.revision,
            "model": record.model,
            "searches": _queries(record.trace),
            "steps": record.steps,
            "seconds": record.seconds,
            "cost_usd": record.cost_usd,
        },
        "after": {
            "id": answer.id,
            "verdict": answer.verdict,
            "reason": answer.reason,
            "revision": answer.revision,
            "model": answer.model,
            "searches": _queries(answer.trace.to_json()),
            "steps": answer.steps,
            "seconds": round(answer.seconds, 3),
            "cost_usd": answer.cost_usd,
            "text": answer.text,
        },
        "citations": {
            "added": [i for i in new if i not in old],
            "gone": [i for i in old if i not in new],
            "changed": [i for i in new if i in old and new[i] != old[i]],
            "same": [i for i in new if old.get(i) == new[i]],
        },
    }


def _queries(trace: Sequence[Json]) -> list[str]:
    return [search["query"] or "(the question)" for search in searches(trace)]


def print_difference(difference: Mapping[str, Any], console: VisibleConsole) -> None:
    for line in _lines(difference):
        console.print(line, markup=False)


def _lines(difference: Mapping[str, Any]) -> Iterator[str]:
    before, after = difference["before"], difference["after"]
    for name in ("verdict", "reason", "revision", "model", "steps"):
        if before[name] != after[name]:
            yield f"{name:<10} {before[name] or '-'} -> {after[name] or '-'}"
        elif before[name]:
            yield f"{name:<10} {before[name]} (same)"
    yield f"{'seconds':<10} {before['seconds']:.1f} -> {after['seconds']:.1f}"
    yield f"{'cost':<10} {dollars(before['cost_usd'])} -> {dollars(after['cost_usd'])}"
    old, new = ("; ".join(answer["searches"]) or "-" for answer in (before, after))
    yield f"{'searches':<10} {old}{' (same)' if old == new else f' -> {new}'}"
    for name, ids in difference["citations"].items():
        if ids:
            yield f"{'cites':<10} {name}: {', '.join(f'[{i}]' for i in ids)}"
    yield f"{'traced as':<10} {after['id']}"


def _from_terminal(record: AnswerRecord, terminal: Terminal) -> Conversation:
    words = terminal.journal.text(record.id)
    if words is None:
        raise FootnoteError(
            f"the words of {record.id} were not kept, so it cannot be replayed. Set "
            "FOOTNOTE_STORE_TEXT=true: later questions of the terminal can be replayed."
        )
    earlier = tuple(
        Turn(t["speaker"], t["name"], t["text"], t["cited"] and _chunks(t["cited"]))
        for t in words.thread
    )
    return Conversation((*earlier, Turn("person", "you", words.question)), TERMINAL)


def _chunks(cited: Sequence[Mapping[str, str]]) -> tuple[CitedChunk, ...]:
    return tuple(CitedChunk(**chunk) for chunk in cited)


def _from_slack(record: AnswerRecord) -> Conversation:
    """Return the thread as it is in Slack now, up to the question, with its channel's settings."""
    if not record.ts:
        raise FootnoteError(
            f"{record.id} answered a slash command, whose words Slack does not keep. "
            "Only questions in channels and threads can be replayed."
        )
    client = open_clients(read_settings(BotSettings)).read
    me = identify(client)
    try:
        thread = ThreadReader(client, me).read(record.channel, record.thread_ts)
    except SLACK_FAILED as error:
        raise SlackRefused(
            f"the thread of {record.id} cannot be read ({slack_error(error)}). Check that the bot "
            "is still in the channel, and SLACK_BOT_TOKEN."
        ) from error
    message = next((message for message in thread if message.ts == record.ts), None)
    if message is None:
        raise FootnoteError(f"the question of {record.id} is no longer in Slack.")
    question = read_question(message, me, channel=record.channel, is_mention=True)
    if question is None:
        raise FootnoteError(f"the question of {record.id} is no longer a question in Slack.")
    name_of = People(client).name
    config = read_config_file(read_settings(IndexSettings).config, SECTIONS)
    channel = read_channels(config, read_collections(config)).of(record.channel, name_of)
    return channel.applied_to(build_conversation(question, thread, me, name_of))
