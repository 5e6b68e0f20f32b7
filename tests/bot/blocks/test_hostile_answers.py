"""Answers of any shape and length, and texts that mean harm, as Slack messages."""

import re
import string
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from bot.blocks import render_answer
from tests.bot.blocks.answers import DRAIN, answer
from tests.bot.blocks.limits import AROUND, LITERAL, broken_limits, refused_by_the_sandbox
from tests.bot.blocks.shown import shown
from tests.waiting import cpu_seconds

WORD = st.text(string.ascii_letters + string.digits, min_size=1, max_size=12)
SENTENCE = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
NONCHARACTERS = "".join(map(chr, range(0xFDD0, 0xFDDA)))
"""Those in which anchors are written; no text has them."""
CODE = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters=NONCHARACTERS)
    | st.sampled_from("`~<>&|*_\t\n"),
    min_size=1,
    max_size=300,
).filter(lambda code: code.strip("\n"))


def fenced(code: str) -> str:
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{ticks}\n{code}\n{ticks}"


PIECE = st.one_of(
    SENTENCE,
    SENTENCE.map(lambda text: f"## {text}"),
    st.lists(SENTENCE, min_size=1, max_size=40).map(
        lambda items: "\n".join(f"- {i}" for i in items)
    ),
    st.lists(SENTENCE, min_size=1, max_size=9).map(
        lambda lines: "\n".join(f"> {i}" for i in lines)
    ),
    st.lists(SENTENCE, min_size=1, max_size=200).map(" ".join),
    SENTENCE.map(lambda text: f"**{text}** _{text}_ ~~{text}~~ [oncall/queues-1]"),
    CODE.map(fenced),
    st.tuples(SENTENCE, SENTENCE).map(lambda two: f"| a | b |\n|---|---|\n| {two[0]} | {two[1]} |"),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECE, min_size=1, max_size=40))
def test_no_word_is_lost_or_doubled_however_long_the_answer(pieces: list[str]) -> None:
    text = "\n\n".join(pieces)
    messages = render_answer(answer(text))
    plain = re.sub(r"^[`]{3,}$", "", text, flags=re.MULTILINE)
    tables = sum(message_tables(message) for message in messages)
    assert tables == text.count("|---|---|\n") or "```" in text
    assert "".join(re.findall(r"[a-z0-9]+", shown(messages).text, re.IGNORECASE)) == "".join(
        re.findall(r"[a-z0-9]+", plain, re.IGNORECASE)
    )


def message_tables(message: dict[str, Any]) -> int:
    return sum(block["type"] == "table" for block in message["blocks"])


@settings(max_examples=150, deadline=None)
@given(st.lists(CODE, min_size=1, max_size=5))
def test_code_is_shown_byte_for_byte(codes: list[str]) -> None:
    text = "\n\nand\n\n".join(map(fenced, codes))
    assert shown(render_answer(answer(text))).fences == codes


MARKUP = st.text(
    st.sampled_from("ab 1\n\n\t*_`~[]()<>!#@|&;:-+.=\\/\"'{}^$%0é漢🧯\u200d\u202e\u2028")
    | st.characters(codec="utf-8"),
    max_size=400,
)
SNIPPET = st.sampled_from(
    [
        "<!channel>",
        "<@U0KIM>",
        "<!subteam^S1|x>",
        "<https://evil.test|ok>",
        "[a](https://evil.test/?q=1)",
        "![a](https://evil.test/p.png)",
        "<img src=https://evil.test>",
        "https://evil.test/__x__",
        "www.evil.test",
        "[oncall/queues-1](https://evil.test)",
        "[oncall/queues-1]: https://evil.test",
        "[oncall/queues-1]",
        "[limits.txt-0, oncall/queues-1]",
        "| a | b |\n|---|---|\n| `x|y` | <!here> |\n",
        "\n> - 1. # x\n",
        "\n```\nx\n",
        "javascript:alert(1)",
        "[x](javascript:alert(1))",
        "&lt;!channel&gt;",
        "&#60;!here&#62;",
        "\\<!here>",
    ]
)
ELSEWHERE = re.compile(r"evil\.test(?!\w)")
"""Hosts end in letters: with a digit behind it, it is another word and no host."""
HOSTILE = st.lists(SNIPPET | MARKUP, max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(HOSTILE)
@example("[oncall/queues-1]: https://evil.test0\x7f")
def test_no_text_pings_links_elsewhere_or_breaks_a_limit(text: str) -> None:
    messages = render_answer(answer(text))
    for message in messages:
        assert broken_limits(message) == []
        for block in Block.parse_all(message["blocks"]):
            block.validate_json()
        assert not re.search("<[@!#]", message["text"])
        assert not ELSEWHERE.search(message["text"])
        assert {block["type"] for block in message["blocks"]} <= LITERAL | AROUND
        assert list(refused_by_the_sandbox(message)) == []
    result = shown(messages)
    assert {url for _, url in result.links} <= {DRAIN.url}
    assert not ELSEWHERE.search(result.prose)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.sampled_from(["> ", "- ", "1. "]), st.integers(1, 400))
def test_deep_nesting_and_long_words_keep_the_limits(depth: int, mark: str, words: int) -> None:
    text = mark * depth + "deep " + "w" * words * 100
    messages = render_answer(answer(text))
    assert [broken_limits(message) for message in messages] == [[]] * len(messages)
    assert shown(messages).text.count("w") == words * 100


def test_four_times_as_many_items_take_about_four_times_as_long() -> None:
    def cost(items: int) -> float:
        text = "\n".join(f"- item {n} [oncall/queues-1]" for n in range(items))
        return cpu_seconds(lambda: render_answer(answer(text)), runs=5)

    assert cost(1_200) < 9 * cost(300)


def test_brackets_that_never_close_cost_about_as_much_as_those_that_never_open() -> None:
    def cost(text: str) -> float:
        said = answer(text * 8_000)
        return cpu_seconds(lambda: render_answer(said), runs=2)

    assert cost("[") < 12 * cost("]")


def test_a_link_after_some_open_brackets_is_still_a_link() -> None:
    result = shown(render_answer(answer(f"{'[' * 9} see [it]({DRAIN.url}) [oncall/queues-1].")))
    assert (result.links[0]) == ("it", DRAIN.url)


@pytest.mark.parametrize(
    "id_", ["&#91;pay-7&#93;", "&#x5B;pay-7&#x5d;", "&lbrack;pay-7&rbrack;", "&lsqb;pay-7&#093;"]
)
def test_entities_of_brackets_do_not_look_like_a_citation(id_: str) -> None:
    text = shown(render_answer(answer(f"Wait {id_} &amp; drain [oncall/queues-1]."))).text
    assert text.strip() == f"Wait {id_} & drain [oncall/queues-1]."
