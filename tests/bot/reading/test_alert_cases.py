"""The shared cases of alert messages, as any integration posts them."""

import html
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bot.reading.message import message_json
from tests.cases import Json, call, family, faults, folded, no_exception, opened, require, table


@dataclass(frozen=True)
class Read:
    """A message, and the text that a reader gets of it."""

    message: Json
    text: str

    @property
    def flat(self) -> str:
        return folded(self.text)


@pytest.mark.parametrize("line", family("alerts"))
def test_a_reader_gets_what_the_alert_shows(line: Json) -> None:
    case = opened(line)
    require(faults(case.expect, CHECKS, call(read, case.input)))


def read(message: Json) -> Read:
    return Read(message, message_json(message)["text"])


def must_contain(seen: Read, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if folded(part) not in seen.flat)


def must_not_contain(seen: Read, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if folded(part) in seen.flat)


def max_count(seen: Read, counts: dict[str, int]) -> Iterator[str]:
    for part, most in counts.items():
        if (count := seen.flat.count(folded(part))) > most:
            yield f"{count} times {part!r}"


def max_chars(seen: Read, most: int) -> Iterator[str]:
    if len(seen.text) > most:
        yield f"{len(seen.text)} characters"


def if_shortened_says_so(seen: Read, _wanted: bool) -> Iterator[str]:
    lines = [line for text in _texts(seen.message) for line in html.unescape(text).split("\n")]
    words = {word for line in lines for word in line.split() if word.replace("_", "").isalnum()}
    if words - set(seen.flat.split()) and "left out" not in seen.text:
        yield "nothing says that text was left out"


def same_line(seen: Read, groups: list[list[str]]) -> Iterator[str]:
    lines = seen.text.split("\n")
    yield from (
        f"not on one line: {parts}"
        for parts in groups
        if not any(all(part in line for part in parts) for line in lines)
    )


def in_order(seen: Read, parts: list[str]) -> Iterator[str]:
    at = 0
    for part in map(folded, parts):
        at = seen.flat.find(part, at)
        if at < 0:
            yield f"not in order: {part!r}"
            return
        at += len(part)


def whitespace_exact(seen: Read, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if part not in seen.text)


def _texts(value: object) -> Iterator[str]:
    """What integrations write at length."""
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k in ("text", "value") and isinstance(v, str))
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


CHECKS = table(
    must_contain,
    must_not_contain,
    max_count,
    max_chars,
    if_shortened_says_so,
    same_line,
    in_order,
    whitespace_exact,
    no_exception,
)
