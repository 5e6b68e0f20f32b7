"""Passages as the model reads them."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.passages import paragraphs, passage_blocks
from ingest.documents import Passage, Place

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


def test_a_passage_says_its_edition_and_where_else_its_text_is() -> None:
    places = (
        Place("v1.15/runbook.md", (3, 9), "v1.15/runbook-0", "1.15", differs=True),
        Place("teams/a/runbook.md", (1, 7), "teams/a/runbook-0"),
    )
    passage = replace(PASSAGE, version="1.14", language="de", places=places)
    says = "version 1.14; translation (de); also in 1.15 (differing), teams/a/runbook.md"

    [block] = passage_blocks([passage], {}, native=True)
    [other] = passage_blocks([passage], {}, native=False)

    assert f"| {says} |" in block["title"]
    assert json.loads(other["text"])["passages"][0]["edition"] == says


def test_many_places_are_counted() -> None:
    places = tuple(Place(f"teams/{n}.md", (1, 2)) for n in range(9))
    [block] = passage_blocks([replace(PASSAGE, places=places)], {}, native=True)

    assert "teams/5.md, 3 more places" in block["title"]


@given(st.text(alphabet="ab `~\n\t#-", max_size=200))
def test_paragraphs_lose_nothing_and_are_never_blank(text: str) -> None:
    parts = paragraphs(text)

    assert all(part.strip() for part in parts)
    assert "".join("".join(parts).split()) in ("".join(text.split()), "(empty)")
