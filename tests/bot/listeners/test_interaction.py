"""The payload of a command, shortcut, button or form -> an Interaction."""

from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from slack_bolt import Respond

from bot.listeners.interaction import Interaction, read_interaction
from bot.slack.identity import Identity

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX")


def read(body: dict[str, Any]) -> Interaction:
    return read_interaction(body, cast(Respond, None), ME, is_public=True)


def test_the_asker_of_a_command_and_of_a_button_is_known() -> None:
    command = read({"user_id": "U1", "channel_id": "C1", "text": " how? "})
    assert (command.asker.user, command.asker.channel, command.text) == ("U1", "C1", "how?")
    person = {"id": "U1", "team_id": "T1"}
    button = read({"user": person, "channel": {"id": "C1"}, "actions": [{"value": "a1:up"}]})
    assert (button.asker.user, button.asker.user_team, button.value) == ("U1", "T1", "a1:up")


def test_a_message_tells_its_thread_and_a_form_its_inputs() -> None:
    message = {"ts": "1.2", "thread_ts": "1.1", "user": "U1"}
    click = read({"message": message, "container": {"thread_ts": "9.9"}})
    assert click.message is not None
    assert (click.message.ts, click.thread_ts) == ("1.2", "1.1")
    state = {"values": {"block": {"reason": {"value": " outdated "}}}}
    form = read({"view": {"private_metadata": "a1", "state": state}})
    assert (form.form_about, form.inputs) == ("a1", {"reason": "outdated"})


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
PLACES = st.sampled_from(
    ["user", "user_id", "channel", "channel_id", "text", "actions", "message", "container", "view",
     "state", "values", "value", "trigger_id", "private_metadata"]
)  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(PLACES, JSON | st.dictionaries(PLACES, JSON, max_size=3)))
def test_no_payload_is_strange_enough_to_raise(body: dict[str, Any]) -> None:
    read(body)
