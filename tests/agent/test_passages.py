"""Passages out to the model, its content blocks back to Markdown."""

from collections.abc import Sequence

import pytest
from anthropic.types import CitationsSearchResultLocation, ContentBlock, TextBlock, ThinkingBlock
from hypothesis import given
from hypothesis import strategies as st

from agent.passages import paragraphs, passage_blocks, reply_text
from ingest.documents import Passage

PASSAGE = Passage(
    id="runbook-0",
    path="runbook.md",
    title="Runbook",
    heading=("Runbook", "Roll back"),
    lines=(3, 9),
    text="First.\n\n```sh\na\n\nb\n```\nafter\n\n\nLast.\n",
    hash="h",
    distance=0.3141,
)


def block(text: str, *sources: str) -> TextBlock:
    citations = [
        CitationsSearchResultLocation(
            type="search_result_location",
            source=source,
            title=None,
            cited_text="…",
            search_result_index=0,
            start_block_index=0,
            end_block_index=1,
        )
        for source in sources
    ]
    return TextBlock(type="text", text=text, citations=list(citations) or None)


def test_a_native_passage_is_a_search_result_with_one_block_a_paragraph() -> None:
    [found] = passage_blocks([PASSAGE], {"weak": True, "note": "Weak."}, native=True)

    assert found == {
        "type": "search_result",
        "source": "runbook-0",
        "title": "runbook.md > Runbook > Roll back | lines 3-9 | distance 0.31 (weak match)"
        " | Weak.",
        "content": [
            {"type": "text", "text": "First.\n\n"},
            {"type": "text", "text": "```sh\na\n\nb\n```\nafter\n\n\n"},
            {"type": "text", "text": "Last.\n"},
        ],
        "citations": {"enabled": True},
    }


def test_without_native_citations_passages_are_json_with_their_distances() -> None:
    [found] = passage_blocks([PASSAGE], {"query": "roll back"}, native=False)

    assert found["text"] == (
        '{\n "query": "roll back",\n "passages": [\n  {\n   "id": "runbook-0",\n'
        '   "source": "runbook.md",\n   "heading": [\n    "Runbook",\n    "Roll back"\n   ],\n'
        '   "lines": [\n    3,\n    9\n   ],\n   "distance": 0.314,\n'
        '   "text": "First.\\n\\n```sh\\na\\n\\nb\\n```\\nafter\\n\\n\\nLast.\\n"\n  }\n ]\n}'
    )


@given(st.text(alphabet="ab `~\n\t#-", max_size=200))
def test_paragraphs_lose_nothing_and_are_never_blank(text: str) -> None:
    parts = paragraphs(text)

    assert all(part.strip() for part in parts)
    assert "".join("".join(parts).split()) in ("".join(text.split()), "(empty)")


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([block("Valid for 24 hours.", "a-0")], "Valid for 24 hours [a-0]."),
        (
            [block("Valid for 24 hours", "a-0"), block(". Then revoke.")],
            "Valid for 24 hours [a-0]. Then revoke.",
        ),
        ([block("Both say so.", "a-0", "b-1", "a-0")], "Both say so [a-0] [b-1]."),
        ([block("One [a-0].", "a-0")], "One [a-0]."),
        (
            [block("Run:\n```sh\nls\n```\n", "a-0"), block("Done.")],
            "Run:\n```sh\nls\n```\n[a-0]\nDone.",
        ),
        ([block("```sh\nls", "a-0"), block(" -l\n```", "b-0")], "```sh\nls -l\n```\n[a-0] [b-0]"),
        (
            [block("| a | b |", "a-0"), block("\n| c | d |\n", "b-0")],
            "| a | b [a-0] |\n| c | d [b-0] |",
        ),
        ([block("- one\n", "a-0"), block("- two", "b-0")], "- one [a-0]\n- two [b-0]"),
        ([ThinkingBlock(type="thinking", thinking="hm", signature="s"), block("Yes.")], "Yes."),
        ([], ""),
    ],
)
def test_pointers_become_ids_where_a_reader_expects_them(
    blocks: Sequence[ContentBlock], text: str
) -> None:
    assert reply_text(blocks) == text
