"""Blocks of any app, as Slack returns them -> the lines that a reader sees.

Ids, button payloads and placeholders are not read. In a block of an unknown type the usual keys are
searched for text. Malformed parts are left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.reading.mrkdwn import (
    Names,
    link_text,
    moment_text,
    no_names,
    person,
    read_text,
    unescape,
    visible,
)

SlackJson = Mapping[str, Any]
"""A JSON object as Slack sends it; nothing in it is checked."""

_DEEPEST = 16
_CONTROLS = (
    "select",
    "overflow",
    "checkboxes",
    "radio_buttons",
    "picker",
    "_input",
    "feedback_buttons",
)
_PLACES = (
    "rich_text_title",
    "title",
    "subtitle",
    "label",
    "text",
    "body",
    "description",
    "fields",
    "details",
    "output",
    "elements",
    "tasks",
    "blocks",
    "child_blocks",
    "accessory",
    "actions",
    "hero_image",
    "sources",
)
"""Keys under which blocks keep their texts, in the order in which Slack shows them."""
_NOT_SHOWN = ("placeholder", "confirm", "hint", "fallback", "workflow", "filter", "metadata")
"""Keys whose texts Slack never shows, or shows only after a click; they are not read."""
_TITLE = re.compile(
    r"(?P<icon>(?::[\w+-]+: *)*)(?P<mark>[*_]{0,2})(?P<name>[^*]{1,100}?):?(?P=mark):?"
)


@dataclass(frozen=True, slots=True)
class BlockReader:
    """Reads blocks; ``addresses`` says whether a link is read with its address."""

    names: Names = no_names
    addresses: bool = True

    def lines(self, blocks: Any, depth: int = 0) -> Iterator[str]:
        """The lines of a list of blocks or elements."""
        for block in items(blocks):
            if isinstance(block, dict) and depth < _DEEPEST:
                yield from self._block(block, depth + 1)
            elif isinstance(block, list) and depth < _DEEPEST:
                yield from self.lines(block, depth + 1)

    def read(self, text: Any) -> str:
        """A text object, or a string of Slack text, as plain text."""
        words = text.get("text") if isinstance(text, dict) else text
        if isinstance(words, int | float) and not isinstance(words, bool):
            return str(words)
        return read_text(string(words), self.names, addresses=self.addresses)

    def link(self, label: Any, url: Any) -> str:
        """Return a label with its address, or only one of them if the other is missing."""
        return link_text(self.read(label), unescape(string(url)), addresses=self.addresses)

    def _block(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        kind = str(block.get("type"))
        if kind.endswith(_CONTROLS):
            yield from self._control(block)
            return
        if kind in ("mrkdwn", "plain_text", "raw_text", "markdown", "header"):
            yield from _split(self.read(block.get("text")))
        elif kind.endswith("button"):
            yield from self._linked(block)
        elif kind == "url":
            yield self.link(block.get("text"), block.get("url"))
        elif kind == "image":
            names = (self.read(block.get("title")), self.read(block.get("alt_text")))
            yield from dict.fromkeys(filter(None, names))
        elif kind in ("table", "data_table"):
            yield from self._table(block, depth)
        elif kind.startswith("rich_text"):
            yield from self._rich(block, depth)
        elif kind == "input":
            yield self._input(block, depth)
        else:
            yield from self._places(block, depth)

    def _table(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        yield from _split(self.read(block.get("caption")))
        for row in items(block.get("rows")):
            yield " | ".join(" ".join(self.lines([cell], depth)) for cell in items(row))

    def _input(self, block: dict[str, Any], depth: int) -> str:
        values = " ".join(self.lines(block.get("element"), depth))
        return ": ".join(filter(None, (self.read(block.get("label")), values)))

    def _control(self, block: dict[str, Any]) -> Iterator[str]:
        """The initial value of a control, its choices, and the links in its menu."""
        yield from _split(self.read(block.get("initial_value")))
        initial = (*items(block.get("initial_option")), *items(block.get("initial_options")))
        options = [option for option in items(block.get("options")) if isinstance(option, dict)]
        if block.get("type") in ("checkboxes", "radio_buttons"):
            for option in options:
                yield f"[{'x' if option in initial else ' '}] {self.read(option.get('text'))}"
            return
        yield from (self.read(one.get("text")) for one in initial if isinstance(one, dict))
        for option in options:
            yield from self._linked(option)

    def _linked(self, block: dict[str, Any]) -> Iterator[str]:
        """The label and address of a button or menu entry; nothing if it has no address."""
        if url := unescape(string(block.get("url"))):
            label = self.read(block.get("text"))
            yield f"{label}: {url}" if label else url

    def _places(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        others = (place for place in block if place not in (*_PLACES, *_NOT_SHOWN))
        for place in (*_PLACES, *others):
            value = block.get(place)
            if place == "fields":
                yield from (self._field(field) for field in items(value) if isinstance(field, dict))
            elif place == "title" and block.get("title_url"):
                yield self.link(value, block["title_url"])
            elif isinstance(value, str) and place in _PLACES:
                yield from _split(self.read(value))
            elif isinstance(value, dict | list):
                yield from self.lines(value, depth)

    def _field(self, field: dict[str, Any]) -> str:
        """A field whose first line is its title becomes ``Title: value``, on one line."""
        text = self.read(field.get("text"))
        first, _, value = text.partition("\n")
        title = _TITLE.fullmatch(first.strip())
        if value and title and (title["mark"] or title[0].endswith(":")):
            return f"{title['icon']}{title['name']}: {value}"
        return text

    def _rich(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            return
        kind = block.get("type")
        elements = [e for e in items(block.get("elements")) if isinstance(e, dict)]
        if kind == "rich_text_list":
            yield from self._rich_list(block, depth)
        elif any(str(element.get("type")).startswith("rich_text") for element in elements):
            for element in elements:
                yield from self._rich(element, depth + 1)
        else:
            text = "".join(self._element(element) for element in elements)
            if kind == "rich_text_preformatted":
                yield f"```\n{text}\n```"
            elif kind == "rich_text_quote":
                yield from (f"> {line}" for line in _split(text))
            else:
                yield from _split(text)

    def _rich_list(self, block: dict[str, Any], depth: int) -> Iterator[str]:
        indent = "  " * min(_number(block.get("indent")), _DEEPEST)
        first = _number(block.get("offset")) + 1
        for number, element in enumerate(items(block.get("elements")), first):
            mark = f"{number}. " if block.get("style") == "ordered" else "- "
            if isinstance(element, dict):
                yield f"{indent}{mark}" + "\n".join(self._rich(element, depth + 1))

    def _element(self, element: dict[str, Any]) -> str:
        text, style = string(element.get("text")), element.get("style")
        match element.get("type"):
            case "text":
                is_code = isinstance(style, dict) and style.get("code") is True
                return f"`{text}`" if is_code and text else text
            case "link":
                return link_text(text, string(element.get("url")), addresses=self.addresses)
            case "user":
                return person(string(element.get("user_id")), self.names)
            case "usergroup":
                return person(string(element.get("usergroup_id")), self.names)
            case "channel":
                channel = string(element.get("channel_id"))
                return f"#{self.names(channel) or channel}"
            case "broadcast":
                return f"@{string(element.get('range'))}"
            case "emoji":
                return f":{string(element.get('name'))}:"
            case "date":
                return string(element.get("fallback")) or moment_text(element.get("timestamp"))
            case "color":
                return string(element.get("value"))
        return text


def items(value: Any) -> list[Any]:
    """The items of a list; a single object is one item, any other value is an empty list."""
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    """The visible characters of a string; empty for any other value."""
    return visible(value) if isinstance(value, str) else ""


def _split(text: str) -> list[str]:
    return text.split("\n") if text else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value <= 1_000_000 else 0
