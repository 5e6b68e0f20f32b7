"""A stream only adds: the body of an answer so far is the beginning of the whole body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.blocks import render_body
from bot.blocks.growth import growth, settled
from tests.bot.blocks.answers import answer
from tests.bot.blocks.limits import refused_by_the_sandbox
from tests.bot.blocks.shown import shown
from tests.bot.stage import Json

BLOCKS = [
    "Drain it with `qctl drain --all` [oncall/queues-1].",
    "- one [limits.txt-0]",
    "- two\n  more of it [limits.txt-0]",
    "1. first [limits.txt-0]",
    "```bash\nqctl drain --all\n```",
    "```\n<!channel> &amp; <https://evil.example.com|here>\n```",
    "> quoted [limits.txt-0]",
    "| a | b |\n|---|---|\n| 1 | 2 [limits.txt-0] |",
    "## Heading",
    "Line one\nline two [limits.txt-0]",
    "word " * 300 + "[limits.txt-0].",
]


@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=20), st.data())
def test_the_body_of_the_first_paragraphs_is_a_beginning_of_the_whole_body(
    blocks: list[str], data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(blocks)))
    some, everything = ("\n\n".join(part) for part in (blocks[:count], blocks))
    first = settled(render_body(answer(some))[0])
    last, *_ = render_body(answer(everything))
    if blocks[count - 1].startswith("##"):
        return  # a heading is never the last that is shown
    chunks = growth(first, last)
    assert chunks is not None
    assert parts(grown(first, chunks)) == parts(last)
    assert all(list(refused_by_the_sandbox(chunk)) == [] for chunk in chunks)


def grown(blocks: list[Json], chunks: list[Json]) -> list[Json]:
    """As Slack puts chunks to what is there."""
    return [*blocks, *(block for chunk in chunks for block in chunk["blocks"])]


def parts(blocks: list[Json]) -> list[Json]:
    """Blocks, with each item of a list for itself: a list may go on in another block."""
    found: list[Json] = []
    for block in blocks:
        for element in block["elements"] if block["type"] == "rich_text" else [block]:
            items = element["elements"] if element["type"] == "rich_text_list" else []
            numbered = element.get("style") == "ordered"
            for number, item in enumerate(items, element.get("offset", 0)):
                found.append({"indent": element["indent"], "at": numbered and number, "is": item})
            found += [] if items else [element]
    return found


ITEMS = "1. one [limits.txt-0]\n2. two\n   - deep [limits.txt-0]\n   - deeper [limits.txt-0]\n"


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        ("1. one [limits.txt-0]", f"{ITEMS}3. three", "2. two deep [limits.txt-0] deeper"),
        (ITEMS, f"{ITEMS}   ```\n   ls\n   ```\n3. three", "ls 3. three"),
        (ITEMS, f"{ITEMS}   - deepest", "deepest"),
    ],
)
def test_a_list_at_the_end_grows_by_its_new_items(before: str, now: str, text: str) -> None:
    [first], [last] = render_body(answer(before)), render_body(answer(now))
    [chunk] = growth(first, last) or []
    assert " ".join(shown([chunk]).text.split()).startswith(text)
    assert parts(grown(first, [chunk])) == parts(last)


@pytest.mark.parametrize("end", ["| a | b |\n|---|---|\n| 1 | 2 |", "> quoted"])
def test_what_cannot_grow_in_a_stream_waits_until_it_is_whole(end: str) -> None:
    [body] = render_body(answer(f"Before.\n\n{end}"))
    assert settled(body) == body[:1]
    [body] = render_body(answer(f"Before.\n\n{end}\n\nAfter."))
    assert settled(body) == body


def test_an_answer_that_begins_anew_does_not_grow() -> None:
    [one], [other] = render_body(answer("One.\n\nTwo.")), render_body(answer("Other."))
    assert growth(one, other) is None
    assert growth(other, one) is None
