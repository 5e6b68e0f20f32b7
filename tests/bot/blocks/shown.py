"""The parts of a message that a person sees, read without any of the product's own code."""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_LINK = re.compile(r"<([^<>|]+)\|([^<>]*)>")


@dataclass
class Shown:
    """The words in order, and those of links, code, tables and lists again."""

    text: str = ""
    prose: str = ""
    """The words outside code and links."""
    links: list[tuple[str, str]] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    fences: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    depths: list[tuple[int, str]] = field(default_factory=list)
    """The items of lists, each after its depth."""
    raw: list[str] = field(default_factory=list)
    """Anything that would be live markup: HTML, images, Slack tokens."""

    @property
    def codes(self) -> list[str]:
        return [*self.spans, *self.fences]

    def say(self, text: str, *, code: bool = False, link: str = "") -> None:
        self.text += text
        if not code and not link:
            self.prose += text
        elif code:
            self.prose += " "


def shown(messages: Iterable[dict[str, Any]], *, own: bool = False) -> Shown:
    """The visible parts of the answer itself, or with ``own`` of the blocks around it."""
    out = Shown()
    for message in messages:
        for block in message["blocks"]:
            if str(block.get("block_id", "")).startswith("footnote_") == own:
                _block(block, out)
                out.say("\n")
    return out


def _block(block: dict[str, Any], out: Shown) -> None:
    if block["type"] == "context":
        for element in block["elements"]:
            _mrkdwn(element["text"], out)
    elif block["type"] == "table":
        for row in block["rows"]:
            cells = [Shown() for _ in row]
            for cell, inner in zip(row, cells, strict=True):
                _rich([cell], inner)
                _rich([cell], out)
                out.say(" ")
            out.rows.append([inner.text for inner in cells])
    elif block["type"] == "rich_text":
        _rich(block["elements"], out)


def _mrkdwn(text: str, out: Shown) -> None:
    end = 0
    for token in _LINK.finditer(text):
        out.say(html.unescape(text[end : token.start()]))
        out.say(html.unescape(token[2]), link=token[1])
        out.links.append((html.unescape(token[2]), html.unescape(token[1])))
        end = token.end()
    out.say(html.unescape(text[end:]))
    out.raw.extend(re.findall(r"<[^<>]*>", _LINK.sub("", text)))


def _rich(elements: Iterable[dict[str, Any]], out: Shown) -> None:
    for element in elements:
        kind = element["type"]
        if kind == "rich_text_preformatted":
            code = "".join(inner["text"] for inner in element["elements"])
            out.fences.append(code)
            out.say(f"{code}\n", code=True)
        elif kind == "link":
            out.links.append((element["text"], element["url"]))
            out.say(element["text"], link=element["url"])
        elif kind in ("text", "raw_text"):
            code = element.get("style", {}).get("code", False)
            if code:
                out.spans.append(element["text"])
            out.say(element["text"], code=code)
        else:
            for number, inner in enumerate(element["elements"], element.get("offset", 0) + 1):
                before = len(out.text)
                if element.get("style") == "ordered":
                    out.say(f"{number}. ")
                _rich([inner], out)
                if kind == "rich_text_list":
                    out.depths.append((element["indent"], out.text[before:]))
            out.say("\n")


def strings(value: Any) -> Iterator[str]:
    """Every string within a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
