"""The page: what a person sees, and that nothing in it can break out."""

import re
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk import WebClient

from bot.sandbox.page.page_html import Surface, message_body
from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.sandbox.conftest import Json, Person

DOCS = {"oncall/README.md": "# On call\n\nFirst <b>line</b>\nlast\n"}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """With docs, and a shortcut from a manifest."""
    manifest = Manifest(shortcuts=(("ask_about_message", "Ask Footnote about this"),))
    running = Sandbox(page=DOCS.get, manifest=manifest)
    running.start()
    yield running
    running.stop()


def html(sandbox: Sandbox, path: str = "/") -> str:
    with urlopen(sandbox.url + path, timeout=10) as response:
        return str(response.read().decode())


def body(**message: object) -> str:
    return message_body(dict(message), Surface(str.lower, {"ts": "1.1"}))


def test_shows_channels_messages_and_a_thread(
    sandbox: Sandbox, client: WebClient, person: Person
) -> None:
    root = person.say("@Footnote what is PAY-4031?", channel="C0INCIDENT")
    client.chat_postMessage(channel="C0INCIDENT", thread_ts=root["ts"], text="*a signature* error")
    page = html(sandbox, f"/?channel=C0INCIDENT&thread={root['ts']}&user=U0ENGINEER")
    assert "#payments-oncall" in page
    assert '<span class="mention">@Footnote</span> what is PAY-4031?' in page
    assert "1 reply" in page
    assert "<strong>a signature</strong> error" in page
    assert "Ask Footnote about this" in page
    assert '<div id="overlay"></div>' in page  # else it would cover the page
    assert '<option value="/?channel=C0INCIDENT&amp;user=U0ENGINEER" selected>Engineer' in page


def test_tells_only_what_changed(sandbox: Sandbox, person: Person) -> None:
    first = person.fetch("/page?channel=C0GENERAL")
    person.say("news")
    second = person.fetch(f"/page?channel=C0GENERAL&since={first['version']}")
    assert "news" in second["parts"]["main"]
    with urlopen(f"{sandbox.url}/page?since={second['version']}") as response:
        assert response.status == 204


def test_an_ephemeral_message_shows_to_its_reader_only(sandbox: Sandbox, client: WebClient) -> None:
    client.chat_postEphemeral(channel="C0GENERAL", user="U0ONCALL", text="psst")
    assert "psst" in html(sandbox, "/?channel=C0GENERAL&user=U0ONCALL")
    assert "psst" not in html(sandbox, "/?channel=C0GENERAL&user=U0ENGINEER")


def test_shows_the_status_while_the_app_works(
    sandbox: Sandbox, client: WebClient, person: Person
) -> None:
    ts = person.say("hello")["ts"]
    client.agents_sessions_setStatus(channel_id="C0GENERAL", thread_ts=ts, status="processing")
    page = html(sandbox, f"/?channel=C0GENERAL&thread={ts}")
    assert 'data-do="stop"' in page
    client.chat_postMessage(channel="C0GENERAL", thread_ts=ts, text="done")
    assert 'data-do="stop"' not in html(sandbox, f"/?channel=C0GENERAL&thread={ts}")


def test_the_stop_button_stays_while_an_answer_streams_and_goes_with_its_end(
    sandbox: Sandbox, client: WebClient, person: Person
) -> None:
    ts = person.say("@Footnote hi", channel="C0GENERAL")["ts"]
    reader: Json = {"recipient_team_id": "T0SANDBOX", "recipient_user_id": "U0ONCALL"}
    client.agents_sessions_setStatus(channel_id="C0GENERAL", thread_ts=ts, status="processing")
    started = client.chat_startStream(channel="C0GENERAL", thread_ts=ts, **reader)
    client.chat_appendStream(channel="C0GENERAL", ts=started["ts"], markdown_text="Drain")
    address = f"/?channel=C0GENERAL&thread={ts}"
    assert 'data-do="stop"' in html(sandbox, address)
    client.chat_stopStream(channel="C0GENERAL", ts=started["ts"])
    assert 'data-do="stop"' not in html(sandbox, address)


def test_common_emoji_are_drawn_and_others_keep_their_name() -> None:
    shown = body(text=":raising_hand: :wave::skin-tone-3: at 12:30:45 :our_own:")
    assert "🙋 👋 at 12:30:45 :our_own:" in shown
    # Names that Slack writes in another way than the library.
    assert "🛑 🟢 🤷‍♂️" in body(text=":octagonal_sign: :large_green_circle: :man-shrugging:")


def test_markdown_keeps_html_as_text_and_loads_nothing() -> None:
    text = "**b** <img src=x onerror=alert(1)> ![i](https://evil.test/i.png) [x](javascript:1)"
    shown = body(blocks=[{"type": "markdown", "text": text}])
    assert "<strong>b</strong>" in shown
    assert re.findall(r"<(\w+)", shown) == ["div", "p", "strong"]


def test_links_go_to_the_web_or_nowhere() -> None:
    shown = body(text="<https://a.test/?x=1&amp;y=2|site> <javascript:alert(1)|click> `<b>`")
    assert '<a href="https://a.test/?x=1&amp;y=2" target="_blank"' in shown
    assert "javascript" not in shown
    assert "<code>&lt;b&gt;</code>" in shown


def test_buttons_name_what_a_click_needs() -> None:
    button = {
        "type": "button",
        "action_id": "go",
        "value": '"&',
        "text": {"type": "plain_text", "text": "Go"},
    }
    shown = body(blocks=[{"type": "actions", "block_id": "b", "elements": [button]}])
    assert shown == (
        '<div class="actions"><button type="button" class="button" data-do="click" '
        'data-action-id="go" data-block-id="b" data-value="&#34;&amp;" data-ts="1.1">Go</button>'
        "</div>"
    )


def test_a_rich_text_block_reads_as_it_was_written() -> None:
    words: list[Json] = [
        {"type": "user", "user_id": "U0SAM"},
        {"type": "text", "text": " a\nb", "style": {"bold": True}},
        {"type": "link", "url": "https://a.test", "text": "there"},
        {"type": "emoji", "name": "eyes"},
    ]
    section = {"type": "rich_text_section", "elements": words}
    assert body(blocks=[{"type": "rich_text", "elements": [section]}]) == (
        '<p><span class="mention">@u0sam</span><strong> a<br>b</strong>'
        '<a href="https://a.test" target="_blank" rel="noopener noreferrer">there</a>👀</p>'
    )


def test_an_ordered_list_counts_on_from_its_offset() -> None:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "a"}]}
    listing = {"type": "rich_text_list", "style": "ordered", "offset": 2, "elements": [section]}
    assert body(blocks=[{"type": "rich_text", "elements": [listing]}]) == (
        '<ol class="indent0" start="3"><li><p>a</p></li></ol>'
    )


@given(st.text(alphabet=st.sampled_from("<>&\"'`*_~@#!|:/ \nabchtpsx-"), max_size=60))
def test_no_text_opens_an_element_of_its_own(text: str) -> None:
    known = {"p", "a", "b", "br", "code", "pre", "em", "s", "strong", "span", "blockquote", "div"}
    known |= {"ul", "ol", "li", "hr", *(f"h{level}" for level in range(1, 7))}
    for shown in (
        body(text=text),
        body(blocks=[{"type": "markdown", "text": text or "x"}]),
        body(text=text, attachments=[{"title": text, "title_link": text, "footer": text}]),
    ):
        names = set(re.findall(r"</?([a-zA-Z][a-zA-Z0-9]*)", shown))
        assert names <= known


def test_a_docs_page_marks_the_cited_lines(sandbox: Sandbox) -> None:
    page = html(sandbox, "/docs/oncall/README.md?lines=3-4")
    assert re.findall(r'<li id="(L\d)" class="marked">', page) == ["L3", "L4"]
    assert "First &lt;b&gt;line&lt;/b&gt;" in page
    assert page.count("<li ") == 4
    with pytest.raises(HTTPError, match="404") as caught:
        html(sandbox, "/docs/missing.md")
    caught.value.close()


def test_every_answer_forbids_foreign_scripts(sandbox: Sandbox) -> None:
    with urlopen(sandbox.url) as response:
        policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    page = html(sandbox)
    assert "onclick" not in page
    assert "style=" not in page
    for name in re.findall(r'"(/static/[\w.]+)"', page):
        assert html(sandbox, name)


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/server.py", "/docs/../x"])
def test_serves_no_other_file(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(HTTPError, match="404") as caught:
        html(sandbox, path)
    caught.value.close()
