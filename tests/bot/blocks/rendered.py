"""The messages of a rendered answer, and what a case may expect of them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.bot.blocks.shown import Shown, shown
from tests.cases import Json, each, folded, table


@dataclass(frozen=True)
class Rendered:
    """An answer of a model, and the messages it became."""

    given: str
    chunks: list[Json]
    messages: list[Json]
    tolerated: frozenset[str]
    """Ids that may be cited or not."""

    @cached_property
    def answer(self) -> Shown:
        return shown(self.messages)

    @cached_property
    def around(self) -> Shown:
        """The parts around the answer: verdict, sources, footer, buttons."""
        return shown(self.messages, own=True)

    @cached_property
    def flat(self) -> str:
        return folded(self.answer.text)

    @property
    def payload(self) -> str:
        return json.dumps(self.messages, ensure_ascii=False)

    @property
    def blocks(self) -> list[Json]:
        return [block for message in self.messages for block in message["blocks"]]

    @property
    def sources(self) -> list[str]:
        """Addresses in the list of sources."""
        listed = [block for block in self.blocks if block.get("block_id") == "footnote_sources"]
        return [url for _, url in shown([{"blocks": listed}], own=True).links]

    @property
    def urls(self) -> dict[str, str]:
        return {chunk["id"]: chunk["url"] for chunk in self.chunks}

    @property
    def citations(self) -> list[tuple[str, str]]:
        """Id and address of each citation that can be clicked."""
        links = ((label[1:-1], url) for label, url in self.answer.links if label[:1] == "[")
        return [(id, url) for id, url in links if id in self.urls]


def cited(seen: Rendered, ids: list[str]) -> Iterator[str]:
    if wrong := [pair for pair in seen.citations if seen.urls[pair[0]] != pair[1]]:
        yield f"opens something else: {wrong}"
    found = list(dict.fromkeys(id for id, _ in seen.citations if id not in seen.tolerated))
    if found != ids:
        yield f"clickable are {found}"
    if ids and not seen.sources:
        yield "no list of sources"


def removed(seen: Rendered, ids: list[str]) -> Iterator[str]:
    yield from (f"{id} is still there" for id in ids if id in seen.answer.text)
    if "  " in seen.answer.text or " ." in seen.answer.text:
        yield "a trace of blanks"


def cited_or_removed(seen: Rendered, ids: list[str]) -> Iterator[str]:
    linked = {id for id, _ in seen.citations}
    yield from (
        f"{id} is neither" for id in ids if id not in linked and f"[{id}]" in seen.answer.text
    )


def visible_contains(seen: Rendered, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if folded(part) not in seen.flat)


def visible_not_contains(seen: Rendered, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if folded(part) in seen.flat)


def in_order(seen: Rendered, parts: list[str]) -> Iterator[str]:
    at = 0
    for part in parts:
        at = seen.flat.find(folded(part), at)
        if at < 0:
            yield part
            return
        at += len(folded(part))


def lossless(seen: Rendered, _wanted: bool) -> Iterator[str]:
    words = re.findall(r"[^\W_]+", seen.answer.text)
    fences = re.compile(r"^ *(```|~~~)\w*$", re.MULTILINE)
    if "".join(words) != "".join(re.findall(r"[^\W_]+", fences.sub("", seen.given))):
        yield "words are lost or doubled"


def code_exact(seen: Rendered, codes: list[str]) -> Iterator[str]:
    yield from (code for code in codes if code not in seen.answer.codes)


def code_contains(seen: Rendered, codes: list[str]) -> Iterator[str]:
    yield from (code for code in codes if not any(code in each for each in seen.answer.codes))


def code_lines_exact(seen: Rendered, lines: list[str]) -> Iterator[str]:
    if lines != [line for fence in seen.answer.fences for line in fence.split("\n")]:
        yield "other lines"


def not_linked_in_code(seen: Rendered, texts: list[str]) -> Iterator[str]:
    yield from code_contains(seen, texts)
    linked = [label for label, _ in seen.answer.links]
    for text in texts:
        outside = seen.answer.text.count(text) - sum(c.count(text) for c in seen.answer.codes)
        if sum(text in label for label in linked) > outside:
            yield f"a link in code: {text}"


def links(seen: Rendered, url: str, label: str | None = None) -> Iterator[str]:
    if not any(url == to and label in (None, text) for text, to in seen.answer.links):
        yield f"no link {label or ''} to {url}"


def no_host(seen: Rendered, hosts: list[str]) -> Iterator[str]:
    yield from (host for host in hosts if host in seen.payload)


def no_clickable_host(seen: Rendered, hosts: list[str]) -> Iterator[str]:
    clickable = [url for _, url in (*seen.answer.links, *seen.around.links)]
    words = [seen.answer.prose, seen.around.prose, *(each["text"] for each in seen.messages)]
    yield from (host for host in hosts if any(host in text for text in (*clickable, *words)))


def no_link_labels(seen: Rendered, labels: list[str]) -> Iterator[str]:
    yield from (label for label, _ in seen.answer.links if label in labels)


def payload_not_contains(seen: Rendered, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if part in seen.payload)


def payload_keys_absent(seen: Rendered, keys: list[str]) -> Iterator[str]:
    yield from sorted(set(keys) & {key for found in _objects(seen.messages) for key in found})


def block_types_absent(seen: Rendered, types: list[str]) -> Iterator[str]:
    yield from sorted(set(types) & {str(each.get("type")) for each in _objects(seen.messages)})


def table_rows(seen: Rendered, rows: list[list[str]]) -> Iterator[str]:
    tables = [" ".join(row) for row in seen.answer.rows]
    if _missing_row(tables, rows) and (row := _missing_row(seen.answer.text.split("\n"), rows)):
        yield f"no row of {row} here"


def indent_increases(seen: Rendered, pairs: list[list[str]]) -> Iterator[str]:
    for outer, inner in pairs:
        depth = {
            part: d for part in (outer, inner) for d, text in seen.answer.depths if part in text
        }
        if not depth.get(outer, 99) < depth.get(inner, -1):
            yield f"{inner} is not deeper than {outer}"


def sources_exact(seen: Rendered, ids: list[str]) -> Iterator[str]:
    if sorted(seen.sources) != sorted(seen.urls[id] for id in ids):
        yield f"listed are {seen.sources}"


def sources_min(seen: Rendered, count: int) -> Iterator[str]:
    if len(seen.sources) < count:
        yield f"listed are {seen.sources}"


def sources_outside_code(seen: Rendered, _wanted: bool) -> Iterator[str]:
    if not seen.sources or any(url in code for url in seen.sources for code in seen.around.codes):
        yield f"listed in prose are {seen.sources}"


def buttons(seen: Rendered, wanted: bool) -> Iterator[str]:
    if (seen.blocks[-1]["type"] == "context_actions") is not wanted:
        yield f"the last block is a {seen.blocks[-1]['type']}"


def non_empty(seen: Rendered, _wanted: bool) -> Iterator[str]:
    if not seen.flat:
        yield "nothing visible"


def uncited_notice(seen: Rendered, wanted: bool) -> Iterator[str]:
    if bool(re.search(r"\bno source\b", seen.around.text, re.I)) is not wanted:
        yield f"around the answer is: {folded(seen.around.text)}"


def no_pings(_seen: Rendered, _wanted: bool) -> Iterator[str]:
    """As for every case."""
    return iter(())


def top_text(
    seen: Rendered,
    contains: tuple[str, ...] = (),
    not_contains: tuple[str, ...] = (),
    min_chars: int = 1,
    max_chars: int = 4_000,
) -> Iterator[str]:
    text = seen.messages[0]["text"]
    if not min_chars <= len(text) <= max_chars:
        yield f"{len(text)} characters"
    yield from (f"without {part}" for part in contains if part not in text)
    yield from (f"with {part}" for part in not_contains if part in text)


def _missing_row(lines: list[str], rows: list[list[str]]) -> list[str] | None:
    """The first row whose cells are on no line below that of the row before."""
    below = iter(lines)
    for row in rows:
        if not any(all(cell in line for cell in row) for line in below):
            return row
    return None


def _objects(value: Any) -> Iterator[Json]:
    """Every object within a JSON value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from _objects(inner)


CHECKS = table(
    *(cited, removed, cited_or_removed, visible_contains, visible_not_contains, in_order, lossless),
    *(code_exact, code_contains, code_lines_exact, not_linked_in_code, each(links), no_host),
    *(no_clickable_host, no_link_labels, payload_not_contains, payload_keys_absent),
    *(block_types_absent, table_rows, indent_increases, sources_exact, sources_min),
    *(sources_outside_code, buttons, non_empty, uncited_notice, no_pings, each(top_text)),
)
