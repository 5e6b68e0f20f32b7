"""The whole payload of typical answers, as it goes to Slack."""

from datetime import UTC, datetime, timedelta

from inline_snapshot import snapshot

from bot.blocks import render_answer
from ingest.documents import DocumentInfo
from tests.bot.blocks.answers import DRAIN, answer
from tests.bot.blocks.shown import shown

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
