"""Slack's text format: a message -> plain text, and plain text -> text without tokens.

Slack writes people, channels, links and dates as ``<...>`` tokens, and ``&``, ``<`` and ``>`` as
entities. Text from a model, a document or a person is escaped before it is sent, so that no part of
it is a token.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from unicodedata import normalize

from ingest.invisible import (
    ASCII_CONTROLS,
    BIDI_CONTROLS,
    DIRECTION_MARKS,
    HALVES,
    TAGS,
    ZERO_WIDTH,
    char_class,
)

Names = Callable[[str], str | None]
"""Id of a person, channel or group -> the name to show, or None if it is unknown."""

_TOKEN = re.compile(
    r"<(?P<sigil>[@#!])(?P<id>[^<>|\n]*)(?:\|(?P<name>[^<>\n]*))?>"
    r"|<(?P<url>[A-Za-z][A-Za-z0-9+.-]*:[^<>|\s]*)(?:\|(?P<label>[^<>]*))?>"
)
_JOINER = "\u2060"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
_MAILTO = re.compile(r"^mailto:", re.IGNORECASE)
_JOINTS = frozenset(".:\u3002")
"""Characters that join the parts of an address."""
_UNSEEN = re.compile(
    char_class(ASCII_CONTROLS - {"\r"}, BIDI_CONTROLS, DIRECTION_MARKS, ZERO_WIDTH, TAGS, HALVES)
)
"""Characters that no screen shows, though they divide words or hide others; joiners of emoji stay.

Half of a surrogate pair, which an app leaves when it cuts a text, can be neither stored nor sent.
"""


def no_names(_: str) -> str | None:
    """Return None: a ``Names`` that knows nobody."""
    return None


def escape(text: str) -> str:
    """Plain text -> text without tokens."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Entities -> characters; ``&amp;`` last, so that a typed ``&lt;`` stays what was typed."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def visible(text: str) -> str:
    """The text without invisible characters."""
    return _UNSEEN.sub("", text)


def read_text(text: str, names: Names = no_names, *, addresses: bool = True) -> str:
    """Slack text -> what a reader sees, with the address behind each label."""
    parts: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        parts.append(unescape(text[end : token.start()]))
        parts.append(_read_token(token, names, addresses))
        end = token.end()
    parts.append(unescape(text[end:]))
    return "".join(parts)


def link_text(label: str, url: str, *, addresses: bool = True) -> str:
    """``label (address)``, or one of them if the other is missing or the same."""
    bare = re.sub(r"^(?:https?://|mailto:|tel:)", "", url).rstrip("/")
    if not url:
        return label
    if not label or label.strip(" *_~").rstrip("/") in (url.rstrip("/"), bare):
        return url if not url.startswith(("mailto:", "tel:")) else bare
    return f"{label} ({url})" if addresses else label


def moment_text(timestamp: object) -> str:
    """Seconds since 1970, as a number or as digits -> date and time; else an empty text."""
    digits = str(timestamp)
    if not re.fullmatch(r"\d{1,11}", digits, re.ASCII):
        return ""
    return datetime.fromtimestamp(int(digits), UTC).strftime("%Y-%m-%d %H:%M UTC")


def person(user: str, names: Names) -> str:
    """Return a person or group as words that notify nobody."""
    return f"@{(names(user) or user).removeprefix('@')}"


def inert(text: str) -> str:
    """Text as words that Slack does not turn into a link: no scheme, and each dot is apart."""
    text = _MAILTO.sub("", _SCHEME.sub("", text)).rstrip()
    return (
        "".join(
            char if _JOINTS.isdisjoint(normalize("NFKC", char)) else char + _JOINER
            for char in text[:-1]
        )
        + text[-1:]
    )


def _read_token(token: re.Match[str], names: Names, addresses: bool) -> str:
    if token["url"]:
        url, label = unescape(token["url"]), unescape(token["label"] or "")
        return link_text(label, url, addresses=addresses)
    ident, name = token["id"], unescape(token["name"] or "")
    if token["sigil"] == "@":
        return person(ident, lambda user: names(user) or name or None)
    if token["sigil"] == "#":
        return f"#{name or names(ident) or ident}"
    kind, *rest = ident.split("^")
    if kind == "subteam":
        return person(rest[0] if rest else kind, lambda group: name or names(group))
    if kind == "date":
        moment, _format, url = [*rest, "", "", ""][:3]
        return link_text(name or moment_text(moment), unescape(url), addresses=addresses)
    return f"@{name or kind}".replace("@@", "@")
