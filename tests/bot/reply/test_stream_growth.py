"""What a stream adds: the body of an answer so far is a beginning of the whole body."""

from hypothesis import given
from hypothesis import strategies as st

from bot.blocks import render_body
from bot.reply.stream import growth
from tests.bot.blocks.answers import answer
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
    first, *_ = render_body(answer(some))
    last, *_ = render_body(answer(everything))
    if blocks[count - 1].startswith("##"):
        return  # a heading is never the last that is shown
    chunks = growth(first, last)
    assert chunks is not None
    assert grown(first, chunks) == last


def grown(blocks: list[Json], chunks: list[Json]) -> list[Json]:
    """As Slack puts chunks to what is there."""
    found = [dict(block) for block in blocks]
    for chunk in chunks:
        if chunk["type"] == "blocks":
            found += chunk["blocks"]
        elif found and found[-1]["type"] == "markdown":
            found[-1]["text"] += chunk["text"]
        else:
            found.append({"type": "markdown", "text": chunk["text"]})
    return found
