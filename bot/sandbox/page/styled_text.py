"""mrkdwn and rich text -> strings and marks, which the templates turn into HTML."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Union

from bot.sandbox.events.translation import unescape
from bot.sandbox.page.emoji import emoji
from bot.sandbox.workspace.refusal import Json

NameOf = Callable[[str], str]
"""Returns the name of the person or channel with this id."""

FENCE = re.compile(r"```\n?(.*?)```", re.DOTALL)
INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<token>[^<>\s][^<>]*)>"
    r"|(?<![\w*])\*(?P<bold>[^*\n]+)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^_\n]+)_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>[^~\n]+)~(?![\w~])"
    r"|:(?P<emoji>[a-z0-9_+-]+):(?::skin-tone-[2-6]:)?"
)
TextStyle = Literal["bold", "italic", "strike", "code"]
STYLES: tuple[TextStyle, ...] = ("bold", "italic", "strike", "code")

StyledPart = Union[str, "Styled"]


@dataclass(frozen=True)
class Styled:
    """Text with a format; ``url`` is the target of a link."""

    kind: TextStyle | Literal["fence", "quote", "mention", "link", "break"]
    parts: tuple[StyledPart, ...] = ()
    url: str = ""


BREAK = Styled("break")


def mrkdwn(text: str, name_of: NameOf) -> list[StyledPart]:
    """Read text with code fences, quotes and inline marks."""
    parts: list[StyledPart] = []
    position = 0
    for fence in FENCE.finditer(text):
        parts += _quotes(text[position : fence.start()], name_of)
        parts.append(Styled("fence", (unescape(fence.group(1)),)))
        position = fence.end()
    return [*parts, *_quotes(text[position:], name_of)]


def _quotes(text: str, name_of: NameOf) -> Iterator[StyledPart]:
    quote: list[StyledPart] = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith(("&gt;", ">")):
            words = line.removeprefix("&gt;").removeprefix(">").lstrip()
            quote += [*([BREAK] if quote else []), *inline_mrkdwn(words, name_of)]
            continue
        if quote:
            yield Styled("quote", tuple(quote))
            quote = []
        elif number:
            yield BREAK
        yield from inline_mrkdwn(line, name_of)
    if quote:
        yield Styled("quote", tuple(quote))


def inline_mrkdwn(text: str, name_of: NameOf) -> Iterator[StyledPart]:
    """Read one line: emphasis, code, links, mentions and emoji."""
    position = 0
    for match in INLINE.finditer(text):
        yield unescape(text[position : match.start()])
        yield _mark(match, name_of)
        position = match.end()
    yield unescape(text[position:])


def _mark(match: re.Match[str], name_of: NameOf) -> StyledPart:
    words = match[match.lastgroup or 0]
    if match["code"]:
        return Styled("code", (unescape(words),))
    if match["token"]:
        return _token(words, name_of)
    if match["emoji"]:
        return emoji(words)
    kind: TextStyle = "bold" if match["bold"] else "italic" if match["italic"] else "strike"
    return Styled(kind, tuple(inline_mrkdwn(words, name_of)))


def _token(token: str, name_of: NameOf) -> StyledPart:
    target, _, label = token.partition("|")
    if target.startswith(("@", "#")):
        return _mention(target[0] + (label or name_of(target[1:])))
    if target.startswith("!date"):
        return label
    if target.startswith("!"):
        return _mention(label or "@" + target[1:].split("^")[0])
    return Styled("link", (unescape(label or target),), unescape(target))


def _mention(words: str) -> Styled:
    return Styled("mention", (words,))


def rich_words(elements: list[Json], name_of: NameOf) -> list[StyledPart]:
    """Read the elements of one paragraph, quote or code block of rich text."""
    return [part for element in elements for part in _rich_word(element, name_of)]


def _rich_word(word: Json, name_of: NameOf) -> list[StyledPart]:
    kind = word["type"]
    if kind in ("user", "channel", "usergroup"):
        sign = "#" if kind == "channel" else "@"
        return [_mention(sign + name_of(str(word[f"{kind}_id"])))]
    if kind == "broadcast":
        return [_mention("@" + str(word["range"]))]
    if kind == "emoji":
        return [emoji(str(word["name"]))]
    parts = lines(str(word.get("text") or word.get("url") or ""))
    for style in STYLES:
        if word.get("style", {}).get(style):
            parts = [Styled(style, tuple(parts))]
    return [Styled("link", tuple(parts), str(word["url"]))] if kind == "link" else parts


def lines(text: str) -> list[StyledPart]:
    """Plain text with its line breaks."""
    first, *others = text.split("\n")
    return [first, *(part for line in others for part in (BREAK, line))]
