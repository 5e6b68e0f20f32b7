"""A Slack message of any integration -> everything a reader sees in it, as plain text.

Alert bots put their words into text, blocks, attachments, or blocks within attachments, and often
repeat the same text in two of them, one after the other: a repeat is left out. If a text is too
long, its head and its tail are read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.reading.addresses import ADDRESS
from bot.reading.block_text import BlockReader, items, string
from bot.reading.mrkdwn import Names, no_names
from bot.reading.repeats import covers, without_repeats
from ingest.shorten import shorten_middle

LIMIT = 4_000
"""Maximum number of characters of one message that a model gets."""

RUNBOOK = re.compile(r"(?:run|play)[ _-]?book", re.IGNORECASE)
"""The word that marks a link to a runbook."""

_TAIL = 0.4
"""Share, from 0 to 1, of a shortened text that comes from the end of the whole one."""
_WORD = re.compile(rf"{ADDRESS.pattern}|\w{{1,60}}", re.IGNORECASE)
_PLACEHOLDER = "[no preview available]"
_MESSAGES_DEEP = 3
_FENCE = "%%%"
"""A line of Datadog before and after its Markdown."""


def message_text(
    message: Mapping[str, Any],
    names: Names = no_names,
    *,
    limit: int | None = LIMIT,
    addresses: bool = True,
) -> str:
    """The text of a message, of at most ``limit`` characters; None for no limit.

    ``addresses=False`` leaves out the addresses behind labels.
    """
    parts = without_repeats(_message(message, BlockReader(names, addresses), 0))
    lines = (line for part in parts for line in part.split("\n") if line.strip() != _FENCE)
    text = "\n".join(lines)
    return text if limit is None else shorten_middle(text, limit, tail=_TAIL, whole=_WORD)


def message_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """A Slack message object -> ``{text}``, for ``footnote debug message``."""
    return {"text": message_text(message)}


def _message(message: Mapping[str, Any], reader: BlockReader, depth: int) -> Iterator[str]:
    blocks = list(_blocks(message.get("blocks"), reader))
    text = reader.read(message.get("text")).strip()
    if text and not covers("\n".join(blocks), text):
        yield text
    yield from blocks
    for attachment in items(message.get("attachments")):
        if isinstance(attachment, dict):
            yield from _attachment(attachment, reader)
            yield from _shared_messages(attachment, reader, depth)
            yield from _files(attachment, reader)
    yield from _files(message, reader)


def _files(message: Mapping[str, Any], reader: BlockReader) -> Iterator[str]:
    """The names of files, and the text of an e-mail or a snippet as far as Slack shows it."""
    for file in items(message.get("files")):
        if not isinstance(file, dict):
            continue
        if name := reader.read(file.get("title") or file.get("name")):
            yield f"[attached file: {name}]"
        texts = map(string, map(file.get, ("plain_text", "preview_plain_text", "preview")))
        text = next(filter(None, texts), "")
        yield from (part for part in (string(file.get("subject")), text) if part.strip())


def _blocks(blocks: Any, reader: BlockReader) -> Iterator[str]:
    for block in items(blocks):
        text = "\n".join(reader.lines([block])).strip("\n")
        if text.strip():
            yield text


def _attachment(attachment: dict[str, Any], reader: BlockReader) -> Iterator[str]:
    parts = [
        reader.read(attachment.get("pretext")),
        reader.link(attachment.get("author_name"), attachment.get("author_link")),
        reader.link(attachment.get("title"), attachment.get("title_link")),
        reader.read(attachment.get("text")),
        *(_field(field, reader) for field in items(attachment.get("fields"))),
        *_blocks(attachment.get("blocks"), reader),
        *_blocks(attachment.get("actions"), reader),
        reader.read(attachment.get("footer")),
    ]
    parts = [part.strip("\n") for part in parts if part.strip()]
    fallback = reader.read(attachment.get("fallback")).strip()
    is_empty = not any((parts, attachment.get("message_blocks"), attachment.get("files")))
    if is_empty and fallback and fallback != _PLACEHOLDER:
        parts = [fallback]
    yield from parts


def _shared_messages(attachment: dict[str, Any], reader: BlockReader, depth: int) -> Iterator[str]:
    """A message that was shared with this one, which Slack nests twice."""
    for entry in items(attachment.get("message_blocks")):
        shared = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(shared, dict) and depth < _MESSAGES_DEEP:
            yield from _message(shared, reader, depth + 1)


def _field(field: Any, reader: BlockReader) -> str:
    if not isinstance(field, dict):
        return ""
    title, value = reader.read(field.get("title")).strip(), reader.read(field.get("value")).strip()
    return f"{title}: {value}" if title and value else title or value
