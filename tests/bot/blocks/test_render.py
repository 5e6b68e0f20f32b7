"""Answers as the Slack messages that carry them."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from agent.answer import Verdict, WebLink
from bot.blocks import render_answer, render_json
from ingest.errors import SettingsError
from tests.bot.blocks.answers import answer
from tests.bot.blocks.shown import shown

NOW = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "verdict", ["partly", "uncited", "not_in_docs", "retrieval_only", "failed"]
)
def test_every_verdict_but_answered_is_told_first(verdict: Verdict) -> None:
    messages = render_answer(answer("Some text.", verdict, reason="Budget spent."))
    first = messages[0]["blocks"][0]
    assert first["block_id"] == "footnote_verdict"
    assert "Budget spent." in first["elements"][0]["text"]


def test_an_old_index_is_said_to_be_old() -> None:
    render = partial(render_answer, answer("x [limits.txt-0]"), ingested_at=NOW - timedelta(3))
    old = render(now=NOW, stale_after=timedelta(2))
    assert "last read 3 days ago" in shown(old, own=True).text
    fresh = render(now=NOW, stale_after=timedelta(4))
    assert "last read" not in shown(fresh, own=True).text


def test_what_an_index_still_lacks_is_said_under_the_answer() -> None:
    lacks = "The docs are still being read: 1,200 of 9,753 pages so far."
    messages = render_answer(answer("x [limits.txt-0]"), growth=lacks)
    assert lacks in shown(messages, own=True).text


def test_a_citation_without_an_address_is_plain_text() -> None:
    messages = render_answer(answer("At most 40 [limits.txt-0]."))
    assert shown(messages).text.strip() == "At most 40 [limits.txt-0]."
    assert shown(messages).links == []


def test_an_address_is_clickable_only_where_a_passage_has_it_whole() -> None:
    text = (
        "https://graphs.acme.test/q?id=7, https://graphs.acme.test/q?id=70,"
        " graphs.acme.test.evil.test"
        " and [board](https://graphs.acme.test/q?id=7) ![pixel](https://evil.test/p.png)"
    )
    result = shown(render_answer(answer(text)))
    assert {url for _, url in result.links} == {"https://graphs.acme.test/q?id=7"}
    assert "evil.test" not in result.prose
    assert result.raw == []


def test_of_what_the_web_says_exactly_the_links_of_the_answer_are_clickable() -> None:
    page = "https://docs.python.org/3/library/a%20b%281%29.html?x=1#frag"
    text = f"Not here.\n\nUse `f` ([docs.python.org]({page})), or [this](https://evil.test/x)."
    said = replace(answer(text, "not_in_docs"), web_links=(WebLink(page, "Lists"),))

    result = shown(render_answer(said))

    assert result.links == [("docs.python.org", page)]
    assert "evil.test" not in result.prose


def test_tokens_of_slack_in_code_are_code() -> None:
    messages = render_answer(answer("Say `<!channel>`:\n\n```\n<@U123> &amp; ```inner\n```"))
    assert shown(messages).codes == ["<!channel>", "<@U123> &amp; ```inner"]


def test_the_notification_is_plain_short_and_cannot_be_clicked() -> None:
    text = "<!here> See http://evil.test/x and `a<b` [oncall/queues-1]. " + "More words. " * 90
    [first, *_] = render_answer(answer(text))
    assert first["text"].startswith("&lt;!here&gt; See evil.\u2060test/x and a&lt;b. More words.")
    assert len(first["text"]) < 400


@pytest.mark.parametrize("text", ["[oncall/queues-1]", "([oncall/queues-1], [limits.txt-0])"])
def test_the_notification_of_citations_alone_is_a_word(text: str) -> None:
    assert render_answer(answer(text))[0]["text"] == "Answer"


def test_a_long_table_is_cut_between_rows_and_keeps_its_header() -> None:
    rows = "\n".join(f"| svc-{n} | team-{n} | {'x' * 40} |" for n in range(260))
    messages = render_answer(answer(f"| Service | Owner | Note |\n|---|---|---|\n{rows}\n\nEnd."))
    result = shown(messages)
    assert [row[0] for row in result.rows if row[0] != "Service"] == [
        f"svc-{n}" for n in range(260)
    ]
    tables = [block["rows"] for message in messages for block in message["blocks"][:1]]
    assert all(words(rows[0]) == ["Service", "Owner", "Note"] for rows in tables)


def words(row: list[dict[str, Any]]) -> list[str]:
    return [cell["text"] for cell in row]


def test_a_long_list_goes_on_with_its_numbers() -> None:
    text = "\n".join(f"{n}. step {n} " + "word " * 60 for n in range(1, 61))
    first, second, *_ = render_answer(answer(text))
    last = int(re.findall(r"step (\d+)", shown([first]).text)[-1])
    assert shown([second]).text.startswith(f"{last + 1}. step {last + 1}")


def test_a_request_that_still_names_a_style_is_read_without_fault() -> None:
    request = {"text": "Drain it [a-0].", "passages": [{"id": "a-0"}]}
    assert render_json({**request, "style": "markdown"}) == render_json(request)


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        ({"text": "x", "passages": [{"url": "https://a.test"}]}, "passages.0.id"),
        ({"passages": 5}, "passages"),
        ({"passages": [5]}, "passages.0"),
        ({"passages": [{"id": "a", "lines": 5}]}, "passages.0.lines"),
        ({"passages": [{"id": "a", "lines": ["x"]}]}, "passages.0.lines.0"),
        ({"passages": [{"id": "a", "heading": 5}]}, "passages.0.heading"),
        ({"passages": [{"id": "a", "url": 5}]}, "passages.0.url"),
        ({"text": 5}, "text"),
        ({"verdict": "perhaps"}, "verdict"),
    ],
)
def test_a_request_to_render_that_makes_no_sense_is_refused_in_one_line(
    request_: dict[str, Any], where: str
) -> None:
    with pytest.raises(SettingsError, match=f"^debug render: {where}: ") as refused:
        render_json(request_)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (
            "Edit __init__.py and snake_case, not __really__.",
            "Edit __init__.py and snake_case, not __really__.",
        ),
        ("2 * 3, *.log and a*b*c, **bold**", "2 * 3, *.log and a*b*c, bold"),
        ("pods <name> in <Namespace>, a<br>b <b>c</b>", "pods <name> in <Namespace>, a\nb c"),
        ("cp <source> <table> <i> and a<b and c>d", "cp <source> <table> <i> and a<b and c>d"),
        ("<i>x</i> <img src='https://evil.test'>y<!-- z --></u>", "x y"),
        ("- [gone-0]\n- one\n\n1. [gone-0]\n2. two", "one\n\n\n1.  \n2. two"),
        ("C:\\Users\\x, a &lt;b&gt; && c", "C:\\Users\\x, a <b> && c"),
        ("[x][1] and [link](../a/b.md)", "[x][1] and link (../a/b.md)"),
        ("~5 min, ~~gone~~, ~/x", "~5 min, gone, ~/x"),
    ],
)
def test_what_is_no_markup_is_shown_as_it_stands(text: str, seen: str) -> None:
    assert shown(render_answer(answer(text))).text.strip() == seen
