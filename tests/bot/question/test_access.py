"""The same rules of access hold for events, commands, shortcuts, buttons and App Home."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from slack_sdk import WebClient

from bot.channels import Channel
from bot.listeners.bolt import ANYTHING
from bot.listeners.interaction import InteractionListener
from bot.question.access import Access, Asker
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.identity import Identity
from bot.slack.people import People
from tests.bot.stage import Json, Slack
from tests.bot.test_run import ONCALL, System
from tests.waiting import wait_for

GUEST = "U0GUEST"
SHARED, INCIDENT, GENERAL = "C0SHARED", "C0INCIDENT", "C0GENERAL"


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(tmp_path_factory.mktemp("system"))
    yield running
    running.close()


def public(system: System, channel: str) -> list[Json]:
    """Public posts of the app in a channel."""
    posts = [c["args"] for c in system.slack.calls("chat.postMessage", "chat.update")]
    return [args for args in posts if args["channel"] == channel]


def told(system: System, channel: str, before: int) -> Json:
    found: Json = wait_for(lambda: system.whispers(channel)[before:])[0]
    return found


def test_the_shortcut_posts_nothing_where_other_organisations_read(system: System) -> None:
    text = "what is error PAY-4031 about"
    ts = system.slack.post("say", channel=SHARED, user=ONCALL, text=text)["ts"]
    before, asked = len(system.whispers(SHARED)), len(system.model.requests)
    place = {"channel": SHARED, "ts": ts, "user": ONCALL}
    system.slack.post("shortcut", **place, callback_id="ask_about_message")
    assert "shared with another organisation" in told(system, SHARED, before)["text"]
    assert not public(system, SHARED)
    assert len(system.model.requests) == asked


def test_a_mention_is_refused_in_private_where_other_organisations_read(system: System) -> None:
    before, asked = len(system.whispers(SHARED)), len(system.model.requests)
    text = "@Footnote what is error PAY-4031 about?"
    system.slack.post("say", channel=SHARED, user=ONCALL, text=text)
    said = told(system, SHARED, before)
    assert "shared with another organisation" in said["text"]
    assert said["_viewer"] == ONCALL
    assert not public(system, SHARED)
    assert len(system.model.requests) == asked


def test_the_command_answers_nothing_where_other_organisations_read(system: System) -> None:
    before = len(system.whispers(SHARED))
    system.slack.post("command", channel=SHARED, user=ONCALL, text="what is PAY-4031?")
    assert "shared with another organisation" in told(system, SHARED, before)["text"]


def test_a_private_answer_cannot_be_shared_once_its_channel_is_shared_with_others(
    system: System,
) -> None:
    place = {"channel": GENERAL, "user": ONCALL}
    system.slack.post("command", **place, text="what does error PAY-4031 mean?")

    def answers() -> list[Json]:
        return [m for m in system.whispers(GENERAL) if "rotated" in json.dumps(m)]

    [answer] = wait_for(answers)
    event = {"type": "message", "channel": GENERAL, "user": ONCALL, "text": "welcome, partners"}
    body = {"type": "event_callback", "team_id": "T0SANDBOX", "event_id": "Ev0SHARED"}
    event |= {"ts": f"{float(answer['ts']) + 1:.6f}"}
    system.slack.deliver({**body, "event": event, "is_ext_shared_channel": True})
    before = len(system.whispers(GENERAL))
    system.slack.post("click", **place, action_id="footnote_share", ts=answer["ts"])
    assert "shared with another organisation" in told(system, GENERAL, before)["text"]
    assert not public(system, GENERAL)


@pytest.mark.parametrize("button", ["footnote_passages", "footnote_human", "footnote_feedback"])
def test_a_person_who_may_not_ask_may_not_use_the_buttons_either(
    button: str, system: System
) -> None:
    _, reply = system.ask(f"@Footnote what does PAY-4031 mean for {button}?")
    before, posted = len(system.whispers()), len(public(system, INCIDENT))
    place = {"channel": INCIDENT, "ts": reply["ts"], "user": GUEST, "action_id": button}
    value = {"value": f"{reply['metadata']['event_payload']['answer']}:up"}
    system.slack.post("click", **place, **(value if button == "footnote_feedback" else {}))
    said = told(system, INCIDENT, before)
    assert "guest accounts" in said["text"]
    assert said["_viewer"] == GUEST
    assert len(public(system, INCIDENT)) == posted


def test_app_home_shows_nothing_of_the_docs_to_a_person_who_may_not_ask(system: System) -> None:
    before = len(system.slack.calls("views.publish"))
    system.slack.post("home", user=GUEST, tab="home")
    [call] = wait_for(lambda: system.slack.calls("views.publish")[before:])
    view = json.dumps(call["args"]["view"])
    assert "guest accounts" in view
    assert "pages" not in view


def test_nothing_is_posted_if_slack_does_not_say_whether_the_channel_is_shared(
    system: System,
) -> None:
    ts = system.slack.post("say", channel=INCIDENT, user=ONCALL, text="PAY-4031?")["ts"]
    before, posted = len(system.whispers()), len(public(system, INCIDENT))
    system.slack.post("fail", method="conversations.info", error="channel_not_found")
    place = {"channel": INCIDENT, "ts": ts, "user": ONCALL}
    system.slack.post("shortcut", **place, callback_id="ask_about_message")
    assert "I cannot see whether" in told(system, INCIDENT, before)["text"]
    assert len(public(system, INCIDENT)) == posted


def test_access_is_checked_for_everything_but_events(system: System) -> None:
    guard = InteractionListener.guarded.__qualname__
    for listener in system.service.bot.listeners:
        is_guarded = listener.handle.__qualname__.startswith(guard)
        assert is_guarded or listener.kind == "event" or listener.name is ANYTHING


def test_an_allowed_person_does_not_make_a_shared_channel_allowed() -> None:
    """FOOTNOTE_ALLOWED_USERS is about people, but everybody reads a post in the channel."""
    asker = Asker("U0GUEST", SHARED, is_shared=True, is_public=True)
    settings = BotSettings(bot_token="xoxb-1", allowed_users=("U0GUEST",))
    people = People(WebClient(base_url="http://127.0.0.1:1/"))
    access = Access(people, Identity("U0", None, "T0"), settings, lambda _: Channel())
    assert "shared with another organisation" in (access.refusal(asker) or "")
    assert access.refusal(replace(asker, channel=INCIDENT, is_shared=None, is_public=False)) is None


def test_people_of_another_workspace_of_the_organisation_may_ask(
    workspace: Sandbox, slack: Slack
) -> None:
    sister = {"team_id": "T0SISTER", "enterprise_user": {"enterprise_id": "E0CORP"}}
    foreign = {"team_id": "T0FOREIGN", "enterprise_user": {"enterprise_id": "E0OTHER"}}
    slack.post("reset", users={"U0SISTER": sister, "U0FOREIGN": foreign})
    people = People(WebClient("xoxb-sandbox", base_url=workspace.api_url))
    me = Identity("U0FOOTNOTE", None, "T0SANDBOX", "E0CORP")
    settings = BotSettings(bot_token="xoxb-1")
    access = Access(people, me, settings, lambda _: Channel())
    assert access.refusal(Asker("U0SISTER", user_team="T0SISTER")) is None
    assert access.refusal(Asker("U0FOREIGN", user_team="T0FOREIGN")) is not None
