"""Modals and homes beyond the first: pushed, updated, closed; and the rest of the sessions."""

from typing import Any
from urllib.request import urlopen

import pytest
from slack_bolt import App
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox.server import Sandbox
from tests.bot.sandbox.conftest import Json, Person, refused
from tests.waiting import wait_for


def words(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def option(value: str) -> Json:
    return {"text": words(value), "value": value}


def field(block_id: str, element: Json, **more: Any) -> Json:
    return {
        "type": "input",
        "block_id": block_id,
        "label": words(block_id),
        "element": {"action_id": "a", **element},
        **more,
    }


FORM: Json = {
    "type": "modal",
    "callback_id": "form",
    "notify_on_close": True,
    "title": words("Form"),
    "submit": words("Next"),
    "blocks": [
        {"type": "section", "text": {"type": "mrkdwn", "text": "Tell *us*"}},
        field("name", {"type": "plain_text_input", "initial_value": "Sam"}),
        field("kind", {"type": "static_select", "options": [option("x"), option("y")]}),
        field("many", {"type": "checkboxes", "options": [option("p"), option("q")]}, optional=True),
        field("long", {"type": "plain_text_input", "multiline": True}, optional=True,
              hint=words("As long as you like")),
    ],
}  # fmt: skip
SECOND: Json = {"type": "modal", "title": words("Second"), "blocks": [{"type": "divider"}]}


@pytest.fixture
def opened(app: App, connected: object, client: WebClient, person: Person) -> Json:
    """A form on the on-call engineer's screen, opened by a command."""

    @app.command("/form")
    def form(ack: Any, command: Json, client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=command["trigger_id"], view=FORM)

    person.post("command", {"user": "U0ONCALL", "channel": "C0GENERAL", "command": "/form"})
    view: Json = wait_for(lambda: person.get("state")["views"])[0]
    return view


def titles(person: Person) -> list[str]:
    return [view["title"]["text"] for view in person.get("state")["views"]]


VALUES = {"name": "Kim", "kind": "y", "many": ["p", "q"]}


def test_what_is_filled_in_arrives_in_slacks_shape(app: App, opened: Json, person: Person) -> None:
    seen: list[Json] = []

    @app.view("form")
    def submitted(ack: Any, view: Json) -> None:
        seen.append(view["state"]["values"])
        ack(response_action="push", view=SECOND)

    person.post("submit", {"user": "U0ONCALL", "values": VALUES})
    assert seen == [
        {
            "name": {"a": {"type": "plain_text_input", "value": "Kim"}},
            "kind": {"a": {"type": "static_select", "selected_option": option("y")}},
            "many": {"a": {"type": "checkboxes", "selected_options": [option("p"), option("q")]}},
            "long": {"a": {"type": "plain_text_input", "value": None}},
        }
    ]
    assert titles(person) == ["Form", "Second"]
    person.post("close", {"user": "U0ONCALL"})
    assert titles(person) == ["Form"]


def test_a_required_field_stays_required(opened: Json, person: Person) -> None:
    refusal = person.post("submit", {"user": "U0ONCALL", "values": {"name": "Kim"}})
    assert refusal == {"ok": False, "error": "invalid_arguments", "missing": "kind"}
    assert titles(person) == ["Form"]


@pytest.mark.parametrize(("action", "left"), [("update", ["Second"]), ("clear", [])])
def test_the_app_may_replace_or_clear_what_is_open(
    app: App, opened: Json, person: Person, action: str, left: list[str]
) -> None:
    @app.view("form")
    def submitted(ack: Any) -> None:
        ack(response_action=action, view=SECOND if action == "update" else None)

    person.post("submit", {"user": "U0ONCALL", "values": VALUES})
    assert titles(person) == left


def test_closing_tells_an_app_that_asked(app: App, opened: Json, person: Person) -> None:
    closed: list[str] = []

    @app.view_closed("form")
    def gone(ack: Any, view: Json) -> None:
        ack()
        closed.append(view["id"])

    person.post("close", {"user": "U0ONCALL"})
    assert closed == [opened["id"]]
    assert titles(person) == []
    assert person.post("close", {"user": "U0ONCALL"})["error"] == "not_found"


def test_an_open_view_is_updated_by_its_id_unless_it_changed(
    opened: Json, client: WebClient, person: Person
) -> None:
    wrong = {"view_id": opened["id"], "hash": "1.x", "view": SECOND}
    assert refused(client, "views.update", **wrong) == "hash_conflict"
    client.views_update(view_id=opened["id"], hash=opened["hash"], view=SECOND)
    assert titles(person) == ["Second"]
    assert refused(client, "views.update", view_id="V0NONE", view=SECOND) == "not_found"


def test_the_page_shows_the_form(opened: Json, sandbox: Sandbox) -> None:
    with urlopen(f"{sandbox.url}/?user=U0ONCALL") as response:
        page = response.read().decode()
    assert '<input name="name" value="Sam">' in page
    assert '<option value="y">y</option>' in page
    assert 'type="checkbox"' in page
    assert "As long as you like" in page
    assert "Tell <strong>us</strong>" in page


def test_a_home_is_republished_unless_it_changed(client: WebClient, person: Person) -> None:
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    first = client.views_publish(user_id="U0ONCALL", view=home)["view"]
    second = client.views_publish(user_id="U0ONCALL", view=home, hash=first["hash"])["view"]
    assert second["id"] == first["id"]
    stale = {"user_id": "U0ONCALL", "view": home, "hash": first["hash"]}
    assert refused(client, "views.publish", **stale) == "hash_conflict"
    assert person.post("home", {"user": "U0ONCALL"})["events"][0]["event"]["view"] == second
    told = person.post("home", {"user": "U0ONCALL", "tab": "messages"})["events"][0]["event"]
    assert "view" not in told


def test_prompts_are_for_direct_messages(client: WebClient, person: Person) -> None:
    prompts = [{"title": "Runbooks", "message": "Which runbooks are there?"}]
    client.assistant_threads_setSuggestedPrompts(
        channel_id="D0ONCALL", prompts=prompts, title="Try"
    )
    assert person.get("state")["prompts"]["D0ONCALL"]["prompts"] == prompts
    for args in (
        {"channel_id": "C0GENERAL", "prompts": prompts},
        {"channel_id": "D0ONCALL", "prompts": prompts * 5},
        {"channel_id": "D0ONCALL", "prompts": [{"title": "no message"}]},
    ):
        with pytest.raises(SlackApiError):
            client.api_call("assistant.threads.setSuggestedPrompts", json=args)


def test_sessions_have_a_title(client: WebClient, person: Person) -> None:
    ts = person.say("hello")["ts"]
    thread: Json = {"channel_id": "C0GENERAL", "thread_ts": ts}
    named = {**thread, "title": "x"}
    assert refused(client, "agents.sessions.rename", **named) == "session_not_found"
    client.agents_sessions_setStatus(**thread, status="active", title="Refunds")
    client.agents_sessions_rename(**thread, title="Refunds, stuck")
    assert person.get("state")["sessions"][0]["title"] == "Refunds, stuck"
    client.assistant_threads_setTitle(**thread, title="Refunds again")
    assert person.get("state")["sessions"][0]["title"] == "Refunds again"
    long = {**thread, "title": "x" * 201}
    assert refused(client, "agents.sessions.rename", **long) == "invalid_arguments"
