"""Citations of segments are shown wherever a segment ends; brackets of the text are only text."""

from dataclasses import replace

import pytest

from agent.answer import Answer, Citation, Segment
from bot.blocks import render_answer
from tests.bot.blocks.answers import DRAIN, FOLDER
from tests.bot.blocks.shown import Shown, shown

ID = DRAIN.id
LINK = (f"[{ID}]", DRAIN.url)
CITE = (Citation(ID),)


def shows(*segments: Segment) -> Shown:
    said = Answer("a1b2", "?", "answered", segments, passages=(DRAIN, FOLDER))
    return shown(render_answer(said))


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("Drain it ", ".", f"Drain it [{ID}]."),
        ("Drain it (", ").", f"Drain it ([{ID}])."),
        ("**Drain it.**", " Then wait.", f"Drain it.[{ID}] Then wait."),
        ("- Drain it ", "\n- Wait", f"Drain it [{ID}] Wait"),
        ("| a | b |\n|---|---|\n| 1 | 2 ", " |", f"a b 1 2 [{ID}]"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "\n\nEnd", f"a b 1 2 |[{ID}] End"),
        ("```\nqctl drain\n```", "\nEnd", f"qctl drain [{ID}] End"),
        ("> ```\n> qctl drain\n> ```", "\n\nEnd", f"qctl drain [{ID}] End"),
        ("```\nqctl drain", "\nqctl wait\n```", f"qctl drain qctl wait [{ID}]"),
        ("Run `qctl drain", "` now", f"Run qctl drain [{ID}] now"),
        ("One.\n\n", "\n\nTwo.", f"One. [{ID}] Two."),
        ("Now!", "(see step 2)", f"Now![{ID}](see step 2)"),
        ("See [the board](https://graphs.acme.test/q", "?id=7).", f"See the board. [{ID}]"),
        ("![a", "](https://evil.test/p.png) End", f"a [{ID}] End"),
        ("![a](https://evil.test/p", ".png) End", f"a End [{ID}]"),
        (
            "Open https://graphs.acme.test/q?id=7",
            ".",
            f"Open https://graphs.acme.test/q?id=7[{ID}].",
        ),
        (
            "Open <https://graphs.acme.test/q?id=7",
            ">.",
            f"Open https://graphs.acme.test/q?id=7 [{ID}].",
        ),
        ("<a href='", "'>x</a>", f"[{ID}]x"),
        ("", "", f"[{ID}]"),
    ],
)
def test_a_citation_is_shown_and_linked_wherever_a_segment_ends(
    before: str, after: str, text: str
) -> None:
    result = shows(Segment(before, CITE), Segment(after))
    assert " ".join(result.text.split()) == text
    assert LINK in result.links
    assert not any(ID in code for code in result.codes)


def test_several_citations_of_a_segment_stay_apart() -> None:
    result = shows(Segment("Drain it ", (*CITE, Citation(FOLDER.id), *CITE)), Segment("."))
    assert result.text.strip() == f"Drain it [{ID}] [{FOLDER.id}] [{ID}]."
    assert result.links == [LINK, LINK]


def test_brackets_in_the_text_are_text() -> None:
    result = shows(Segment(f"See [{ID}], [x] and [gone-0] [{FOLDER.id}](https://evil.test/x)."))
    assert result.text.strip() == f"See [{ID}], [x] and [gone-0] {FOLDER.id} (evil.test)."
    assert result.links == []


def test_no_text_can_write_an_anchor() -> None:
    result = shows(Segment("A {\ufdd0} {\ufdd9\ufdd9}, {", CITE), Segment("\ufdd0} B"))
    assert result.text.strip() == f"A {{\ufffd}} {{\ufffd\ufffd}}, {{[{ID}]\ufffd}} B"


def test_a_chunk_that_is_not_among_the_passages_is_cited_without_a_link() -> None:
    segments = (Segment("Drain it ", (Citation("gone-0"),)),)
    said = replace(Answer("a1b2", "?", "answered", segments), passages=())
    assert shown(render_answer(said)).text.strip() == "Drain it [gone-0]"


def test_an_answer_nested_too_deep_for_markdown_keeps_its_citation() -> None:
    result = shows(Segment("> " * 100 + "deep ", CITE))
    assert "deep" in result.text
    assert result.links == [LINK]
