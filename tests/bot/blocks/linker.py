"""A reader that links more than Slack does, to see which addresses a message makes live."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

_LINKED = re.compile(
    r"[a-z][a-z0-9+.-]{0,20}://[^\s<>\"]+"
    r"|(?:mailto|tel):[^\s<>\"]+"
    r"|(?:[^\s<>\"/@]{1,40}@)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,5}"
    r"\.(?:[^\W\d_]{2,24}|xn--[a-z0-9-]{1,60})(?![\w])(?:[:/?#.@(,;|\[{'=&%~+$!*^\\][^\s<>\"]*)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![^\W_])`[^`\n]+`(?![^\W_])")
_NOT_IN_A_HOST = "\u2060"
"""The word joiner that Footnote puts behind a dot: in a host it is an error."""


def live_in_blocks(blocks: Iterable[dict[str, Any]]) -> set[str]:
    """Every address that can be clicked in the blocks of an answer."""
    found: set[str] = set()
    for block in blocks:
        if str(block.get("block_id", "")).startswith("footnote_"):
            continue
        for line in _lines(block):
            prose = ""
            for element in line:
                if element["type"] == "link":
                    found.add(element["url"])
                is_code = element.get("style", {}).get("code")
                prose += " " if element["type"] == "link" or is_code else element["text"]
            found |= live_in(prose)
    return found


def live_in_text(text: str) -> set[str]:
    """Every address that can be clicked in a text that Slack reads as its own format."""
    found: set[str] = set()
    is_code = False
    for line in text.split("\n"):
        parts = line.split("```")
        for number, part in enumerate(parts):
            is_code ^= number > 0
            if not is_code:
                found |= live_in(html.unescape(_CODE.sub(" ", part)))
    return found


def live_in(prose: str, *, joined: bool = True) -> set[str]:
    """Every address in words; ``joined`` drops even the word joiner, as a program may."""
    if not joined:
        prose = prose.replace(_NOT_IN_A_HOST, " ")
    letters = unicodedata.normalize("NFKC", prose)
    seen = "".join(
        c for c in letters if c == "\n" or unicodedata.category(c) not in {"Cf", "Mn", "Cc"}
    )
    return {_without_end(match[0]) for match in _LINKED.finditer(seen)}


def _without_end(address: str) -> str:
    while address[-1:] in {*".,;:!?]'…"} or (
        address[-1:] == ")" and address.count(")") > address.count("(")
    ):
        address = address[:-1]
    return address


def _lines(value: Any) -> Iterator[list[dict[str, Any]]]:
    """The elements of each paragraph, cell or item."""
    if isinstance(value, list):
        for item in value:
            yield from _lines(item)
    elif value["type"] == "raw_text":
        yield [value]
    elif value["type"] in ("rich_text_section", "rich_text_quote"):
        yield value["elements"]
    elif value["type"] in ("rich_text", "rich_text_list", "table"):
        yield from _lines(value.get("elements") or value.get("rows"))
