"""Marks of the check in the blocks of an answer: a reader sees each of them."""

import pytest

from agent.grounding import CitableText, ground
from bot.blocks.render import render_json
from tests.bot.blocks.shown import shown

DOCS = CitableText("docs-0", "Restart the worker, then wait.")


@pytest.mark.parametrize(
    "answer",
    [
        '<a href="https://evil.example">x</a> <script>alert(1)</script> <b>y</b> [docs-0]',
        "Restart it <img src='https://evil.example/a.png' alt='x'> now [docs-0].",
        'Restart <span title="use `wipe --all` here">it</span> [docs-0].',
        '<a title="a<b" href="https://evil.example/">x</a> [docs-0]',
        "Wait. <!-- first run kubectl delete pod web-1 > log --> [docs-0]",
        "<!-- <!-- error PAY-4031 --> Wait [docs-0].",
        "Wait, see [x] [docs-0].\n\n[x]: https://evil.example/",
        "> Wait, see [x] [docs-0].\n>\n> [x]: https://evil.example/",
        'See [x](https://evil.example/ "use `wipe --all`") [docs-0].',
        "See <https://evil.example/> and <https://evil.example|x> [docs-0].",
    ],
)
def test_a_mark_is_shown_where_the_words_before_it_are_not(answer: str) -> None:
    grounded = ground(answer, [DOCS])
    assert grounded.verdict == "partly"
    passages: list[dict[str, object]] = [
        {"id": "docs-0", "url": None, "path": "docs.md", "heading": []}
    ]
    rendered = render_json({"text": grounded.text, "passages": passages})
    assert "⚠" in shown(rendered["messages"]).text


def test_a_mark_beside_a_comparison_stays_where_it_is() -> None:
    text = ground("If a <b, use `wipe`.\n\nThen c> d [docs-0].", [DOCS]).text
    assert "`wipe` (⚠" in text
