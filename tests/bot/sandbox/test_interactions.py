"""Buttons, modals, commands and shortcuts, through the real Bolt app."""

from typing import Any

import pytest
from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.bot.sandbox.conftest import Json, Person, refused
from tests.waiting import wait_for

FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
        }
    ],
}
MODAL = {
    "type": "modal",
    "callback_id": "reason",
    "title": {"type": "plain_text", "text": "What was wrong?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        }
    ],
}


def test_thumbs_down_opens_a_modal_and_its_reason_arrives(
    app: App, connected: object, client: WebClient, person: Person
) -> None:
    reasons: list[str] = []

    @app.action("feedback")
    def feedback(ack: Any, body: Json, client: WebClient, action: Json) -> None:
        ack()
        assert action["value"] == "down"
        client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.view("reason")
    def reason(ack: Any, view: Json) -> None:
        text = view["state"]["values"]["why"]["text"]["value"]
        if text == "bad":
            ack(response_action="errors", errors={"why": "Say more."})
            return
        reasons.append(text)
        ack()

    posted = client.chat_postMessage(channel="C0GENERAL", text="an answer", blocks=[FEEDBACK])
    place = {"user": "U0ONCALL", "channel": "C0GENERAL", "ts": posted["ts"]}
    clicked = person.post("click", {**place, "action_id": "feedback", "value": "negative"})
    assert clicked["acked"]
    assert clicked["payload"]["container"]["message_ts"] == posted["ts"]
    view = wait_for(lambda: person.get("state")["views"])[0]
    first = person.post("submit", {"user": "U0ONCALL", "values": {"text": "bad"}})
    assert first["response"]["response_action"] == "errors"
    assert person.get("state")["views"][0]["errors"] == {"why": "Say more."}
    person.post("submit", {"user": "U0ONCALL", "view_id": view["id"], "values": {"why": "stale"}})
    assert reasons == ["stale"]
    assert person.get("state")["views"] == []


def test_a_command_answers_privately_and_shares_on_request(
    app: App, connected: object, client: WebClient, person: Person
) -> None:
    button = {
        "type": "button",
        "action_id": "share",
        "text": {"type": "plain_text", "text": "Share in channel"},
    }

    @app.command("/footnote")
    def asked(ack: Any, command: Json, respond: Any) -> None:
        ack(f"Looking for {command['text']}")
        blocks = [{"type": "actions", "elements": [button]}]
        respond(text="found it", blocks=blocks)

    @app.action("share")
    def share(ack: Any, respond: Any) -> None:
        ack()
        respond(text="found it", response_type="in_channel", replace_original=False)
        respond(delete_original=True)

    given = {"user": "U0ONCALL", "channel": "C0GENERAL", "text": "refunds"}
    assert person.post("command", given)["payload"]["command"] == "/footnote"
    wait_for(lambda: len(person.get("messages?channel=C0GENERAL")["messages"]) == 2)
    private = person.get("messages?channel=C0GENERAL")["messages"]
    assert [m["_viewer"] for m in private] == ["U0ONCALL", "U0ONCALL"]
    found = next(m for m in private if m["text"] == "found it")
    click = {"user": "U0ONCALL", "channel": "C0GENERAL", "ts": found["ts"], "action_id": "share"}
    stranger = person.post("click", {**click, "user": "U0ENGINEER"})
    assert stranger["error"] == "message_not_found"
    person.post("click", click)
    history = wait_for(lambda: client.conversations_history(channel="C0GENERAL")["messages"])
    assert [message["text"] for message in history] == ["found it"]


def test_a_message_shortcut_carries_the_message(
    app: App, connected: object, person: Person
) -> None:
    seen: list[Json] = []

    @app.shortcut("ask_about_message")
    def ask(ack: Any, shortcut: Json) -> None:
        ack()
        seen.append(shortcut)

    said = person.say("", bot="B0ALERTS", attachments=[{"text": "disk full"}])
    given = {"user": "U0ONCALL", "channel": "C0GENERAL", "ts": said["ts"]}
    person.post("shortcut", {**given, "callback_id": "ask_about_message"})
    assert wait_for(lambda: seen)[0]["message"]["attachments"] == [{"text": "disk full"}]


def test_opening_the_home_shows_what_is_published(
    app: App, connected: object, client: WebClient, person: Person
) -> None:
    @app.event("app_home_opened")
    def opened(event: Json, client: WebClient) -> None:
        text = {"type": "mrkdwn", "text": f"Hello from {event['tab']}"}
        client.views_publish(
            user_id=event["user"],
            view={"type": "home", "blocks": [{"type": "section", "text": text}]},
        )

    person.post("home", {"user": "U0ENGINEER"})
    home = wait_for(lambda: person.get("state")["homes"].get("U0ENGINEER"))
    assert home["blocks"][0]["text"]["text"] == "Hello from home"


def test_a_trigger_works_once_and_not_for_long(
    app: App, connected: object, client: WebClient, person: Person
) -> None:
    posted = client.chat_postMessage(channel="C0GENERAL", text="x", blocks=[FEEDBACK])
    place = {"user": "U0ONCALL", "channel": "C0GENERAL", "ts": posted["ts"]}
    outcomes: list[str] = []

    @app.action("feedback")
    def open_twice(ack: Any, body: Json, client: WebClient) -> None:
        ack()
        for _ in range(2):
            try:
                client.views_open(trigger_id=body["trigger_id"], view=MODAL)
                outcomes.append("opened")
            except SlackApiError as error:
                outcomes.append(error.response["error"])

    person.post("click", {**place, "action_id": "feedback", "value": "positive"})
    wait_for(lambda: outcomes == ["opened", "exchanged_trigger_id"])
    person.post("rules", {"trigger_seconds": -1})
    person.post("click", {**place, "action_id": "feedback", "value": "negative"})
    wait_for(lambda: outcomes[2:] == ["expired_trigger_id"] * 2)
    assert refused(client, "views.open", view=MODAL, trigger_id="made up") == "invalid_trigger_id"


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": {"type": "plain_text", "text": "x" * 25}},
        {"private_metadata": "x" * 3_001},
        {"submit": None},
        {"colour": "red"},
        {"type": "home"},
        {"blocks": [{"type": "markdown", "text": "x"}]},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_refuses_this_modal(client: WebClient, wrong: Json) -> None:
    error = refused(client, "views.open", trigger_id="x", view={**MODAL, **wrong})
    assert error.startswith("invalid_")


def test_status_and_sessions_share_a_line_that_a_post_clears(
    client: WebClient, person: Person
) -> None:
    ts = person.say("hello")["ts"]
    thread = {"channel_id": "C0GENERAL", "thread_ts": ts}

    def lines() -> list[str]:
        return [status["status"] for status in person.get("state")["statuses"]]

    client.assistant_threads_setStatus(**thread, status="is searching…")
    assert lines() == ["is searching…"]
    client.agents_sessions_setStatus(**thread, status="processing", title="Refunds")
    assert lines() == ["is working…"]
    client.agents_sessions_setStatus(**thread, status="active")
    assert lines() == []
    client.assistant_threads_setStatus(**thread, status="is reading…")
    client.chat_postMessage(channel="C0GENERAL", thread_ts=ts, text="done")
    assert lines() == []
    lost = {**thread, "thread_ts": "1.1", "status": "x"}
    assert refused(client, "assistant.threads.setStatus", **lost) == "invalid_thread_ts"
    many = {**thread, "status": "x", "loading_messages": ["x"] * 11}
    assert refused(client, "assistant.threads.setStatus", **many) == "invalid_arguments"
    state = {**thread, "status": "asleep"}
    assert refused(client, "agents.sessions.setStatus", **state) == "invalid_arguments"
