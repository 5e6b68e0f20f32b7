"""Answers as the Slack messages that carry them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from inline_snapshot import snapshot

from agent.answer import Verdict
from bot.blocks import render_answer
from ingest.documents import DocumentInfo
from tests.bot.answers import DRAIN, answer
from tests.bot.shown import shown

NOW = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)


def test_an_answered_question_carries_linked_citations_sources_footer_and_buttons() -> None:
    pages = {
        "oncall/queues.md": DocumentInfo("oncall/queues.md", "Queues", NOW - timedelta(70), "@sre")
    }
    [message] = render_answer(
        answer("Run `qctl drain --all` [oncall/queues-1].\n\nAt most 40 a minute [limits.txt-0]."),
        documents=pages,
        ingested_at=NOW - timedelta(hours=5),
        now=NOW,
    )
    assert message == snapshot(
        {
            "text": "Run qctl drain --all. At most 40 a minute.",
            "blocks": [
                {
                    "type": "markdown",
                    "text": (
                        "Run `qctl drain --all` "
                        "[\\[oncall/queues-1\\]](https://git.acme.test/docs/blob/4f5e6d7/on"
                        "call/queues.md#L12-L30).\n"
                        "\n"
                        "At most 40 a minute \\[limits.txt-0\\]."
                    ),
                },
                {
                    "type": "context",
                    "block_id": "footnote_sources",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": (
                                "*Sources*\n"
                                "<https://git.acme.test/docs/blob/4f5e6d7/oncall/queues.md#L12-L30|"
                                "[oncall/queues-1] Queues &gt; Drain a queue> · oncall/queues.md "
                                "lines 12-30 · changed 2 months ago · owner @sre\n"
                                "[limits.txt-0] Limits · limits.txt lines 12-30"
                            ),
                            "verbatim": True,
                        }
                    ],
                },
                {
                    "type": "context",
                    "block_id": "footnote_footer",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": "Written by a model: check before you run anything."
                            " Docs at `4f5e6d7a8b`, read 5 hours ago.",
                            "verbatim": True,
                        }
                    ],
                },
                {
                    "type": "actions",
                    "block_id": "footnote_actions",
                    "elements": [
                        {
                            "type": "button",
                            "action_id": "footnote_passages",
                            "text": {"type": "plain_text", "text": "Show passages"},
                            "value": "a1b2",
                        },
                        {
                            "type": "button",
                            "action_id": "footnote_human",
                            "text": {"type": "plain_text", "text": "Need a human"},
                            "value": "a1b2",
                        },
                    ],
                },
                {
                    "type": "context_actions",
                    "block_id": "footnote_thumbs",
                    "elements": [
                        {
                            "type": "feedback_buttons",
                            "action_id": "footnote_feedback",
                            "positive_button": {
                                "text": {"type": "plain_text", "text": "Helpful"},
                                "value": "a1b2:up",
                            },
                            "negative_button": {
                                "text": {"type": "plain_text", "text": "Not helpful"},
                                "value": "a1b2:down",
                            },
                        }
                    ],
                },
            ],
        }
    )


def test_an_answer_without_sources_opens_with_a_warning() -> None:
    [message] = render_answer(answer("Restart it.", "uncited", passages=()))
    assert message == snapshot(
        {
            "text": "Restart it.",
            "blocks": [
                {
                    "type": "context",
                    "block_id": "footnote_verdict",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": ":warning: *No source.* This is general knowledge, not"
                            " from the docs: check it before you act on it.",
                            "verbatim": True,
                        }
                    ],
                },
                {"type": "markdown", "text": "Restart it."},
                {
                    "type": "context",
                    "block_id": "footnote_footer",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": "Written by a model: check before you run anything."
                            " Docs at `4f5e6d7a8b`.",
                            "verbatim": True,
                        }
                    ],
                },
                {
                    "type": "actions",
                    "block_id": "footnote_actions",
                    "elements": [
                        {
                            "type": "button",
                            "action_id": "footnote_human",
                            "text": {"type": "plain_text", "text": "Need a human"},
                            "value": "a1b2",
                        }
                    ],
                },
                {
                    "type": "context_actions",
                    "block_id": "footnote_thumbs",
                    "elements": [
                        {
                            "type": "feedback_buttons",
                            "action_id": "footnote_feedback",
                            "positive_button": {
                                "text": {"type": "plain_text", "text": "Helpful"},
                                "value": "a1b2:up",
                            },
                            "negative_button": {
                                "text": {"type": "plain_text", "text": "Not helpful"},
                                "value": "a1b2:down",
                            },
                        }
                    ],
                },
            ],
        }
    )


def test_passages_without_a_model_say_why_once() -> None:
    why = "The model took too long."
    [message] = render_answer(
        answer(
            f"_{why}_\n\n**Queues** [oncall/queues-1]\n```\nqctl drain\n```",
            "retrieval_only",
            reason=why,
        )
    )
    assert message == snapshot(
        {
            "text": "The model took too long. Queues qctl drain",
            "blocks": [
                {
                    "type": "markdown",
                    "text": (
                        "_The model took too long._\n"
                        "\n"
                        "**Queues** [\\[oncall/queues-1\\]](https://git.acme.test/docs/blob"
                        "/4f5e6d7/oncall/queues.md#L12-L30)\n"
                        "\n"
                        "```\n"
                        "qctl drain\n"
                        "```"
                    ),
                },
                {
                    "type": "context",
                    "block_id": "footnote_sources",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": (
                                "*Sources*\n"
                                "<https://git.acme.test/docs/blob/4f5e6d7/oncall/queues.md#L12-L30|"
                                "[oncall/queues-1] Queues &gt; Drain a queue> · oncall/queues.md "
                                "lines 12-30"
                            ),
                            "verbatim": True,
                        }
                    ],
                },
                {
                    "type": "context",
                    "block_id": "footnote_footer",
                    "elements": [
                        {
                            "type": "mrkdwn",
                            "text": "Quoted from the docs: check before you run anything."
                            " Docs at `4f5e6d7a8b`.",
                            "verbatim": True,
                        }
                    ],
                },
                {
                    "type": "actions",
                    "block_id": "footnote_actions",
                    "elements": [
                        {
                            "type": "button",
                            "action_id": "footnote_passages",
                            "text": {"type": "plain_text", "text": "Show passages"},
                            "value": "a1b2",
                        },
                        {
                            "type": "button",
                            "action_id": "footnote_human",
                            "text": {"type": "plain_text", "text": "Need a human"},
                            "value": "a1b2",
                        },
                    ],
                },
                {
                    "type": "context_actions",
                    "block_id": "footnote_thumbs",
                    "elements": [
                        {
                            "type": "feedback_buttons",
                            "action_id": "footnote_feedback",
                            "positive_button": {
                                "text": {"type": "plain_text", "text": "Helpful"},
                                "value": "a1b2:up",
                            },
                            "negative_button": {
                                "text": {"type": "plain_text", "text": "Not helpful"},
                                "value": "a1b2:down",
                            },
                        }
                    ],
                },
            ],
        }
    )


def test_an_answer_that_is_not_in_the_docs_says_so_before_anything_else() -> None:
    [message] = render_answer(
        answer("The docs do not say. Nearest page: Queues [oncall/queues-1]", "not_in_docs")
    )
    assert message["blocks"][0] == snapshot(
        {
            "type": "context",
            "block_id": "footnote_verdict",
            "elements": [{"type": "mrkdwn", "text": "*Not in the docs.*", "verbatim": True}],
        }
    )
    assert ("[oncall/queues-1]", DRAIN.url) in shown([message]).links


@pytest.mark.parametrize(
    "verdict", ["partly", "uncited", "not_in_docs", "retrieval_only", "failed"]
)
def test_every_verdict_but_answered_is_told_first(verdict: Verdict) -> None:
    messages = render_answer(answer("Some text.", verdict, reason="Budget spent."))
    first = messages[0]["blocks"][0]
    assert first["block_id"] == "footnote_verdict"
    assert "Budget spent." in first["elements"][0]["text"]


def test_an_old_index_is_said_to_be_old() -> None:
    [message] = render_answer(answer("x [limits.txt-0]"), ingested_at=NOW - timedelta(3), now=NOW)
    assert "last read 3 days ago" in shown([message], own=True).text


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


def test_tokens_of_slack_in_code_go_where_nothing_is_parsed_again() -> None:
    messages = render_answer(answer("Say `<!channel>`:\n\n```\n<@U123> &amp; ```inner\n```"))
    assert [b["type"] for b in messages[0]["blocks"]][:2] == ["rich_text"] * 2
    assert shown(messages).codes == ["<!channel>", "<@U123> &amp; ```inner"]


def test_the_notification_is_plain_short_and_cannot_be_clicked() -> None:
    text = "<!here> See http://evil.test/x and `a<b` [oncall/queues-1]. " + "More words. " * 90
    [first, *_] = render_answer(answer(text))
    assert first["text"].startswith("&lt;!here&gt; See evil.\u2060test/x and a&lt;b. More words.")
    assert len(first["text"]) < 400


def test_a_long_table_is_cut_between_rows_and_keeps_its_header() -> None:
    rows = "\n".join(f"| svc-{n} | team-{n} | {'x' * 40} |" for n in range(260))
    messages = render_answer(answer(f"| Service | Owner | Note |\n|---|---|---|\n{rows}\n\nEnd."))
    result = shown(messages)
    assert [row[0] for row in result.rows if row[0] != "Service"] == [
        f"svc-{n}" for n in range(260)
    ]
    assert all("| Service | Owner | Note |" in m["blocks"][0]["text"] for m in messages)


def test_a_long_list_goes_on_with_its_numbers() -> None:
    text = "\n".join(f"{n}. step {n} " + "word " * 60 for n in range(1, 61))
    first, second, *_ = render_answer(answer(text))
    last = int(re.findall(r"^(\d+)\.", first["blocks"][0]["text"], re.MULTILINE)[-1])
    assert second["blocks"][0]["text"].startswith(f"{last + 1}. step {last + 1}")
