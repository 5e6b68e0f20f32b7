"""Slack's text format, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reading.mrkdwn import escape, inert, read_text, unescape

NAMES = {"U1": "ada", "S1": "oncall", "C1": "ops"}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<@U1> and <@U2> and <@U3|eve>", "@ada and @U2 and @eve"),
        ("<#C1> <#C2|general> <#C3>", "#ops #general #C3"),
        (
            "<!here> <!channel|channel> <!subteam^S1> <!subteam^S2|@sec>",
            "@here @channel @oncall @sec",
        ),
        ("<!date^1772000000^{date}|Feb 25>", "Feb 25"),
        ("<!date^1772000000^{date}>", "2026-02-25 06:13 UTC"),
        ("<!date^1772000000^{date}^https://a.test/1|Feb 25>", "Feb 25 (https://a.test/1)"),
        ("<https://a.test/?x=1&amp;y=2|board>", "board (https://a.test/?x=1&y=2)"),
        ("<https://a.test> <https://a.test/|a.test>", "https://a.test https://a.test/"),
        ("<mailto:ada@a.test|ada@a.test>", "ada@a.test"),
        (
            "kubectl get pods &lt;name&gt; &amp;&amp; x &amp;lt; y",
            "kubectl get pods <name> && x &lt; y",
        ),
        ("&lt;@U1&gt; typed by hand", "<@U1> typed by hand"),
        ("a < b and c > d, <not a token>", "a < b and c > d, <not a token>"),
    ],
)
def test_tokens_and_entities_are_read_as_a_person_sees_them(text: str, read: str) -> None:
    assert read_text(text, NAMES.get) == read


def test_without_addresses_a_link_reads_as_its_label() -> None:
    text = "<https://a.test/1|[runbook-0]> and <https://a.test/2>"
    assert read_text(text, addresses=False) == "[runbook-0] and https://a.test/2"


@given(st.text())
def test_escaped_text_holds_no_token_and_comes_back(text: str) -> None:
    assert not {"<", ">"} & set(escape(text))
    assert unescape(escape(text)) == text
    assert read_text(escape(text), NAMES.get) == text


@given(st.text(st.sampled_from("<>@#!|^&;:/. aU1ltgmp"), max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    read_text(text)


def test_an_address_made_inert_stays_readable() -> None:
    assert inert("https://a.test/x").replace("\u2060", "") == "a.test/x"
    assert "a.test" not in inert("https://a.test/x")
