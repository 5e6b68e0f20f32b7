"""conversations.*, users.* and the rest that the bot looks things up with."""

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.bot.sandbox.conftest import Json, Person, refused


def test_a_thread_comes_in_pages_root_first(client: WebClient, person: Person) -> None:
    person.post("rules", {"page_size": 2})
    root = person.say("0")
    for number in range(1, 5):
        person.say(str(number), thread_ts=root["ts"])
    pages = [
        ([message["text"] for message in page["messages"]], page["has_more"])
        for page in client.conversations_replies(channel="C0GENERAL", ts=root["ts"], limit=200)
    ]
    assert pages == [(["0", "1"], True), (["2", "3"], True), (["4"], False)]
    place = {"channel": "C0GENERAL", "ts": root["ts"]}
    assert refused(client, "conversations.replies", **place, cursor="nonsense") == "invalid_cursor"


def test_replies_of_an_unknown_thread_are_an_error(client: WebClient, person: Person) -> None:
    place = {"channel": "C0GENERAL", "ts": "1700000000.000001"}
    assert refused(client, "conversations.replies", **place) == "thread_not_found"


def test_history_is_newest_first_without_replies(client: WebClient, person: Person) -> None:
    first = person.say("first")
    person.say("a reply", thread_ts=first["ts"])
    person.say("broadcast", thread_ts=first["ts"], broadcast=True)
    last = person.say("last")
    history = client.conversations_history(channel="C0GENERAL")["messages"]
    assert [message["text"] for message in history] == ["last", "broadcast", "first"]
    newer = client.conversations_history(channel="C0GENERAL", oldest=first["ts"], latest=last["ts"])
    assert [message["text"] for message in newer["messages"]] == ["broadcast"]


def test_channels_say_what_they_are(client: WebClient, person: Person) -> None:
    def info(channel: str) -> Json:
        found: Json = client.conversations_info(channel=channel)["channel"]
        return found

    assert info("C0INCIDENT")["name"] == "payments-oncall"
    assert info("C0PRIVATE")["is_private"] is True
    assert info("C0SHARED")["is_ext_shared"] is True
    assert info("D0ONCALL")["user"] == "U0ONCALL"
    names = [c["name"] for c in client.conversations_list()["channels"]]
    assert names == ["general", "payments-oncall", "partners"]
    private = client.conversations_list(types="private_channel,im")["channels"]
    assert [channel["id"] for channel in private] == ["C0PRIVATE", "D0ONCALL"]
    assert "U0EXTERNAL" in client.conversations_members(channel="C0SHARED")["members"]


def test_a_direct_message_is_opened_once(client: WebClient) -> None:
    opened = client.conversations_open(users="U0ENGINEER")["channel"]["id"]
    assert opened == "D0ENGINEER"
    assert client.conversations_open(users=["U0ENGINEER"])["channel"]["id"] == opened
    assert client.chat_postMessage(channel="U0ENGINEER", text="hi")["channel"] == opened


def test_joining_makes_a_channel_readable(client: WebClient, person: Person) -> None:
    person.post("reset", {"channels": {"C0OTHER": {"is_member": False}}})
    assert refused(client, "conversations.history", channel="C0OTHER") == "not_in_channel"
    client.conversations_join(channel="C0OTHER")
    assert client.conversations_history(channel="C0OTHER")["messages"] == []


FAR = {"team_id": "T0FAR", "is_stranger": True}


def test_people_and_bots_are_known(client: WebClient, person: Person) -> None:
    person.post(
        "reset", {"users": {"U0GONE": {"error": "user_not_found"}, "U0SAM": "sam", "U0FAR": FAR}}
    )
    far = client.users_info(user="U0FAR")["user"]
    assert (far["team_id"], far["is_stranger"], far["profile"]["team"]) == ("T0FAR", True, "T0FAR")
    assert client.users_info(user="U0GUEST")["user"]["is_ultra_restricted"] is True
    assert client.users_info(user="U0EXTERNAL")["user"]["team_id"] == "T0OTHER"
    assert client.users_info(user="U0SAM")["user"]["profile"]["display_name"] == "sam"
    assert client.bots_info(bot="B0FOOTNOTE")["bot"]["app_id"] == "A0FOOTNOTE"
    assert client.team_info()["team"]["id"] == "T0SANDBOX"
    assert refused(client, "users.info", user="U0GONE") == "user_not_found"
    assert refused(client, "users.info", user="U0NEVER") == "user_not_found"
    assert refused(client, "bots.info", bot="B0NEVER") == "bot_not_found"
    members = [member["id"] for page in client.users_list(limit=3) for member in page["members"]]
    assert len(members) == len(set(members)) == 9


def test_reactions_are_counted_and_refused_twice(client: WebClient, person: Person) -> None:
    ts = person.say("hello")["ts"]
    item = {"channel": "C0GENERAL", "timestamp": ts}
    client.reactions_add(**item, name="eyes")
    person.post("react", {"user": "U0ONCALL", "channel": "C0GENERAL", "ts": ts, "name": "eyes"})
    assert refused(client, "reactions.add", **item, name="eyes") == "already_reacted"
    assert client.reactions_get(**item)["message"]["reactions"] == [
        {"name": "eyes", "users": ["U0FOOTNOTE", "U0ONCALL"], "count": 2}
    ]
    client.reactions_remove(**item, name="eyes")
    assert refused(client, "reactions.remove", **item, name="eyes") == "no_reaction"
    assert refused(client, "reactions.add", **item, name="no such") == "invalid_name"


def test_tokens_scopes_and_methods_are_checked(client: WebClient, person: Person) -> None:
    person.post("rules", {"scopes": ["chat:write", "channels:history"]})
    with pytest.raises(SlackApiError) as caught:
        client.conversations_history(channel="D0ONCALL")
    assert caught.value.response["needed"] == "im:history"
    assert caught.value.response["provided"] == "channels:history,chat:write"
    assert client.conversations_history(channel="C0GENERAL")["ok"]
    customized = {"channel": "C0GENERAL", "text": "x", "username": "root"}
    assert refused(client, "chat.postMessage", **customized) == "missing_scope"
    assert refused(client, "chat.shout") == "unknown_method"
    assert refused(client, "apps.connections.open") == "not_allowed_token_type"
    client.token = "xoxb-wrong"
    assert refused(client, "auth.test") == "invalid_auth"
    client.token = None
    assert refused(client, "auth.test") == "not_authed"


def test_missing_arguments_are_named(client: WebClient) -> None:
    with pytest.raises(SlackApiError) as caught:
        client.api_call("reactions.add", json={"channel": "C0GENERAL"})
    assert caught.value.response["response_metadata"]["messages"] == [
        "[ERROR] missing required field: timestamp",
        "[ERROR] missing required field: name",
    ]
