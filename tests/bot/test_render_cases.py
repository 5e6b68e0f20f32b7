"""The shared cases of answers, rendered by the command that people use to look at a payload."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from slack_sdk.models.blocks import Block

from bot.blocks import render_json
from tests.bot.cases import cases, folded
from tests.bot.limits import broken_limits
from tests.bot.shown import Shown, shown, strings

LOSSLESS = [case for case in cases("render") if case.values[0].get("expect", {}).get("lossless")]
_PING = re.compile(r"<(?:[@#]|!(?:channel|here|everyone|subteam|date))")


@pytest.mark.parametrize("style", ["markdown", "rich_text"])
@pytest.mark.parametrize("case", cases("render"))
def test_an_answer_is_shown_as_the_case_asks(case: dict[str, Any], style: str) -> None:
    given, expect = case["input"], case["expect"]
    request = {"text": given["answer"], "passages": given["chunks"], "style": style}
    messages = render_json(request)["messages"]
    answer = shown(messages)
    assert answer.text.strip()
    assert answer.raw == []
    assert sorted(_broken(messages, answer, expect, given)) == []


def _broken(
    messages: list[dict[str, Any]], answer: Shown, expect: dict[str, Any], given: dict[str, Any]
) -> Iterator[str]:
    for message in messages:
        yield from broken_limits(message)
        yield from _refused(message)
    yield from _citations(answer, expect, given)
    yield from _words(answer, expect)
    yield from _rows(answer, expect)
    yield from _code(answer, expect)
    yield from _links(messages, answer, expect)
    yield from _around(messages, expect, given)


def _refused(message: dict[str, Any]) -> Iterator[str]:
    """What slack_sdk's own models object to."""
    for block in Block.parse_all(message["blocks"]):
        if block is None:
            yield "a block that slack_sdk does not know"
        else:
            block.validate_json()
    if _PING.search(message["text"]) or {"link_names", "parse"} & message.keys():
        yield "a ping in the notification"


def _citations(answer: Shown, expect: dict[str, Any], given: dict[str, Any]) -> Iterator[str]:
    urls = {f"[{chunk['id']}]": chunk["url"] for chunk in given["chunks"]}
    found = [(label, url) for label, url in answer.links if label in urls]
    if any(urls[label] != url for label, url in found):
        yield "a citation that opens something else"
    either = expect.get("cited_or_removed", [])
    cited = [label[1:-1] for label, _ in found if label[1:-1] not in either]
    if list(dict.fromkeys(cited)) != expect.get("cited", list(dict.fromkeys(cited))):
        yield f"cited {cited}"
    for gone in expect.get("removed", []):
        if gone in answer.text or "  " in answer.text or " ." in answer.text:
            yield f"{gone} left a trace"


def _words(answer: Shown, expect: dict[str, Any]) -> Iterator[str]:
    flat = folded(answer.text)
    for part in expect.get("visible_contains", []):
        if folded(part) not in flat:
            yield f"not visible: {part}"
    for part in expect.get("visible_not_contains", []):
        if folded(part) in flat:
            yield f"visible: {part}"
    at = 0
    for part in expect.get("in_order", []):
        at = flat.find(part, at)
        if at < 0:
            yield f"not in order: {part}"
    for outer, inner in expect.get("indent_increases", []):
        depth = {part: d for part in (outer, inner) for d, text in answer.depths if part in text}
        if not depth.get(outer, 99) < depth.get(inner, -1):
            yield f"{inner} is not deeper than {outer}"
    if expect.get("non_empty") and not flat:
        yield "nothing visible"


def _rows(answer: Shown, expect: dict[str, Any]) -> Iterator[str]:
    lines = [folded(line) for row in answer.rows for line in [" ".join(row)]]
    lines += [folded(line) for line in answer.text.split("\n")]
    for row in expect.get("table_rows", []):
        if not any(all(cell in line for cell in row) for line in lines):
            yield f"row {row}"


def _code(answer: Shown, expect: dict[str, Any]) -> Iterator[str]:
    for code in expect.get("code_exact", []):
        if code not in answer.codes:
            yield f"not exact: {code}"
    for code in expect.get("code_contains", []):
        if not any(code in shown_code for shown_code in answer.codes):
            yield f"no code with {code}"
    if "code_lines_exact" in expect:
        lines = [line for fence in answer.fences for line in fence.split("\n")]
        if lines != expect["code_lines_exact"]:
            yield "code lines differ"


def _links(messages: list[dict[str, Any]], answer: Shown, expect: dict[str, Any]) -> Iterator[str]:
    payload = json.dumps(messages, ensure_ascii=False)
    for link in expect.get("links", []):
        if not any(
            url == link["url"] and link.get("label", label) == label for label, url in answer.links
        ):
            yield f"no link {link}"
    for host in expect.get("no_host", []):
        if host in payload:
            yield f"{host} occurs"
    around = shown(messages, own=True)
    for host in expect.get("no_clickable_host", []):
        clickable = [url for _, url in (*answer.links, *around.links)]
        words = [answer.prose, around.prose, *(message["text"] for message in messages)]
        if any(host in text for text in (*clickable, *words)):
            yield f"{host} is clickable"
    labels = [label for label, _ in answer.links]
    yield from (
        f"{label} is clickable" for label in expect.get("no_link_labels", []) if label in labels
    )


def _around(
    messages: list[dict[str, Any]], expect: dict[str, Any], given: dict[str, Any]
) -> Iterator[str]:
    blocks = [block for message in messages for block in message["blocks"]]
    if [block["type"] for block in blocks].count("context_actions") != 1:
        yield "feedback buttons not once"
    if blocks[-1]["type"] != "context_actions":
        yield "feedback buttons not at the end"
    sources = [b for b in blocks if b.get("block_id") == "footnote_sources"]
    listed = [url for _, url in shown([{"blocks": sources}], own=True).links]
    if len(listed) != len(set(listed)) or len(listed) < expect.get("sources_min", 0):
        yield f"sources {listed}"
    if expect.get("cited") and not listed:
        yield "no sources"
    text = messages[0]["text"]
    wanted = expect.get("top_text", {})
    if not wanted.get("min_chars", 1) <= len(text) <= wanted.get("max_chars", 4000):
        yield f"top text of {len(text)} characters"
    yield from (
        f"top text without {part}" for part in wanted.get("contains", []) if part not in text
    )


@pytest.mark.parametrize("case", LOSSLESS)
def test_no_word_of_an_answer_is_lost_or_doubled(case: dict[str, Any]) -> None:
    given = case["input"]
    messages = render_json({"text": given["answer"], "passages": given["chunks"]})["messages"]
    words = re.findall(r"[^\W_]+", shown(messages).text)
    expected = re.findall(r"[^\W_]+", re.sub(r"^ *(```|~~~)\w*$", "", given["answer"], flags=re.M))
    assert "".join(words) == "".join(expected)


@pytest.mark.parametrize("case", cases("render"))
def test_nothing_in_a_payload_pings_outside_literal_blocks(case: dict[str, Any]) -> None:
    given = case["input"]
    messages = render_json({"text": given["answer"], "passages": given["chunks"]})["messages"]
    read_again = [b for m in messages for b in m["blocks"] if b["type"] != "rich_text"]
    assert [text for text in strings(read_again) if _PING.search(text)] == []
