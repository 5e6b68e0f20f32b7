"""A Slack message of any integration -> everything a reader sees in it, as plain text.

Alert bots put their words into text, blocks, attachments, or blocks within attachments, and often
say the same thing in several of them. What is repeated is said once; what is too long is shortened
and says so, with titles and addresses kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.reading.addresses import trimmed
from bot.reading.block_text import BlockReader, items, string
from bot.reading.mrkdwn import Names, no_names
from bot.reading.repeats import ADDRESS, Group, Segment, covers, folded

LIMIT = 4_000
"""Characters of one message that a model gets."""

RUNBOOK = re.compile(r"(?:run|play)[ _-]?book", re.IGNORECASE)
"""What a link to a runbook is called, or is called like."""

_MAX_IMPORTANT = 0.7
_MAX_RUNBOOKS = 0.3
_MIN_CUT = 80
"""A line is left out rather than cut shorter."""
_NOTE = "[shortened: {count} lines left out]"
_PLACEHOLDER = "[no preview available]"
_MESSAGES_DEEP = 3
_FENCE = "%%%"
"""What Datadog puts around its Markdown, on lines of its own."""


def message_text(
    message: Mapping[str, Any],
    names: Names = no_names,
    *,
    limit: int = LIMIT,
    addresses: bool = True,
) -> str:
    """The text of a message; ``addresses=False`` leaves out the addresses behind labels."""
    reader = BlockReader(names, addresses)
    parts = folded(list(_message(message, reader, 0)))
    lines = [
        (line, important and number == 0)
        for text, important in parts
        for number, line in enumerate(text.split("\n"))
        if line.strip() != _FENCE
    ]
    return _shortened(lines, limit)


def message_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """A Slack message object -> ``{text}``, for ``footnote debug message``."""
    return {"text": message_text(message)}


def _message(message: Mapping[str, Any], reader: BlockReader, depth: int) -> Iterator[Group]:
    blocks = _block_parts(message.get("blocks"), reader)
    text = reader.read(message.get("text")).strip()
    if covers("\n".join(part for part, _ in blocks), text):
        text = ""
    yield Group(([(text, False)], blocks))
    for attachment in items(message.get("attachments")):
        if isinstance(attachment, dict):
            yield _attachment(attachment, reader)
            yield from _shared_messages(attachment, reader, depth)
            yield from _files(attachment, reader)
    yield from _files(message, reader)


def _files(message: Mapping[str, Any], reader: BlockReader) -> Iterator[Group]:
    """The names of files, and what Slack shows of an e-mail or a snippet in the message itself."""
    for file in items(message.get("files")):
        if not isinstance(file, dict):
            continue
        name = reader.read(file.get("title") or file.get("name"))
        shown = map(string, map(file.get, ("plain_text", "preview_plain_text", "preview")))
        text = next(filter(None, shown), "")
        segment = [(f"[attached file: {name}]", True)] if name else []
        segment += [(part, False) for part in (string(file.get("subject")), text) if part.strip()]
        if segment:
            yield Group((segment,), is_attachment=True)


def _block_parts(blocks: Any, reader: BlockReader) -> Segment:
    parts: Segment = []
    for block in items(blocks):
        text = "\n".join(reader.lines([block])).strip("\n")
        if text.strip():
            kind = block.get("type") if isinstance(block, dict) else ""
            parts.append((text, kind in ("header", "actions")))
    return parts


def _attachment(attachment: dict[str, Any], reader: BlockReader) -> Group:
    segments: list[Segment] = [
        [(reader.read(attachment.get("pretext")), True)],
        [(reader.link(attachment.get("author_name"), attachment.get("author_link")), True)],
        [(reader.link(attachment.get("title"), attachment.get("title_link")), True)],
        [(reader.read(attachment.get("text")), False)],
        [(_field(field, reader), True) for field in items(attachment.get("fields"))],
        _block_parts(attachment.get("blocks"), reader),
        _block_parts(attachment.get("actions"), reader),
        [(reader.read(attachment.get("footer")), True)],
    ]
    segments = [
        [(text.strip("\n"), important) for text, important in segment if text.strip()]
        for segment in segments
    ]
    fallback = reader.read(attachment.get("fallback")).strip()
    is_empty = not any((*segments, attachment.get("message_blocks"), attachment.get("files")))
    if is_empty and fallback and fallback != _PLACEHOLDER:
        segments = [[(fallback, True)]]
    return Group(tuple(segments), is_attachment=True)


def _shared_messages(
    attachment: dict[str, Any], reader: BlockReader, depth: int
) -> Iterator[Group]:
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


def _shortened(lines: list[tuple[str, bool]], limit: int) -> str:
    whole = "\n".join(line for line, _ in lines)
    if len(whole) <= limit:
        return whole
    room = limit - len(_NOTE) - 8
    kept: dict[int, str] = {}
    runbooks = {trimmed(a): n for n, (line, _) in enumerate(lines) for a in _runbooks(line)}
    important = (n for n, (line, flag) in enumerate(lines) if flag or ADDRESS.search(line))
    room -= _keep(lines, sorted(set(runbooks.values())), kept, int(room * _MAX_RUNBOOKS))
    room -= _keep(lines, important, kept, int(room * _MAX_IMPORTANT))
    _keep(lines, range(len(lines)), kept, room)
    count = len(lines) - len(kept)
    note = _NOTE.format(count=count) if count else "[shortened: part of a line left out]"
    return "\n".join([*(kept[n] for n in sorted(kept)), note])


def _runbooks(line: str) -> list[str]:
    return ADDRESS.findall(line) if RUNBOOK.search(line) else []


def _keep(
    lines: list[tuple[str, bool]], numbers: Iterable[int], kept: dict[int, str], room: int
) -> int:
    """Keep lines in order while there is room; how much of it was used."""
    used = 0
    for number in numbers:
        if number in kept:
            continue
        line = _cut(lines[number][0], room - used - 1)
        if line:
            kept[number] = line
            used += len(line) + 1
    return used


def _cut(line: str, room: int) -> str:
    """The line, or its first words and addresses from after them, each of which is whole."""
    if len(line) <= room:
        return line
    if room < _MIN_CUT:
        return ""
    line = ADDRESS.sub(lambda found: found[0] if len(found[0]) < room // 2 else "…", line)
    places = [(found.start(), trimmed(found[0])) for found in ADDRESS.finditer(line)]
    places.sort(key=lambda place: not RUNBOOK.search(place[1]))
    later: list[str] = []
    end = room - 1
    for start, address in places:
        if start + len(address) > room // 2 and end - len(address) > room // 2:
            later.append(address)
            end -= len(address) + 1
    for start, address in places:
        if start < end < start + len(address):
            end = start
    head = line[:end].rstrip()
    return " ".join([f"{head}…", *(address for address in later if address not in head)])
