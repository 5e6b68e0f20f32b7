"""``[channels]`` of ``footnote.toml``: what is read, and how Footnote then behaves in a channel."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.conversation import Conversation
from bot.channels import SECTIONS, Channel, Channels, read_channels
from bot.doctor import examine
from ingest.config_file import read_collections, read_config_file
from ingest.errors import SettingsError
from ingest.settings import IndexSettings
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack, answered
from tests.bot.test_run import System
from tests.conftest import ROOT
from tests.waiting import PATIENCE, wait_for

ONCALL, AT = "U0ONCALL", "<@U0FOOTNOTE>"
INCIDENT, GENERAL = "C0INCIDENT", "C0GENERAL"
HEAD = '[collections.runbooks]\npaths = ["oncall/**"]\ndescription = "Alerts"\n'


def read(text: str) -> Channels:
    Path("footnote.toml").write_text(HEAD + text, encoding="utf-8")
    config = read_config_file(IndexSettings().config, SECTIONS)
    return read_channels(config, read_collections(config))


def nameless(_channel: str) -> str | None:
    raise AssertionError("no name is needed")


def test_without_a_section_a_channel_is_as_it_always_was() -> None:
    channel = Channels().of(INCIDENT, nameless)
    assert channel == Channel()
    assert (channel.wishes, list(channel.described())) == ("", [])
    conversation = Conversation(())
    assert channel.applied_to(conversation) == conversation


def test_what_a_channel_does_not_say_comes_from_the_default() -> None:
    channels = read(
        """
        [channels.default]
        language = "German"
        follow_ups = false
        [channels."#payments-oncall"]
        tone = "Terse."
        collections = ["runbooks"]
        [channels.C0INCIDENT]
        follow_ups = true
        [channels.direct]
        language = "English"
        """
    )
    names = {INCIDENT: "payments-oncall", GENERAL: "general"}
    incident = channels.of(INCIDENT, names.get)
    assert (incident.follow_ups, incident.collections) == (True, ("runbooks",))
    assert incident.wishes == "answer in German; tone: Terse."
    general = channels.of(GENERAL, names.get)
    assert (general.follow_ups, general.collections) == (False, None)
    direct = channels.of("D0ONCALL", names.get)
    assert (direct.follow_ups, direct.wishes) == (False, "answer in English")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[channels.default]\nfolow_ups = true",
            "footnote.toml, line 5: channels.default.folow_ups is not known. "
            "Did you mean follow_ups?",
        ),
        (
            '[channels."#ops"]\nfollow_ups = "yes"',
            'footnote.toml, line 5: channels."#ops".follow_ups has to be true or false.',
        ),
        (
            '[channels.C0123]\ncollections = ["runbook"]',
            "footnote.toml, line 5: channels.C0123.collections names 'runbook', which is not a "
            "collection. Configured: runbooks.",
        ),
        (
            "[channels.ops]\noff = true",
            "footnote.toml, line 4: channels.ops is not a channel. Give its id, such as C0123ABCD, "
            'its name as "#name", or default or direct.',
        ),
        (
            '[channels.default]\nescalation = "@sre"',
            "footnote.toml, line 5: channels.default.escalation has to be the id of a user group "
            "(S…) or of a person (U…).",
        ),
        (
            '[channels.default]\nlanguage = ""',
            "footnote.toml, line 5: channels.default.language has to be one line of at most 300 "
            "characters.",
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_place_and_its_cure(text: str, line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(text)
    assert str(caught.value) == line


def test_the_example_file_is_valid_and_its_default_section_is_the_default() -> None:
    config = read_config_file(ROOT / "examples" / "footnote.toml", SECTIONS)
    collections = read_collections(config)
    channels = read_channels(config, collections)
    assert list(collections) == ["runbooks", "engineering", "people"]
    assert channels.of("C1", lambda _: None) == Channel()
    oncall = channels.of("C2", {"C2": "payments-oncall"}.get)
    assert oncall.collections == ("runbooks", "engineering")


def say(slack: Slack, text: str, channel: str = INCIDENT, **more: Any) -> str:
    return str(slack.post("say", channel=channel, user=ONCALL, text=text, **more)["ts"])


def replies(slack: Slack, ts: str) -> list[Json]:
    return [m for m in slack.messages(INCIDENT, ts) if m.get("bot_id") == "B0FOOTNOTE"]


def here(**given: Any) -> Channels:
    """The channel is known by its name only."""
    return Channels({"#payments-oncall": Channel(**given)})


def test_a_channels_collections_language_and_tone_reach_the_agent_there_and_nowhere_else(
    slack: Slack, start: Start, script: Script
) -> None:
    start(channels=here(collections=("runbooks",), language="German", tone="Terse."))
    say(slack, f"{AT} how?")
    wait_for(lambda: len(script.conversations) == 1)
    say(slack, f"{AT} how?", GENERAL)
    wait_for(lambda: len(script.conversations) == 2)
    asked, other = script.conversations
    assert asked.collections == ("runbooks",)
    assert asked.wishes == "answer in German; tone: Terse."
    assert replace(other, turns=(), waited=0.0) == Conversation((), asker_id=other.asker_id)


def test_where_only_mentions_are_answered_a_follow_up_is_not_but_stop_still_stops(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(channels=here(follow_ups=False))
    ts = say(slack, f"{AT} how do I roll back?")
    wait_for(lambda: replies(slack, ts))
    say(slack, "and how do I check it?", thread_ts=ts)
    running.settle(3)
    assert len(replies(slack, ts)) == 1
    script.gate.clear()
    script.entered.clear()
    say(slack, f"{AT} and how do I check it?", thread_ts=ts)
    assert script.entered.wait(PATIENCE)
    say(slack, "stop", thread_ts=ts)
    running.settle(6)
    assert len(replies(slack, ts)) == 1
    assert slack.calls("reactions.add")


def test_where_it_is_off_a_mention_is_told_so_in_private_and_nothing_is_asked(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(channels=here(off=True))
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert replies(slack, ts) == []
    [whisper] = slack.calls("chat.postEphemeral")
    assert "switched off in this channel" in whisper["args"]["text"]
    assert script.conversations == []
    say(slack, f"{AT} how do I roll back?", GENERAL)
    wait_for(lambda: script.conversations)


def test_a_private_answer_is_seen_by_the_asker_alone(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(channels=here(ephemeral=True), stream="all")
    script.parts = [lambda c: answered(c)]
    stuck = {"user": "U0ALERTS", "bot": "B0ALERTS", "text": "QueueStuck"}
    ts = str(slack.post("say", channel=INCIDENT, **stuck)["ts"])
    say(slack, f"{AT} how do I roll back?", thread_ts=ts)
    running.settle(3)
    assert slack.posts() == []
    assert slack.calls("chat.startStream") == []
    [sent] = slack.calls("chat.postEphemeral")
    assert sent["response"]["ok"]
    assert (sent["args"]["user"], sent["args"]["thread_ts"]) == (ONCALL, ts)
    shown = json.dumps(sent["args"])
    assert "kubectl rollout undo" in shown
    assert "footnote_human" in shown
    [record] = running.journal.answers(user=ONCALL, limit=5)
    assert record.verdict == "answered"


def test_a_private_answer_whose_blocks_are_refused_comes_as_plain_text(
    slack: Slack, start: Start
) -> None:
    running = start(channels=here(ephemeral=True))
    slack.post("fail", method="chat.postEphemeral", error="invalid_blocks", times=1)
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    refused, sent = slack.calls("chat.postEphemeral")
    assert not refused["response"]["ok"]
    assert "kubectl rollout undo" in sent["args"]["text"]
    assert "blocks" not in sent["args"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_runbook_comes_from_the_channels_collections_and_only_where_it_is_wanted(
    slack: Slack, start: Start, at_once: bool
) -> None:
    running = start(channels=here(runbook_at_once=at_once, collections=("runbooks",)))
    stuck = {"user": "U0ALERTS", "bot": "B0ALERTS", "text": "QueueStuck"}
    ts = str(slack.post("say", channel=INCIDENT, **stuck)["ts"])
    say(slack, AT, thread_ts=ts)
    running.settle(3)
    posted = slack.posts()[0]["text"]
    assert (posted == "Runbook runbooks") is at_once


def test_a_channel_may_stream_or_not_whatever_holds_elsewhere(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(channels=here(stream=True), stream="off")
    script.parts = [lambda c: answered(c)]
    say(slack, f"{AT} how do I roll back?")
    say(slack, f"{AT} how do I roll back?", GENERAL)
    running.settle(4)
    assert [c["args"]["channel"] for c in slack.calls("chat.startStream")] == [INCIDENT]


def test_footnote_status_explains_the_channel_and_its_group_is_called_from_there(
    tmp_path: Path,
) -> None:
    Path("footnote.toml").write_text(
        """
        [collections.runbooks]
        paths = ["*runbook.md"]
        description = "What to do <now>"
        [channels.C0INCIDENT]
        collections = ["runbooks"]
        follow_ups = false
        language = "English"
        escalation = "S0PAYMENTS"
        [channels."#general"]
        off = true
        """,
        encoding="utf-8",
    )
    system = System(tmp_path)

    def status(channel: str) -> str:
        system.slack.post("command", channel=channel, user=ONCALL, text="status")
        [whisper] = wait_for(lambda: system.whispers(channel))
        return str(whisper["text"])

    try:
        lines = status(INCIDENT).splitlines()
        assert "• `runbooks` (1 page): What to do &lt;now&gt;" in lines
        assert lines[lines.index("*In this channel*:") + 1 :] == [
            "• I use only these docs: `runbooks`.",
            "• I answer only when I am mentioned.",
            "• I answer in English.",
        ]
        assert status(GENERAL).endswith("*In this channel*:\n• I am switched off.")
        system.slack.post("command", channel=GENERAL, user=ONCALL, text="what is PAY-4031?")
        wait_for(lambda: "switched off" in system.whispers(GENERAL)[-1]["text"])

        ts, reply = system.ask(f"{AT} what does PAY-4031 mean?")
        assert "QueueStuck" not in json.dumps(system.model.requests[0].body["tools"])
        system.click("footnote_human", reply)
        called = "<!subteam^S0PAYMENTS>"
        wait_for(lambda: any(called in m["text"] for m in system.slack.messages(INCIDENT, ts)))
    finally:
        system.close()


def test_doctor_says_what_the_file_sets_or_what_is_wrong_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")

    def finding() -> tuple[str, str]:
        [found] = [f for f in examine() if f.name == "footnote.toml"]
        return found.state, found.said

    assert finding() == (
        "ok",
        "none: one collection with all docs, the same settings for every channel",
    )
    Path("footnote.toml").write_text(HEAD + "[channels.default]\noff = true")
    assert finding() == ("ok", "footnote.toml: 1 collections, 1 sections for channels")
    Path("footnote.toml").write_text(HEAD + "[channels.default]\noff = 1")
    state, said = finding()
    assert state == "fail"
    assert said == "footnote.toml, line 5: channels.default.off has to be true or false."
