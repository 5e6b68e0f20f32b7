"""A Slack message -> the people it addresses, its files, its words without Footnote's mention."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bot.reading.block_text import BlockReader, SlackJson
from ingest.invisible import JOINERS, ZERO_WIDTH

_ADDRESSED = re.compile(r"<(?:@|!subteam\^|!(?=here|channel|everyone))([A-Za-z0-9]+)[|>]")

_SEPARATORS = re.compile(r"\A[\s,:;–-]*")
_BLANKS = " \t"
_SENTENCE_SIGNS = tuple(".,;:!?)")
_UNSEEN = " \t\r\n\u00a0" + "".join(JOINERS | ZERO_WIDTH)


def mentions(message: SlackJson, user_id: str) -> bool:
    """True when the message addresses this user, in its text or only in its blocks."""
    return user_id in mentioned(message)


def mentioned(message: SlackJson) -> set[str]:
    """Ids of the users and user groups that a message addresses in its text and rich text.

    ``here``, ``channel`` and ``everyone`` are groups too. Text that only looks like a mention
    arrives with ``&lt;`` and does not count.
    """
    text = message.get("text")
    ids = set(_ADDRESSED.findall(text)) if isinstance(text, str) else set()
    for element in _elements(message.get("blocks")):
        if element.get("type") == "user":
            ids.add(str(element.get("user_id")))
        elif element.get("type") == "usergroup":
            ids.add(str(element.get("usergroup_id")))
        elif element.get("type") == "broadcast":
            ids.add(str(element.get("range")))
    return ids


def words_of(message: SlackJson, user_id: str) -> str:
    """The words of a person's message: its text, or its blocks if the text is empty."""
    rest = without_own_mention(message, user_id)
    text = rest["text"] or "\n".join(BlockReader().lines(rest["blocks"]))
    return text.strip(_UNSEEN)


def files_of(message: SlackJson) -> tuple[str, ...]:
    """Names of the attached files, without e-mails, whose text is read with the message."""
    files = message.get("files")
    files = [f for f in files if isinstance(f, Mapping)] if isinstance(files, list) else []
    return tuple(str(f.get("name") or "a file") for f in files if not f.get("plain_text"))


def without_own_mention(message: SlackJson, user_id: str) -> dict[str, Any]:
    """The message without Footnote's own mention.

    The text of a person's message is complete; its blocks repeat it and are left out.
    """
    text = message.get("text")
    typed = isinstance(text, str) and bool(text.strip()) and not message.get("bot_id")
    return {
        **message,
        "text": without_mention(text, user_id) if isinstance(text, str) else "",
        "blocks": None if typed else _without_user(message.get("blocks"), user_id),
    }


def without_mention(text: str, user_id: str) -> str:
    """The text without Footnote's own mention and the blanks around it."""
    before, *after = re.split(rf"<@{re.escape(user_id)}(?:\|[^<>]*)?>", text)
    words = [before]
    for part in after:
        if len(words) == 1 and not words[0].strip():
            words = [_SEPARATORS.sub("", part, count=1)]
        elif part.startswith(_SENTENCE_SIGNS):
            words += [words.pop().rstrip(_BLANKS), part]
        else:
            words += [words.pop().rstrip(_BLANKS), " ", part.lstrip(_BLANKS)]
    return "".join(words).strip()


def _elements(node: object) -> Iterator[SlackJson]:
    if isinstance(node, Mapping):
        yield node
        for value in node.values():
            yield from _elements(value)
    elif isinstance(node, list):
        for value in node:
            yield from _elements(value)


def _without_user(node: Any, user_id: str) -> Any:
    """Blocks without this user's mention in rich text."""
    if isinstance(node, dict):
        return {key: _without_user(value, user_id) for key, value in node.items()}
    if isinstance(node, list):
        return [
            _without_user(value, user_id)
            for value in node
            if not (
                isinstance(value, dict)
                and value.get("type") == "user"
                and value.get("user_id") == user_id
            )
        ]
    return node
