"""Nested parts of an answer that are longer than a message."""

import re
from itertools import pairwise

import pytest

from bot.blocks import render_answer
from tests.bot.blocks.answers import answer
from tests.bot.blocks.limits import broken_limits
from tests.bot.blocks.shown import shown

WORDS = "word " * 15


def nested(items: int, *, first: str = "- ") -> str:
    """A step with so many parts of its own, between two other steps."""
    marks = [f"{n}. " if first == "1. " else first for n in range(1, items + 1)]
    parts = "\n".join(f"   {mark}part {n} {WORDS}" for n, mark in enumerate(marks))
    return f"1. before\n2. step:\n{parts}\n3. after"


@pytest.mark.parametrize("first", ["- ", "1. "])
def test_parts_of_a_step_stay_below_it_in_every_message(first: str) -> None:
    messages = render_answer(answer(nested(400, first=first)))
    depths = [depth for depth, text in shown(messages).depths if "part" in text]
    outer = min(depth for depth, _ in shown(messages).depths)
    assert len(messages) > 2
    assert set(depths) == {outer + 1}


def test_steps_and_their_parts_keep_their_numbers() -> None:
    result = shown(render_answer(answer(nested(400, first="1. "))))
    numbers = [int(number) for number in re.findall(r"(\d+)\. part", result.text)]
    assert numbers == list(range(1, 401))
    assert "3. after" in result.text


def test_no_item_is_lost_or_doubled_however_deep_the_list() -> None:
    items = [f"{'  ' * (n % 20)}- item{n} [oncall/queues-1]" for n in range(400)]
    messages = render_answer(answer("\n".join(items)))
    assert re.findall(r"item\d+", shown(messages).text) == [f"item{n}" for n in range(400)]
    assert len(shown(messages).links) == 400
    assert [broken_limits(message) for message in messages] == [[]] * len(messages)
    assert len(messages) < 20


def test_code_in_a_quote_is_a_block_of_its_own_after_a_cut_too() -> None:
    lines = [f"cmd {n} --flag" for n in range(900)]
    text = "> First:\n> ```sh\n" + "\n".join(f"> {line}" for line in lines) + "\n> ```"
    fences = shown(render_answer(answer(text))).fences
    assert [line for fence in fences for line in fence.split("\n")] == lines
    assert len(fences) > 1


def test_neither_a_word_nor_a_line_of_code_is_cut_if_it_fits_into_the_next_message() -> None:
    line = "x" * 3_000
    text = "\n".join(f"{'  ' * (n % 7)}- item{n} some words" for n in range(500))
    messages = render_answer(answer(f"{text}\n\n```\n{line}\n{line}\n```"))
    result = shown(messages)
    assert re.findall(r"item\d+", result.text) == [f"item{n}" for n in range(500)]
    assert [cut for fence in result.fences for cut in fence.split("\n")] == [line, line]
    assert [broken_limits(message) for message in messages] == [[]] * len(messages)


def test_paragraphs_of_an_item_are_no_items_of_their_own_in_rich_text() -> None:
    text = "1. one\n\n   more\n\n   ```\n   ls\n   ```\n\n   below\n2. two\n   - sub\n\n     more"
    result = shown(render_answer(answer(text)))
    items = [(depth, words.strip()) for depth, words in result.depths]
    assert items == [(0, "1. one\nmore"), (0, "2. two"), (1, "sub\nmore")]
    assert "below" in result.text


def test_a_table_below_a_list_in_an_item_is_not_read_as_more_of_that_list() -> None:
    text = "- one\n  - two\n\n  | a | b |\n  |---|---|\n  | c | d |"
    [message] = render_answer(answer(text))
    items = [(depth, words.strip()) for depth, words in shown([message]).depths]
    assert items == [(0, "one"), (1, "two"), (2, "a | b"), (2, "c | d")]


@pytest.mark.parametrize("end", [".", "。", "", "\n"])
def test_a_citation_stays_in_the_message_of_what_it_is_for(end: str) -> None:
    text = " ".join(f"Some fact, number {n}{end} [oncall/queues-1]" for n in range(600))
    messages = render_answer(answer(text))
    assert len(messages) > 2
    assert not any(shown([message]).text.startswith("[") for message in messages)


def test_an_endless_name_of_a_language_breaks_no_limit() -> None:
    [message] = render_answer(answer(f"```{'x' * 20_000}\nls\n```"))
    assert broken_limits(message) == []


def test_a_paragraph_below_an_item_is_not_taken_for_more_of_it() -> None:
    text = "- one\n\n  below one\n\n  5. five\n- two\n  ```\n  ls\n  ```\n  below the code"
    messages = render_answer(answer(text))
    result = shown(messages)
    lines = [line for line in result.text.split("\n") if line.strip()]
    assert lines == ["one", "below one", "5. five", "two", "ls", "below the code"]
    assert all(one < other for one, other in pairwise(map(result.text.index, lines)))
