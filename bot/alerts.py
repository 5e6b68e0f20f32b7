"""A Slack message of any integration -> everything a reader sees in it, as plain text.

Alert bots put their words into text, blocks, attachments, or blocks within attachments, and often
say the same thing in several of them. What is repeated is said once; what is too long is shortened
and says so, with titles and addresses kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.blocks.addresses import trimmed
from bot.blocktext import BlockReader, items
from bot.markup import Names, no_names

LIMIT = 4_000
"""Characters of one message that a model gets."""

_WORD = re.compile(r"[\w%#@+-]+(?:[.:/][\w%#@+-]+)*")
_ADDRESS = re.compile(r"\w+://\S+")
_MAX_IMPORTANT = 0.7
_NOTE = "[shortened: {count} lines left out]"
_PLACEHOLDER = "[no preview available]"
_COVERED = 0.7
_MESSAGES_DEEP = 3


def message_text(
    message: Mapping[str, Any],
    names: Names = no_names,
    *,
    limit: int = LIMIT,
    addresses: bool = True,
) -> str:
    """The text of a message; ``addresses=False`` leaves out the addresses behind labels."""
    reader = BlockReader(names, addresses)
    parts = _folded(list(_message(message, reader, 0)))
    lines = [(line, important) for text, important in parts for line in text.split("\n")]
    return _shortened(lines, limit)


def message_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """A Slack message object -> ``{text}``, for ``footnote debug message``."""
    return {"text": message_text(message)}


Part = tuple[str, bool]
"""Text that belongs together, and whether it must survive shortening."""


def _message(message: Mapping[str, Any], reader: BlockReader, depth: int) -> Iterator[Part]:
    blocks = _block_parts(message.get("blocks"), reader)
    text = reader.read(message.get("text")).strip()
    if text and not _covers("\n".join(part for part, _ in blocks), text):
        yield text, False
    yield from blocks
    for attachment in items(message.get("attachments")):
        if isinstance(attachment, dict):
            yield from _attachment(attachment, reader, depth)
    for file in items(message.get("files")):
        name = reader.read(file.get("title") or file.get("name")) if isinstance(file, dict) else ""
        if name:
            yield f"[attached file: {name}]", True


def _block_parts(blocks: Any, reader: BlockReader) -> list[Part]:
    parts: list[Part] = []
    for block in items(blocks):
        text = "\n".join(reader.lines([block])).strip("\n")
        if text.strip():
            kind = block.get("type") if isinstance(block, dict) else ""
            parts.append((text, kind in ("header", "actions")))
    return parts


def _attachment(attachment: dict[str, Any], reader: BlockReader, depth: int) -> Iterator[Part]:
    parts = [
        (reader.read(attachment.get("pretext")), True),
        (reader.link(attachment.get("author_name"), attachment.get("author_link")), True),
        (reader.link(attachment.get("title"), attachment.get("title_link")), True),
        (reader.read(attachment.get("text")), False),
        *((_field(field, reader), True) for field in items(attachment.get("fields"))),
        *_block_parts(attachment.get("blocks"), reader),
        *_shared_messages(attachment, reader, depth),
        *_block_parts(attachment.get("actions"), reader),
        (reader.read(attachment.get("footer")), True),
    ]
    parts = [(text.strip("\n"), important) for text, important in parts if text.strip()]
    fallback = reader.read(attachment.get("fallback"))
    if not parts and fallback.strip() and fallback.strip() != _PLACEHOLDER:
        parts = [(fallback, True)]
    yield from parts


def _shared_messages(attachment: dict[str, Any], reader: BlockReader, depth: int) -> Iterator[Part]:
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


def _covers(shown: str, text: str) -> bool:
    """Whether the blocks say what the text says; Slack shows the text only where there are none."""
    words = set(_words(text))
    return bool(words) and len(words & set(_words(shown))) >= _COVERED * len(words)


def _folded(parts: list[Part]) -> list[Part]:
    """The parts without lines that another part says already; of two the longer one stays."""
    said = [[_line_words(line) for line in text.split("\n")] for text, _ in parts]
    out: list[Part] = []
    for number, (text, important) in enumerate(parts):
        before = [line for part in said[:number] for line in part]
        after = [line for part in said[number + 1 :] for line in part]
        repeats = _Repeats(set(before), "\n".join(before), set(after), "\n".join(after))
        shown = "\n".join(part for part, _ in out)
        lines = [
            _fresh_address(line, shown) if repeats.hold(_line_words(line)) else line
            for line in text.split("\n")
        ]
        kept = "\n".join(line for line in lines if line is not None)
        if kept.strip():
            out.append((kept, important))
    return out


@dataclass(frozen=True, slots=True)
class _Repeats:
    """What the other parts of a message say, before and after one of them."""

    before: set[str]
    text_before: str
    after: set[str]
    text_after: str

    def hold(self, words: str) -> bool:
        if not words.strip():
            return False
        if words in self.before:
            return True
        # One word alone may well be a part of something longer by chance.
        several = " " in words.strip()
        longer_after = words in self.text_after and words not in self.after
        return several and (words in self.text_before or longer_after)


def _fresh_address(line: str, shown: str) -> str | None:
    """Of a line that repeats others, the addresses that are new."""
    found = (trimmed(address) for address in _ADDRESS.findall(line))
    return " ".join(address for address in found if address not in shown) or None


def _line_words(line: str) -> str:
    return f" {' '.join(_words(_ADDRESS.sub(' ', line)))} "


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(re.sub(r"[*_~`]+", " ", text))]


def _shortened(lines: list[tuple[str, bool]], limit: int) -> str:
    whole = "\n".join(line for line, _ in lines)
    if len(whole) <= limit:
        return whole
    room = limit - len(_NOTE) - 8
    kept: dict[int, str] = {}
    important = (n for n, (line, flag) in enumerate(lines) if flag or _ADDRESS.search(line))
    room -= _keep(lines, important, kept, int(room * _MAX_IMPORTANT))
    _keep(lines, range(len(lines)), kept, room)
    count = len(lines) - len(kept)
    note = _NOTE.format(count=count) if count else "[shortened: part of a line left out]"
    return "\n".join([*(kept[n] for n in sorted(kept)), note])


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
    """The line, or its first words; an address is kept whole or not at all."""
    if len(line) <= room:
        return line
    if room < 80:
        return ""
    cut = line[: room - 1]
    for address in _ADDRESS.finditer(line):
        if address.start() < len(cut) < address.end():
            cut = cut[: address.start()]
    return f"{cut.rstrip()}…" if cut.strip() else ""
