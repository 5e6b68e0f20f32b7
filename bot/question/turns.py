"""Question and thread -> Conversation: each turn is read from its message in Slack. Pure.

An answer that was posted in parts is one turn, with the chunks that its metadata names. Only its
metadata makes a message of Footnote's own account an answer: the rest repeats words of people and
of pages. The agent cuts a long thread to size (``agent/history.py``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.conversation import CitedChunk, Conversation, Turn
from bot.question.event import Question
from bot.question.thread_message import SLACKBOT, ThreadMessage
from bot.reading.block_text import items, string
from bot.reading.mentions import without_own_mention
from bot.reading.message import message_text
from bot.reading.mrkdwn import Names
from bot.slack.identity import Identity, ReplyMetadata

MAX_OWN_CHARS = 20_000
"""Maximum number of characters that are read of one message of an earlier answer."""
MAX_QUESTION_CHARS = 12_000
Cited = tuple[CitedChunk, ...] | None
_AROUND_AN_ANSWER = ("actions", "context_actions", "context", "divider")
"""Types of blocks with verdict, sources and buttons."""


def build_conversation(
    question: Question, thread: Iterable[ThreadMessage], me: Identity, names: Names
) -> Conversation:
    """Return the earlier turns of the thread, then the question with its attachments."""
    asker = names(question.user or "") or "somebody"
    earlier = _join_parts((m, _turn(m, me, names)) for m in thread if question.follows(m))
    attachments = message_text({"attachments": question.payload.get("attachments")}, names)
    texts = [attachments] if attachments else []
    if question.files:
        texts.append(f"[attached files, which you cannot read: {', '.join(question.files)}]")
    texts.append(question_text(question, me, names))
    newest = (Turn("person", asker, text) for text in texts)
    return Conversation((*earlier, *newest), question.payer or question.user or "")


def question_text(question: Question, me: Identity, names: Names) -> str:
    """Return the asker's words as plain text, without Footnote's own mention."""
    message = {"text": question.text, "blocks": question.payload.get("blocks")}
    text = message_text(without_own_mention(message, me.user_id), names, limit=MAX_QUESTION_CHARS)
    return text.strip()


def unread_notes(question: Question, thread: Sequence[ThreadMessage] = ()) -> list[str]:
    """Tell the asker which parts of the question are not read.

    ``thread`` adds the thread's files, for a question without words.
    """
    lines = []
    others = (message for message in thread if message.ts != question.ts)
    files = [*question.files, *(name for message in others for name in message.files)]
    if files:
        names = ", ".join(f"`{name.replace('`', '')[:80]}`" for name in files[:3])
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        lines.append(f"Attachments (images, files) are not read: {names}{more}.")
    if len(question.text) > MAX_QUESTION_CHARS:
        lines.append("Your message was too long to read whole: its middle was left out.")
    return lines


def alert_text(question: Question, thread: Sequence[ThreadMessage]) -> str:
    """Text of the alert at the thread's root, unless Footnote has answered there already."""
    if any(m.metadata and m.metadata.question and m.ts < question.ts for m in thread):
        return ""
    root = thread[0] if thread and question.in_thread else question.message
    if root is None or root.is_own:
        return ""
    is_alert = root.writer == "app" or root.user == SLACKBOT or root.has_attachments
    return message_text(root.payload) if is_alert else ""


def _turn(message: ThreadMessage, me: Identity, names: Names) -> Turn | None:
    # A notice quotes pages. If it were a turn, the model would take that text for its own words.
    if message.is_deleted or message.writer == "notice":
        return None
    if message.writer == "footnote":
        return _own_turn(message, names)
    text = message_text(without_own_mention(message.payload, me.user_id), names).strip()
    if not text:
        return None
    name = names(message.user)
    if message.writer != "app":
        return Turn("person", name or "somebody", text)
    profile = message.payload.get("bot_profile")
    bot_name = string(profile.get("name")) if isinstance(profile, dict) else ""
    username = string(message.payload.get("username"))
    return Turn("other_bot", username or bot_name or name or "a bot", text)


def _own_turn(message: ThreadMessage, names: Names) -> Turn | None:
    """Read an answer without its buttons and sources, and any other own message as a bot's.

    So the model never takes words of a person or a page for its own, and no id in them recalls a
    chunk. Short lines, such as help, are left out.
    ``text`` may be a shortened copy of the blocks, and Slack returns Markdown blocks as rich text.
    """
    if message.metadata and not (message.metadata.verdict or message.metadata.runbook):
        return None
    blocks = [
        block
        for block in items(message.payload.get("blocks"))
        if isinstance(block, dict) and block.get("type") not in _AROUND_AN_ANSWER
    ]
    content = {"blocks": blocks} if blocks else {"text": message.payload.get("text")}
    text = message_text(content, names, limit=MAX_OWN_CHARS, addresses=False)
    if not text:
        return None
    metadata = message.metadata or ReplyMetadata()
    # A plain piece has no blocks, so its text holds the sources, with titles and owners of pages.
    is_quote = metadata.verdict in ("", "retrieval_only") or metadata.piece is not None
    return Turn("other_bot" if is_quote else "footnote", "footnote", text, metadata.cited)


def _join_parts(messages: Iterable[tuple[ThreadMessage, Turn | None]]) -> list[Turn]:
    """Join Footnote's messages that follow each other and have the same answer id."""
    turns: list[Turn] = []
    previous: str | None = None
    for message, turn in messages:
        if turn is None:
            continue
        answer = message.metadata.answer if message.metadata else ""
        own_answer = answer if turn.speaker == "footnote" else None
        if own_answer is not None and own_answer == previous:
            before = turns[-1]
            text = f"{before.text}\n\n{turn.text}"
            turns[-1] = replace(before, text=text, cited=_together(before.cited, turn.cited))
        else:
            turns.append(turn)
        previous = own_answer
    return turns


def _together(one: Cited, other: Cited) -> Cited:
    if one is None or other is None:
        return None
    return tuple(dict.fromkeys((*one, *other)))
