"""A block too long for a message -> parts of it, with nothing lost.

Lists are cut between items, tables between rows, code between lines, and prose between sentences.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

from bot.blocks.elements import Block, Element

ROWS = 99
"""Maximum number of rows of a table in one message, without the header."""

_FRAME = 150
"""Maximum number of characters that block, element and style need around their content."""
_SENTENCE_END = re.compile(r"(?:[.!?](?=\s)|[。！？])(?:\s?\[[^\[\]\n]+\])*\s*|\n(?!\[)")
"""Citations after a sentence stay with it."""
_BLANK = re.compile(r"\s(?![\s\[])")
_STEP, _AHEAD = 1_000, 300
"""Maximum number of characters between two places to cut at, and of the citations after one."""
_HEAVY = 4_000
"""A piece with more characters, as sent, is cut between its elements."""
_WHOLE = 300
"""Inline code, a link or a citation of at most this many characters is never cut."""


def size(value: Any) -> int:
    """Number of characters as sent, including the separator before the next value."""
    return len(json.dumps(value, ensure_ascii=False)) + 2


def parts(block: Block, first: int, room: int) -> Iterator[Block]:
    """The block in order: a part that needs at most ``first`` characters, if there is one, then
    parts of at most ``room``."""
    if block["type"] == "table":
        yield from _tables(block, first, room)
        return
    free = first - _FRAME
    done: list[Element] = []
    for element in _short_items(block["elements"], room - _FRAME):
        contents = _contents(element, room - _FRAME)
        begin = 0
        for number, content in enumerate(contents):
            need = size(content) + (_FRAME if number == begin else 0)
            if need > free:
                if number > begin:
                    done.append(part_of(element, contents, begin, number))
                    begin = number
                if done:
                    yield {**block, "elements": done}
                done, free = [], room - _FRAME
                need = size(content) + _FRAME
            free -= need
        done.append(part_of(element, contents, begin, len(contents)))
    yield {**block, "elements": done}


def part_of(element: Element, contents: list[Any], begin: int, end: int) -> Element:
    """A list with some of its items, code with some of its lines, prose with some sentences."""
    some = contents[begin:end]
    if element["type"] == "rich_text_preformatted":
        code = "".join(some)
        code = code if end == len(contents) else code.removesuffix("\n") or code
        return {**element, "elements": [{**element["elements"][0], "text": code}]}
    if element["type"] != "rich_text_list":
        return {**element, "elements": list(chain.from_iterable(some))}
    if begin and element["style"] == "ordered":
        return {**element, "offset": element.get("offset", 0) + begin, "elements": some}
    return {**element, "elements": some}


def _tables(table: Block, first: int, room: int) -> Iterator[Block]:
    header, *rows = table["rows"]
    frame = size({**table, "rows": [header]})
    free = first - frame
    some: list[Any] = []
    for row in rows:
        if size(row) > free or len(some) == ROWS:
            if some:
                yield {**table, "rows": [header, *some]}
            some, free = [], room - frame
        some.append(row)
        free -= size(row)
    yield {**table, "rows": [header, *some]}


def _short_items(elements: list[Element], room: int) -> Iterator[Element]:
    """The elements; the rest of an item too long for a message follows in sections below it."""
    for element in elements:
        items = element["elements"]
        is_list = element["type"] == "rich_text_list"
        long = [n for n, item in enumerate(items) if size(item) > room] if is_list else []
        if not long:
            yield element
            continue
        for begin, end in pairwise([0, *(n + 1 for n in long), len(items)]):
            some = items[begin:end]
            if not some:
                continue
            if size(some[-1]) <= room:
                yield part_of(element, items, begin, end)
                continue
            start, *rest = _sentences(some[-1]["elements"])
            some[-1] = {**some[-1], "elements": start}
            yield {**part_of(element, items, begin, end), "elements": some}
            yield {"type": "rich_text_section", "elements": list(chain.from_iterable(rest))}


def _contents(element: Element, room: int) -> list[Any]:
    """The smallest parts of an element; a single part if the element need not be cut."""
    if element["type"] == "rich_text_list":
        return list(element["elements"])
    is_code = element["type"] == "rich_text_preformatted"
    if size(element) <= room:
        return [element["elements"][0]["text"] if is_code else element["elements"]]
    if not is_code:
        return _sentences(element["elements"])
    lines = element["elements"][0]["text"].splitlines(keepends=True)
    return list(chain.from_iterable(_short_lines(line, room) for line in lines))


def _short_lines(line: str, room: int) -> Iterator[str]:
    """The line of code, cut anywhere if no message can hold it."""
    step = len(line) if size(line) <= room else _STEP
    for start in range(0, len(line), step):
        yield line[start : start + step]


def _sentences(inline: list[Element]) -> list[list[Element]]:
    """Inline elements, cut between sentences, or else between words."""
    text = "".join(element["text"] for element in inline)
    pieces: list[list[Element]] = []
    waiting = iter(inline)
    element: Element = {"text": ""}
    for start, end in pairwise([0, *_places(text, inline)]):
        piece: list[Element] = []
        length = end - start
        while length:
            element = element if element["text"] else next(waiting)
            piece.append({**element, "text": element["text"][:length]})
            element = {**element, "text": element["text"][length:]}
            length -= len(piece[-1]["text"])
        pieces += _light(piece)
    return pieces


def _light(piece: list[Element]) -> Iterator[list[Element]]:
    """Yield the piece in parts of at most ``_HEAVY`` characters as sent, cut between elements."""
    some: list[Element] = []
    free = _HEAVY
    for element in piece:
        if some and size(element) > free:
            yield some
            some, free = [], _HEAVY
        some.append(element)
        free -= size(element)
    yield some


def _places(text: str, inline: list[Element]) -> Iterator[int]:
    """The places to cut at, at most ``_STEP`` characters apart."""
    starts, ends = [], []
    at = 0
    for element in inline:
        after = at + len(element["text"])
        is_whole = element["type"] == "link" or "code" in element.get("style", ())
        if is_whole and after - at <= _WHOLE:
            starts.append(at)
            ends.append(after)
        at = after

    def around(place: int) -> int | None:
        """Start of the link or code that a cut here would divide."""
        number = bisect_left(starts, place) - 1
        return starts[number] if number >= 0 and place < ends[number] else None

    start = 0
    while len(text) - start > _STEP:
        limit = start + _STEP
        place = 0
        for border in (_SENTENCE_END, _BLANK):
            # A match is read beyond the limit: a sentence ends after its citations.
            borders = (match.end() for match in border.finditer(text, start, limit + _AHEAD))
            good = (end for end in borders if end <= limit and around(end) is None)
            if place := max(good, default=0):
                break
        start = place or around(limit) or limit
        yield start
    yield len(text)
