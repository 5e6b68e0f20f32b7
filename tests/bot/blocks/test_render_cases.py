"""The shared cases of answers, rendered by the command that people use to look at a payload."""

import re
from collections.abc import Iterator

import pytest
from slack_sdk.models.blocks import Block

from bot.blocks import render_json
from tests.bot.blocks.limits import AROUND, LITERAL, broken_limits, refused_by_the_sandbox
from tests.bot.blocks.rendered import CHECKS, Rendered
from tests.bot.blocks.shown import strings
from tests.cases import Json, call, family, faults, opened, require

_PING = re.compile(r"<(?:[@#]|!(?:channel|here|everyone|subteam|date))")


@pytest.mark.parametrize("line", family("render"))
def test_an_answer_is_shown_as_the_case_asks(line: Json) -> None:
    case = opened(line)
    seen = call(rendered, case.input, case.expect.get("cited_or_removed", []))
    require([*general_faults(seen), *faults(case.expect, CHECKS, seen)])


def rendered(tolerated: list[str], answer: str, chunks: list[Json]) -> Rendered:
    passages = [call(_passage, chunk) for chunk in chunks]
    messages = render_json({"text": answer, "passages": passages})["messages"]
    return Rendered(answer, chunks, messages, frozenset(tolerated))


def _passage(id: str, url: str, heading: object = None, text: str | None = None) -> Json:
    return {"id": id, "url": url, "heading": heading, "text": text}


def general_faults(seen: Rendered) -> Iterator[str]:
    """Faults that are faults in any answer."""
    for message in seen.messages:
        yield from broken_limits(message)
        yield from _refused(message)
        yield from refused_by_the_sandbox(message)
    if parsed := {block["type"] for block in seen.blocks} - LITERAL - AROUND:
        yield f"Slack would parse {parsed}"
    if not seen.answer.text.strip():
        yield "nothing visible"
    kinds = [block["type"] for block in seen.blocks]
    if kinds.count("context_actions") != 1 or kinds[-1] != "context_actions":
        yield "feedback buttons not once, at the end"
    if len(seen.sources) != len(set(seen.sources)):
        yield f"a source twice: {seen.sources}"


def _refused(message: Json) -> Iterator[str]:
    """Objections of slack_sdk's own models, and pings."""
    for block in Block.parse_all(message["blocks"]):
        if block is None:
            yield "a block that slack_sdk does not know"
        else:
            block.validate_json()
    if _PING.search(message["text"]) or {"link_names", "parse"} & message.keys():
        yield "a ping in the notification"
    read_again = [block for block in message["blocks"] if block["type"] != "rich_text"]
    yield from (f"a ping: {text}" for text in strings(read_again) if _PING.search(text))
