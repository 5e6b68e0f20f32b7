"""The whole payload of typical answers, as it goes to Slack."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent.answer import Answer
from bot.blocks import render_answer
from ingest.documents import DocumentInfo
from tests.bot.blocks.answers import DRAIN, answer
from tests.bot.blocks.shown import shown

NOW = datetime(2026, 3, 10, 3, 0, tzinfo=UTC)
LINK = {"type": "link", "url": DRAIN.url, "text": "[oncall/queues-1]"}
LISTED = (
    "<https://git.acme.test/docs/blob/4f5e6d7/oncall/queues.md#L12-L30|"
    "[oncall/queues-1] Queues &gt; Drain a queue> · oncall/queues.md lines 12-30"
)
WHO = "Written by a model: check before you run anything. Docs at `4f5e6d7a8b`"
BY = ("Written by a model", "Quoted from the docs")
WHY = "The model took too long."
Block = dict[str, Any]


def section(*words: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(words)}


def paragraph(*words: Block) -> Block:
    return {"type": "rich_text", "elements": [section(*words)]}


def preformatted(code: str) -> Block:
    return {"type": "rich_text_preformatted", "elements": [text(code)]}


def listed(style: str, item: Block, **place: int) -> Block:
    return {"type": "rich_text_list", "style": style, "indent": 0, **place, "elements": [item]}


def text(words: str, **style: bool) -> Block:
    return {"type": "text", "text": words} | ({"style": style} if style else {})


def context(block_id: str, words: str) -> Block:
    element = {"type": "mrkdwn", "text": words, "verbatim": True}
    return {"type": "context", "block_id": block_id, "elements": [element]}


@pytest.mark.parametrize(
    ("said", "options", "notification", "blocks", "buttons"),
    [
        pytest.param(
            answer(
                "Run `qctl drain --all` [oncall/queues-1].\n\nAt most 40 a minute [limits.txt-0]."
            ),
            {
                "documents": {
                    DRAIN.path: DocumentInfo(
                        DRAIN.path, "Queues", NOW - timedelta(70), "@sre", version="1.14"
                    )
                },
                "ingested_at": NOW - timedelta(hours=5),
                "now": NOW,
            },
            "Run qctl drain --all. At most 40 a minute.",
            [
                paragraph(
                    text("Run "), text("qctl drain --all", code=True), text(" "), LINK, text(".")
                ),
                paragraph(text("At most 40 a minute "), text("[limits.txt-0]"), text(".")),
                context(
                    "footnote_sources",
                    f"*Sources*\n{LISTED} · version 1.14 · changed 2 months ago · owner @sre\n"
                    "[limits.txt-0] Limits · limits.txt lines 12-30",
                ),
                context("footnote_footer", f"{WHO}, read 5 hours ago."),
            ],
            ["Show passages", "Need a human"],
            id="answered, with linked citations and sources",
        ),
        pytest.param(
            answer("Restart it.", "uncited", passages=()),
            {},
            "Restart it.",
            [
                context(
                    "footnote_verdict",
                    ":warning: *No source.* This is general knowledge, not from the docs: check it"
                    " before you act on it.",
                ),
                paragraph(text("Restart it.")),
                context("footnote_footer", f"{WHO}."),
            ],
            ["Need a human"],
            id="without sources, under a warning",
        ),
        pytest.param(
            answer(
                f"_{WHY}_\n\n**Queues** [oncall/queues-1]\n```\nqctl drain\n```",
                "retrieval_only",
                reason=WHY,
            ),
            {},
            "The model took too long. Queues qctl drain",
            [
                paragraph(text(WHY, italic=True)),
                paragraph(text("Queues", bold=True), text(" "), LINK),
                {"type": "rich_text", "elements": [preformatted("qctl drain")]},
                context("footnote_sources", f"*Sources*\n{LISTED}"),
                context("footnote_footer", f"{WHO}.".replace(*BY)),
            ],
            ["Show passages", "Need a human"],
            id="passages without a model, which say why once",
        ),
    ],
)  # fmt: skip
def test_what_is_sent(
    said: Answer,
    options: dict[str, Any],
    notification: str,
    blocks: list[Block],
    buttons: list[str],
) -> None:
    [message] = render_answer(said, **options)
    *body, actions, thumbs = message["blocks"]
    assert message.keys() == {"text", "blocks"}
    assert message["text"] == notification
    assert body == blocks
    assert [button["text"]["text"] for button in actions["elements"]] == buttons
    assert thumbs["type"] == "context_actions"


def test_the_buttons_carry_the_id_of_the_answer() -> None:
    [message] = render_answer(answer("Drain it [oncall/queues-1]."))
    assert message["blocks"][-2:] == snapshot(
        [
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
        ]
    )


def test_every_kind_of_block_is_sent_literally() -> None:
    steps = "1. Stop `a|b`:\n   - first\n\n   ```sh\n   qctl <all> &amp;\n   ```\n2. Wait"
    quote = "> Do not *rush*.\n> - really"
    table = "| Queue | Limit |\n|---|---|\n| `ls | wc` | 40 [oncall/queues-1] |"
    [message] = render_answer(answer("\n\n".join(["## Drain", steps, quote, table, "---"])))
    assert message["blocks"][:5] == [
        paragraph(text("Drain", bold=True)),
        {
            "type": "rich_text",
            "elements": [
                listed("ordered", section(text("Stop "), text("a|b", code=True), text(":"))),
                listed("bullet", section(text("first")), indent=1),
                preformatted("qctl <all> &amp;"),
                listed("ordered", section(text("Wait")), offset=1),
            ],
        },
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_quote",
                    "elements": [
                        *(text("Do not "), text("rush", italic=True), text(".")),
                        *(text("\n"), text("• "), text("really")),
                    ],
                }
            ],
        },
        {
            "type": "table",
            "column_settings": [{"is_wrapped": True}, {"is_wrapped": True}],
            "rows": [
                [{"type": "raw_text", "text": "Queue"}, {"type": "raw_text", "text": "Limit"}],
                [paragraph(text("ls | wc", code=True)), paragraph(text("40 "), LINK)],
            ],
        },
        {"type": "divider"},
    ]


def test_an_answer_that_is_not_in_the_docs_says_so_before_anything_else() -> None:
    [message] = render_answer(
        answer("The docs do not say. Nearest page: Queues [oncall/queues-1]", "not_in_docs")
    )
    assert message["blocks"][0] == context("footnote_verdict", "*Not in the docs.*")
    assert ("[oncall/queues-1]", DRAIN.url) in shown([message]).links
