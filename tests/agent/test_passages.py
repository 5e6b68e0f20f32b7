"""Passages as the model reads them."""

from hypothesis import given
from hypothesis import strategies as st

from agent.passages import paragraphs, passage_blocks
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
