"""The model's message -> its text, with everything that the API says of a citation."""

from collections.abc import Sequence

import pytest
from anthropic.types import CitationsSearchResultLocation, ContentBlock, TextBlock, ThinkingBlock

from agent.answer import Citation, Segment, written
from agent.model.message_text import read_content
from tests.agent.conftest import Ask
from tests.agent.test_loop import search
from tests.fakes.script import Text, Turn

IDS = ("a-0", "b-0", "b-1")


def pointer(
    source: str, text: str = "…", start: int = 0, end: int = 1
) -> CitationsSearchResultLocation:
    return CitationsSearchResultLocation(
        type="search_result_location",
        source=source,
        title=None,
        cited_text=text,
        search_result_index=0,
        start_block_index=start,
        end_block_index=end,
    )


def block(text: str, *sources: str | CitationsSearchResultLocation) -> TextBlock:
    pointers = [pointer(each) if isinstance(each, str) else each for each in sources]
    return TextBlock(type="text", text=text, citations=list(pointers) or None)


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
        (
            [block("```\nls\n```", "a-0"), block("Then wait.", "b-0")],
            "```\nls\n```\n[a-0]\n\nThen wait [b-0].",
        ),
        (
            [block("```\nls\n``"), block("`", "a-0"), block("Then ``"), block("` ends.", "b-0")],
            "```\nls\n```\n[a-0]\n\nThen ``` ends [b-0].",
        ),
        ([block("Run:\n\n```"), block("sh\nls\n```", "a-0")], "Run:\n\n```sh\nls\n```\n[a-0]"),
        ([block("- one\n", "a-0"), block("- two", "b-0")], "- one [a-0]\n- two [b-0]"),
        ([ThinkingBlock(type="thinking", thinking="hm", signature="s"), block("Yes.")], "Yes."),
        ([], ""),
    ],
)
def test_pointers_become_ids_where_a_reader_expects_them(
    blocks: Sequence[ContentBlock], text: str
) -> None:
    assert written(read_content(blocks, IDS).text.segments) == text


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([block("Run `pg_ctl", "a-0"), block(" promote` now.")], "Run `pg_ctl promote` [a-0] now."),
        (
            [block("- Run:\n\n      ```\n      ls\n      ```", "a-0")],
            "- Run:\n\n      ```\n      ls\n      ```\n[a-0]",
        ),
        ([block("As `[a-0]` says.", "a-0")], "As `[a-0]` says [a-0]."),
        ([block("```\nls", "a-0")], "```\nls"),
        ([block("It is so.", "made-up-1"), block(" And so.", "a-0")], "It is so. And so [a-0]."),
        ([block("It is \ufdd0so.", "a-0")], "It is so [a-0]."),
        ([block("One [a-0] and [made-up-1] two.", "b-1")], "One [a-0] two [b-1]."),
    ],
)
def test_a_citation_never_ends_up_in_code_and_never_names_what_was_not_retrieved(
    blocks: Sequence[ContentBlock], text: str
) -> None:
    assert written(read_content(blocks, IDS).text.segments) == text


def test_the_words_and_the_paragraphs_that_the_api_names_are_kept() -> None:
    said = block("Valid for a day.", pointer("a-0", "24 hours.", 2, 4), pointer("b-1", "One day."))

    assert read_content([said], IDS).text.segments == (
        Segment(
            "Valid for a day ",
            (Citation("a-0", "24 hours.", (2, 3)), Citation("b-1", "One day.", (0,))),
        ),
        Segment("."),
    )


def test_two_pointers_to_one_passage_are_one_citation() -> None:
    said = block("Valid.", pointer("a-0", "24 hours."), pointer("a-0", "Both keys.", 3, 4))

    [first, _] = read_content([said], IDS).text.segments

    assert first.citations == (Citation("a-0", "24 hours.\nBoth keys.", (0, 3)),)


def test_an_id_that_the_model_writes_takes_the_words_of_the_pointer_to_it() -> None:
    said = block("Valid [a-0] for a day.", pointer("a-0", "24 hours."))

    assert read_content([said], IDS).text.segments == (
        Segment("Valid ", (Citation("a-0", "24 hours.", (0,)),)),
        Segment(" for a day."),
    )


def test_a_pointer_that_lacks_fields_or_has_absurd_ones_still_cites() -> None:
    bare = CitationsSearchResultLocation.construct(type="search_result_location", source="a-0")
    said = TextBlock.construct(type="text", text="It is so.", citations=[bare])
    [first, _] = read_content([said], IDS).text.segments
    assert first.citations == (Citation("a-0"),)

    [first, _] = read_content([block("So.", pointer("a-0", "x", 0, 10**12))], IDS).text.segments
    assert len(first.citations[0].paragraphs) == 100


@pytest.mark.parametrize("nested", ["", "- " * 10, "- " * 60, "> " * 200])
def test_a_pointer_to_what_was_never_retrieved_is_reported(nested: str) -> None:
    answer = read_content([block(f"{nested}It is so.", "made-up-1")], IDS)
    assert answer.removed == ("made-up-1",)
    assert not answer.text.citations


def test_the_answer_carries_the_words_that_the_api_quotes(ask: Ask, pay_4031: str) -> None:
    sentence = "PAY-4031 means that signature verification failed."
    said = Turn(text=[Text(sentence, cites=[pay_4031]), " That is all."])

    answer = ask([search(), said], citations="native").answer

    [citation] = answer.segments[0].citations
    assert citation.id == pay_4031
    assert citation.cited_text == "## Error PAY-4031\n\n"
    assert answer.to_json()["citations"][0]["quotes"] == [citation.cited_text]


def said(*texts: str) -> str:
    return written(read_content([block(text) for text in texts], IDS).text.segments)


@pytest.mark.parametrize(
    "hidden",
    [
        *"\u00ad\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufe00\ufe0f\ufeff\u3164\u034f\x1b\x9b",
        "\ufe0f\u200d",
        "\u200b\u200d",
        "\U000e0041\U000e0142",
        "\U0001d173",
    ],
)
def test_the_text_of_a_message_has_no_hidden_characters_in_code_and_elsewhere(hidden: str) -> None:
    text = "Run va{}ult or `ge{}t`:\n\n```\nge{}t a{}\n```"
    assert said(text.replace("{}", hidden)) == text.replace("{}", "")
    assert said("Run `ge", f"{hidden}t`.") == "Run `get`."


@pytest.mark.parametrize("blank", "\u00a0\u2002\u2007\u2009\u202f\u205f\u3000")
def test_a_blank_in_code_is_a_plain_one_and_prose_keeps_its_own(blank: str) -> None:
    text = "10{0}% of `a{1}b`\n\n```\na{1}b\n```"
    assert said(text.format(blank, blank)) == text.format(blank, " ")


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_every_kind_of_line_end_is_one(end: str) -> None:
    assert said(f"```\na{end}b\n```") == "```\na\nb\n```"


@pytest.mark.parametrize(
    "text", ["👩\u200d🚒 ☎\ufe0f ❤\ufe0f\u200d🔥", "می\u200cخواهم", "क\u094d\u200dष"]
)
def test_emoji_and_words_that_need_joiners_stay(text: str) -> None:
    assert said(f"1\ufe0f\u20e3 So: {text}") == f"1\ufe0f\u20e3 So: {text}"
    assert said(*text) == text
