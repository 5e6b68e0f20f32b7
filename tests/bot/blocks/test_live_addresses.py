"""An address in an answer can be clicked only if the whole of it is in a retrieved passage."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.blocks import render_answer
from bot.reading.message import message_text
from bot.reading.plain_form import links_of, plain_parts
from tests.bot.blocks.answers import DRAIN, answer
from tests.bot.blocks.linker import live_in, live_in_blocks, live_in_text
from tests.bot.blocks.shown import shown

PAGE = replace(
    DRAIN,
    text="Boards are on graphs.acme.test, 163.test and "
    "[one](https://boards.acme.test/q?id=7&b=(x)), mail ops@acme.test.",
)
OF_THE_PAGE = {
    "graphs.acme.test",
    "163.test",
    "https://boards.acme.test/q?id=7&b=(x)",
    "ops@acme.test",
    DRAIN.url,
}


def live(text: str) -> set[str]:
    """Every address that the messages of an answer make live, in each form that is sent."""
    found: set[str] = set()
    for message in render_answer(answer(text, passages=(PAGE,))):
        found |= live_in_blocks(message["blocks"])
        found |= live_in(message["text"], joined=False)
        for part in plain_parts(message_text(message, limit=None), live=links_of(message)):
            found |= live_in_text(part)
    return found


@pytest.mark.parametrize(
    "address",
    [
        "graphs.acme.test/c?d=SECRET",
        "graphs.acme.test:8443",
        "graphs.acme.test,SECRET",
        "graphs.acme.test(SECRET)",
        "graphs.acme.test#SECRET",
        "SECRET@graphs.acme.test",
        "SECRET.graphs.acme.test",
        "163.test/c?d=SECRET",
        "-evil.test/x",
        "evil.xn--p1ai/x",
        "WWW.EVIL.TEST/x",
        "evil.test./x",
        "ftp://evil.test",
        "slack://evil/x",
        "HTTPS://evil/x",
        "https://boards.acme.test/q?id=7&b=(x)&c=SECRET",
        "https://boards.acme.test/q",
        "https://boards.acme.test/q?id=7&b=(x)_",
        "ev\u00adil.test/SECRET",
        "ev\u2060il.test/SECRET",
        "evil\u200b.test/SECRET",
        "evil\uff0etest/SECRET",
        "ｅｖｉｌ.ｔｅｓｔ/SECRET",
        "graphs.acme.test\u200d/SECRET",
        "graphs.acme.test\ufe0f/SECRET",
        "evil.**test/SECRET**",
        "ev*il.te*st/x",
        "evil&#46;test/x",
        "evil\\.test/x",
        "10.20.30.40/x",
        "mailto:x@evil.test",
        "`` a`evil.test/x`b ``",
        "`a` ` `evil.test",
        "a ` evil.test",
    ],
)
@pytest.mark.parametrize(
    "place",
    ["{}", "see ({}).", "## {}", "> {}", "- {}", "| a | b |\n|---|---|\n| {} | x |", "**x {}**"],
)
def test_an_address_that_no_passage_has_whole_is_never_live(place: str, address: str) -> None:
    assert live(place.replace("{}", address)) <= OF_THE_PAGE


@pytest.mark.parametrize(
    "text",
    [
        "Open graphs.acme.test, then mail ops@acme.test.",
        "Open https://boards.acme.test/q?id=7&b=(x).",
        "Open [it](https://boards.acme.test/q?id=7&b=(x)) on (163.test)!",
        "Open **graphs.acme.test**: it shows 1.5 of 20, see v1.2.3 of 12:30, e.g. pay-7.",
    ],
)
def test_an_address_of_a_passage_stays_as_it_is(text: str) -> None:
    messages = render_answer(answer(text, passages=(PAGE,)))
    assert shown(messages).spans == []
    assert live(text) & OF_THE_PAGE


def test_an_address_that_is_not_live_can_be_read_and_copied() -> None:
    result = shown(render_answer(answer("Call evil.test/x?y=1, then (https://evil.test/z).")))
    assert result.spans == ["evil.test/x?y=1", "https://evil.test/z"]
    assert result.text.strip() == "Call evil.test/x?y=1, then (https://evil.test/z)."


def test_the_plain_form_shows_an_address_that_is_not_live_as_code() -> None:
    text = "Call evil.test/x, `evil.test/y` and graphs.acme.test [oncall/queues-1]."
    text += "\n\n```\ncurl evil.test\n```"
    [message] = render_answer(answer(text, passages=(PAGE,)))
    plain = "\n".join(plain_parts(message_text(message, limit=None), live=links_of(message)))
    assert "Call `evil.test/x`, `evil.test/y` and graphs.acme.test" in plain
    assert "```\ncurl evil.test\n```" in plain
    assert f"[oncall/queues-1] ({DRAIN.url})" in plain


def test_a_fence_within_a_code_block_does_not_end_it_in_the_plain_form() -> None:
    text = "````\na ``` evil.test/x\n```\nhttps://evil.test/y\n````"
    assert live(text) <= OF_THE_PAGE


PIECE = st.sampled_from(
    [
        *(
            "evil",
            ".",
            "test",
            "com",
            "/",
            "SECRET",
            ":",
            "//",
            "https:",
            "@",
            "-",
            "xn--p1ai",
            "www",
        ),
        *("163", "10.0.0.1", "graphs.acme.test", "https://boards.acme.test/q?id=7&b=(x)", "ops"),
        *("\u00ad", "\u2060", "\u200b", "\u200d", "\ufe0f", "\uff0e", "\u2024", "\u202e", "\u0301"),
        *("*", "**", "_", "~~", "`", "``", "```", "\n", "\n\n", "> ", "| ", "|---|\n", "- ", "## "),
        *("(", ")", "[", "]", "](", "<", ">", "|", ",", ";", "'", '"', "&#46;", "&#91;", "\\", " "),
        *("é", "漢", "。", "[oncall/queues-1]", "word "),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECE, max_size=25).map("".join))
@example("evil.te\u0301st/x")
def test_no_answer_makes_an_address_live_that_no_passage_has(text: str) -> None:
    assert live(text) <= OF_THE_PAGE
