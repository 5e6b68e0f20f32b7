"""Links of an answer: which ones are clickable, and how the others are shown."""

from dataclasses import replace

import pytest

from bot.blocks import render_answer, render_runbook
from bot.blocks.document_links import DocumentLinks
from bot.blocks.elements import section, shortened
from tests.bot.blocks.answers import DRAIN, answer
from tests.bot.blocks.shown import shown

PAGES = "https://git.acme.test/docs/blob/4f5e6d7/"
LINKING = replace(
    DRAIN, text="See [limits](../limits.md#soft), [on call](./README.md) and [x](../../out.md)."
)


def test_a_reference_link_leads_where_its_definition_says_if_a_passage_has_that_address() -> None:
    text = "See [the board][b] and [b] [oncall/queues-1].\n\n[b]: https://graphs.acme.test/q?id=7"
    result = shown(render_answer(answer(text)))
    assert result.links[:2] == [
        ("the board", "https://graphs.acme.test/q?id=7"),
        ("b", "https://graphs.acme.test/q?id=7"),
    ]
    assert result.text.strip() == "See the board and b [oncall/queues-1]."


def test_a_reference_link_to_a_foreign_address_is_its_label_and_an_inert_host() -> None:
    text = "See [the board][b] [oncall/queues-1].\n\n[b]: https://evil.test/x 'Title'"
    result = shown(render_answer(answer(text)))
    assert result.text.strip() == "See the board (evil.test) [oncall/queues-1]."
    assert {url for _, url in result.links} == {DRAIN.url}


@pytest.mark.parametrize(
    "line",
    [
        "[oncall/queues-1]: drain it",
        "[Board]: https://graphs.acme.test/q?id=7",
        "[PAY-4031]: restart [PAY-4031]",
    ],
)
def test_a_line_that_only_looks_like_a_definition_is_shown(line: str) -> None:
    said = answer(f"{line}\n\nEnd.", passages=(replace(DRAIN, text=f"{DRAIN.text} PAY-4031"),))
    assert shown(render_answer(said)).text.strip().startswith(line)


def test_a_link_from_page_to_page_opens_that_page() -> None:
    result = shown([render_runbook([LINKING], "its link")])
    assert result.links[:2] == [
        ("limits", f"{PAGES}limits.md#soft"),
        ("on call", f"{PAGES}oncall/README.md"),
    ]
    assert "x (../../out.md)" in result.text


def test_a_page_link_that_no_passage_has_or_that_two_folders_share_is_not_guessed() -> None:
    elsewhere = replace(LINKING, id="a-0", path="a/b/c.md", url=f"{PAGES}a/b/c.md")
    assert DocumentLinks((LINKING,)).address("./other.md") is None
    assert DocumentLinks((LINKING, elsewhere)).address("./README.md") is None
    assert DocumentLinks((replace(LINKING, url="https://[x/oncall/queues.md"),)).address(
        "./README.md"
    ) in (
        None,
        "https://[x/oncall/README.md",
    )


def test_a_scheme_that_runs_something_leaves_nothing_but_the_label() -> None:
    text = "[a](javascript:alert(1)) [b](vbscript:x) [c](slack://user?id=1) [limits.txt-0]"
    assert shown(render_answer(answer(text))).text.strip() == "a b c [limits.txt-0]"


@pytest.mark.parametrize("label", ["https://evil.test/x", "log in at https://evil.test now"])
def test_a_label_that_names_another_address_is_no_link(label: str) -> None:
    result = shown(render_answer(answer(f"See [{label}](https://graphs.acme.test/q?id=7).")))
    assert result.links == []
    assert "evil.test" not in result.prose
    assert "graphs.acme.test" in result.spans


def test_a_word_with_a_scheme_of_its_own_is_nothing_to_click_on() -> None:
    result = shown(render_answer(answer("Use slack://open?team=T1, then go on.")))
    assert result.spans == ["slack://open?team=T1"]


def test_the_address_of_a_citation_is_sent_whole_whatever_it_holds() -> None:
    odd = replace(DRAIN, url=f'{PAGES}a b|c"d)e\u202e.md')
    messages = render_answer(answer("Drain [oncall/queues-1].", passages=(odd,)))
    sent = f"{PAGES}a%20b%7Cc%22d%29e%E2%80%AE.md"
    assert shown(messages).links == [("[oncall/queues-1]", sent)]
    assert [url for _, url in shown(messages, own=True).links] == [sent]


def test_a_passage_whose_address_cannot_be_opened_is_cited_without_a_link() -> None:
    run = replace(DRAIN, url="javascript:alert(1)")
    messages = render_answer(answer("Drain [oncall/queues-1].", passages=(run,)))
    assert "javascript" not in str(messages)
    assert "[oncall/queues-1]" in shown(messages, own=True).text


def test_a_source_with_an_endless_name_is_still_listed() -> None:
    ident = f"{'d' * 700}/x-0"
    long = replace(DRAIN, id=ident, path=f"{'d' * 700}/x.md", url=f"{PAGES}{'d' * 700}/x.md")
    messages = render_answer(answer(f"Drain [{ident}].", passages=(long,)))
    [sources] = [b for b in messages[-1]["blocks"] if b.get("block_id") == "footnote_sources"]
    assert f"<{long.url}|[ddd" in sources["elements"][0]["text"]


@pytest.mark.parametrize("text", ["\u200b \u200d\n", "\u202e", "---", "\u2066\u00a0"])
def test_an_answer_that_nobody_can_see_says_that_there_is_none(text: str) -> None:
    assert shown(render_answer(answer(text))).text.strip().startswith("I have no answer to this.")


def test_controls_and_turned_directions_stay_only_in_code() -> None:
    text = "a\x07b\x1b \u202eevil\u202c\U000e0041 `rm \u202etxt` [limits.txt-0]"
    assert shown(render_answer(answer(text))).text.strip() == "ab evil rm \u202etxt [limits.txt-0]"


def test_a_source_too_long_for_the_list_does_not_hide_the_next_ones() -> None:
    long = replace(DRAIN, id="long-0", url=f"{PAGES}{'x' * 1_900}")
    messages = render_answer(answer("A [long-0]. B [oncall/queues-1].", passages=(long, DRAIN)))
    around = shown(messages, own=True)
    assert DRAIN.url in [url for _, url in around.links]
    assert "and 1 more, linked in the text" in around.text


def test_a_list_from_zero_counts_from_zero_where_slack_counts_from_one() -> None:
    messages = render_answer(answer("0. zero\n1. one"))
    assert shown(messages).text.split() == ["0.", "zero", "1.", "one"]


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("short", 10, "short"),
        ("line one\nline two\nline three", 22, "line one\nline two\n…"),
        ("some words <https://a.test|a label> more", 34, "some words …"),
        ("a &lt;b&gt; &amp;&amp;&amp;", 16, "a &lt;b&gt; …"),
    ],
)
def test_a_text_that_is_too_long_is_cut_after_a_whole_line_word_or_link(
    text: str, limit: int, kept: str
) -> None:
    assert shortened(text, limit) == kept
    assert len(shortened(text, limit)) <= limit


def test_a_section_never_has_more_than_slack_takes() -> None:
    assert len(section("word <https://a.test|x> " * 900)["text"]["text"]) <= 3_000
