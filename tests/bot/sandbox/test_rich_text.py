"""Markdown as Slack hands it back, and typed text as its clients send it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from slack_sdk.models.blocks import Block

from bot.sandbox.events.read_back import from_markdown, translated
from bot.sandbox.events.translation import escape, typed_blocks, unescape
from bot.sandbox.webapi.block_rules import strings
from tests.bot.sandbox.conftest import Json


def section(*elements: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(elements)}


def text(words: str, **style: bool) -> Json:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


@pytest.mark.parametrize(
    ("markdown", "elements"),
    [
        ("a **b** *c* ~~d~~ `e`", [section(
            text("a "), text("b", bold=True), text(" "), text("c", italic=True), text(" "),
            text("d", strike=True), text(" "), text("e", code=True))]),
        ("one\n\ntwo", [section(text("one"), text("\n\n"), text("two"))]),
        ("```sh\na <b>\n```", [{"type": "rich_text_preformatted", "border": 0,
                               "elements": [text("a <b>")]}]),
        ("> q\n> r", [{"type": "rich_text_quote", "elements": [text("q"), text("\n"), text("r")]}]),
        ("1. a\n2. b", [{"type": "rich_text_list", "style": "ordered", "indent": 0, "border": 0,
                         "elements": [section(text("a")), section(text("b"))]}]),
        ("- a\n  - b", [
            {"type": "rich_text_list", "style": "bullet", "indent": 0, "border": 0,
             "elements": [section(text("a"))]},
            {"type": "rich_text_list", "style": "bullet", "indent": 1, "border": 0,
             "elements": [section(text("b"))]}]),
        ("<!here> <@U0SAM> <#C0X>", [section(
            {"type": "broadcast", "range": "here"}, text(" "),
            {"type": "user", "user_id": "U0SAM"}, text(" "),
            {"type": "channel", "channel_id": "C0X"})]),
        ("[\\[id-0\\]](https://a.test/#L1)", [section(
            {"type": "link", "url": "https://a.test/#L1", "text": "[id-0]"})]),
        ("![alt](https://a.test/i.png)", [section(
            {"type": "link", "url": "https://a.test/i.png", "text": "alt"})]),
    ],
)  # fmt: skip
def test_markdown_becomes_rich_text(markdown: str, elements: list[Json]) -> None:
    assert from_markdown(markdown) == [{"type": "rich_text", "elements": elements}]


def test_one_markdown_block_becomes_many() -> None:
    markdown = "# Title\n\n| a | `b` |\n|---|---|\n| 1 | 2 |\n\n---\n\nend"
    blocks = translated([{"type": "markdown", "text": markdown}, {"type": "divider"}])
    assert [block["type"] for block in blocks] == [
        "header",
        "table",
        "divider",
        "rich_text",
        "divider",
    ]
    assert blocks[1]["rows"][0] == snapshot(
        [
            {"type": "raw_text", "text": "a"},
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [{"type": "text", "text": "b", "style": {"code": True}}],
                    }
                ],
            },
        ]
    )
    assert len({block["block_id"] for block in blocks}) == 5


@given(st.text(alphabet=st.sampled_from("ab1 \n#-*_`>|[]()!~.:<@"), max_size=80))
def test_any_markdown_becomes_blocks_that_slack_knows_and_keeps_its_words(markdown: str) -> None:
    blocks = from_markdown(markdown)
    for block in blocks:
        assert Block.parse(json.loads(json.dumps(block))) is not None
    letters = "".join(strings(blocks, "text"))
    for word in ("a1b", "b1a"):
        if word in markdown and "[" not in markdown and "<" not in markdown:
            assert word in letters


def test_typed_text_comes_with_its_elements() -> None:
    typed = "<@U0SAM> see <https://a.test/?x=1&amp;y=2|this> &lt;5 :eyes: <!subteam^S0ON> 12:30:45"
    assert typed_blocks(typed)[0]["elements"][0]["elements"] == [
        {"type": "user", "user_id": "U0SAM"},
        {"type": "text", "text": " see "},
        {"type": "link", "url": "https://a.test/?x=1&y=2", "text": "this"},
        {"type": "text", "text": " <5 "},
        {"type": "emoji", "name": "eyes"},
        {"type": "text", "text": " "},
        {"type": "usergroup", "usergroup_id": "S0ON"},
        {"type": "text", "text": " 12:30:45"},
    ]


@given(st.text())
def test_escaping_is_undone_exactly(given_text: str) -> None:
    assert unescape(escape(given_text)) == given_text
