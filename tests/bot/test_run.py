"""The whole system as ``footnote run`` wires it: sandbox, real index, and a model behind HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.settings import AgentSettings
from bot.app import Service, serve
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.signals import Ending
from bot.slack.clients import SlackRefused
from bot.slack.endpoint import listen
from bot.slack.manifest import Manifest
from ingest.errors import DataFolderBusy, FootnoteError, SettingsError
from ingest.index import live
from ingest.settings import IndexSettings
from tests.bot.blocks.shown import shown
from tests.bot.stage import Json, Slack, patient_rules
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Turn
from tests.waiting import free_port, wait_for

ONCALL = "U0ONCALL"
RUNBOOK = """# Payments runbook

## Error PAY-4031

PAY-4031 means that the signing key was rotated. Both versions are valid for 24 hours.
"""
ALERT = """# QueueStuck

## Mitigation

Drain the queue with `queuectl drain`, then restart its consumers.
"""


def in_paragraphs(request: Request) -> Turn:
    """As ``search_then_answer``, but asked for paragraphs it has more to say."""
    turn = search_then_answer(request)
    if turn.tools or "paragraph" not in request.question:
        return turn
    cited = f"[{request.passages[0].id}]"
    return Turn(text=f"The signing key was rotated {cited}.\n\nBoth versions are valid {cited}.\n")


class System:
    """One running bot with everything around it."""

    def __init__(self, folder: Path, *, http: bool = False) -> None:
        self.folder = folder
        (folder / "docs").mkdir()
        (folder / "docs" / "payments-runbook.md").write_text(RUNBOOK)
        (folder / "docs" / "QueueStuck.md").write_text(ALERT)
        port = free_port()
        url = f"http://127.0.0.1:{port}/slack/events" if http else None
        self.sandbox = Sandbox(manifest=Manifest(), rules=patient_rules(), events_url=url)
        self.sandbox.start()
        self.slack = Slack(self.sandbox.url)
        self.model = MessagesServer(in_paragraphs).__enter__()
        self.settings = bot_settings(self.sandbox.api_url, port=port, help_group="S0DOCS")
        self.service: Service = Service(self.settings, index_settings(folder), self.agent_settings)
        self.service.connect(http=http)
        self.service.start()
        wait_for(lambda: self.service.index.status().documents)

    @property
    def agent_settings(self) -> AgentSettings:
        return AgentSettings(api_key="test", base_url=self.model.url)

    def close(self) -> None:
        self.service.stop()
        self.model.close()
        self.sandbox.stop()

    def ask(self, text: str, **more: Any) -> tuple[str, Json]:
        """Post as a person; the ts of the message and the reply to it."""
        body = {"channel": "C0INCIDENT", "user": ONCALL, "text": text, **more}
        ts = str(self.slack.post("say", **body)["ts"])
        root = str(more.get("thread_ts", ts))

        def reply() -> list[Json]:
            own = [m for m in self.slack.messages(body["channel"], root) if m.get("metadata")]
            return [m for m in own if m["metadata"]["event_payload"]["question"] == ts]

        found: Json = wait_for(reply)[0]
        answer_id = found["metadata"]["event_payload"]["answer"]
        wait_for(lambda: self.placed(answer_id))
        return ts, found

    def placed(self, answer_id: str) -> bool:
        """Whether the bot is done with an answer: it writes down where the reply stands last."""
        record = self.service.journal.answer(answer_id)
        return record is not None and record.reply_ts is not None

    def click(self, action_id: str, message: Json, **more: Any) -> Json:
        place = {"channel": "C0INCIDENT", "ts": message["ts"]}
        return self.slack.post("click", user=ONCALL, action_id=action_id, **place, **more)

    def whispers(self, channel: str = "C0INCIDENT") -> list[Json]:
        return [m for m in self.slack.messages(channel) if "_viewer" in m]


def bot_settings(api_url: str, **more: Any) -> BotSettings:
    fields = {"bot_token": "xoxb-sandbox", "app_token": "xapp-sandbox", "signing_secret": "sandbox"}
    return BotSettings(**{**fields, "slack_api_url": api_url, **more})


def index_settings(folder: Path) -> IndexSettings:
    return IndexSettings(
        docs_repo=str(folder / "docs"), data_dir=folder / "data", embedder_int8=False
    )


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(tmp_path_factory.mktemp("system"))
    yield running
    running.close()


def test_a_mention_gets_a_cited_answer_and_a_follow_up_has_the_earlier_turns(
    system: System,
) -> None:
    ts, reply = system.ask("@Footnote what does error PAY-4031 mean?")
    assert "[payments-runbook-0]" in json.dumps(reply["blocks"]).replace("\\\\", "")
    system.ask("and how long are both versions valid?", thread_ts=ts)
    [*earlier, asked] = system.model.requests[-1].body["messages"]
    assert "what does error PAY-4031 mean?" in json.dumps(earlier)
    assert "payments-runbook-0" in json.dumps(earlier)
    assert "and how long are both versions valid?" in json.dumps([*earlier, asked])


def test_under_an_alert_its_runbook_comes_at_once_and_the_answer_takes_its_place(
    system: System,
) -> None:
    alert = [{"title": "[FIRING:1] QueueStuck (payments critical)", "fallback": "QueueStuck"}]
    body = {"channel": "C0INCIDENT", "user": "U0ALERTS", "bot": "B0ALERTS", "text": ""}
    ts = str(system.slack.post("say", **body, attachments=alert)["ts"])
    _, reply = system.ask("@Footnote", thread_ts=ts)
    thread = [c for c in system.slack.calls("chat.postMessage") if c["args"].get("thread_ts") == ts]
    [runbook] = thread
    assert "queuectl drain" in json.dumps(runbook["args"]["blocks"])
    assert reply["ts"] == runbook["response"]["ts"]
    assert "found by" not in json.dumps(reply["blocks"])


def test_in_a_direct_message_the_answer_grows_by_checked_paragraphs(system: System) -> None:
    _, reply = system.ask("what is error PAY-4031? in two paragraphs", channel="D0ONCALL")
    [begun] = system.slack.calls("chat.startStream")
    assert begun["response"]["ts"] == reply["ts"]
    assert "The signing key was rotated" in json.dumps(begun["args"]["chunks"])
    assert "Both versions" not in json.dumps(begun["args"]["chunks"])
    text = shown([reply]).text
    assert text.count("The signing key was rotated") == text.count("Both versions are valid") == 1
    assert "footnote_thumbs" in json.dumps(reply["blocks"])


def test_a_thumb_down_is_counted_before_its_reason_is_asked(system: System) -> None:
    _, reply = system.ask("@Footnote what does PAY-4031 mean?")
    answer_id = reply["metadata"]["event_payload"]["answer"]
    system.click("footnote_feedback", reply, value=f"{answer_id}:down")
    wait_for(lambda: system.slack.calls("views.open"))
    assert [(v.vote, v.reason) for v in system.service.journal.votes(answer_id)] == [("down", None)]
    system.slack.post("submit", user=ONCALL, values={"reason": "too short"})
    wait_for(lambda: system.service.journal.votes(answer_id)[0].reason)
    assert system.service.journal.votes(answer_id)[0].reason == "too short"
    system.click("footnote_feedback", reply, value=f"{answer_id}:up")
    wait_for(lambda: system.service.journal.votes(answer_id)[0].vote == "up")


def test_need_a_human_calls_the_group_once_and_names_what_was_cited(system: System) -> None:
    ts, reply = system.ask("@Footnote what does PAY-4031 mean now?")

    def calls() -> list[str]:
        thread = system.slack.messages("C0INCIDENT", ts)
        return [m["text"] for m in thread if "needs a human" in m["text"]]

    system.click("footnote_human", reply)
    [call] = wait_for(calls)
    assert call.startswith(f":raising_hand: <!subteam^S0DOCS> <@{ONCALL}> needs a human")
    assert "`payments-runbook.md`" in call
    before = len(system.whispers())
    system.click("footnote_human", reply)
    wait_for(lambda: len(system.whispers()) > before)
    assert len(calls()) == 1


def test_show_passages_quotes_them_to_the_one_who_asks(system: System) -> None:
    _, reply = system.ask("@Footnote what does PAY-4031 mean, please?")
    before = len(system.whispers())
    system.click("footnote_passages", reply)
    shown = wait_for(lambda: system.whispers()[before:])[0]
    assert shown["_viewer"] == ONCALL
    assert "the signing key was rotated" in json.dumps(shown["blocks"])


def test_the_command_answers_its_asker_alone_until_shared(system: System) -> None:
    place = {"channel": "C0GENERAL", "user": ONCALL}

    def answers() -> list[Json]:
        return [m for m in system.whispers("C0GENERAL") if "rotated" in json.dumps(m)]

    system.slack.post("command", **place, text="what does error PAY-4031 mean?")
    [answer] = wait_for(answers)
    assert answer["_viewer"] == ONCALL
    shown = [m for m in system.slack.messages("C0GENERAL") if "_viewer" not in m]
    assert not shown
    system.slack.post("click", **place, action_id="footnote_share", ts=answer["ts"])

    def shared() -> list[Json]:
        return [m for m in system.slack.messages("C0GENERAL") if "_viewer" not in m][1:]

    [posted] = wait_for(shared)
    assert "[payments-runbook-0]" in json.dumps(posted["blocks"]).replace("\\\\", "")
    assert "footnote_share" not in json.dumps(posted)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("help", "answers only to you"),
        ("", "answers only to you"),
        ("status", "pages in"),
    ],
)
def test_the_command_tells_about_itself(text: str, says: str, system: System) -> None:
    before = len(system.whispers())
    system.slack.post("command", channel="C0INCIDENT", user=ONCALL, text=text)
    [told] = wait_for(lambda: system.whispers()[before:])
    assert says in told["text"]


def test_the_shortcut_answers_the_message_it_was_used_on(system: System) -> None:
    text = "what is error PAY-4031 about"
    ts = system.slack.post("say", channel="C0INCIDENT", user="U0ENGINEER", text=text)["ts"]
    place = {"channel": "C0INCIDENT", "ts": ts, "user": ONCALL}
    system.slack.post("shortcut", **place, callback_id="ask_about_message")

    def replies() -> list[Json]:
        return [m for m in system.slack.messages("C0INCIDENT", ts) if m.get("metadata")]

    wait_for(replies)
    assert text in json.dumps(system.model.requests[-1].body["messages"])


def test_people_hear_that_the_index_is_damaged_until_it_is_rebuilt(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "REBUILD_SECONDS", 0.0)
    docs, away = system.folder / "docs", system.folder / "away"
    docs.rename(away)  # until it is back, no rebuild succeeds
    for database in system.folder.glob("data/index-*/pages.sqlite"):
        database.unlink()
    _, reply = system.ask("@Footnote what does error PAY-4031 mean at night?")
    said = "The index of the docs cannot be read; it is being rebuilt."
    assert said in json.dumps(reply["blocks"])
    before = len(system.whispers())
    system.slack.post("command", channel="C0INCIDENT", user=ONCALL, text="status")
    [told] = wait_for(lambda: system.whispers()[before:])
    assert said in told["text"]
    away.rename(docs)

    def is_cited() -> bool:
        _, reply = system.ask("@Footnote what does error PAY-4031 mean by day?")
        return "[payments-runbook-0]" in json.dumps(reply["blocks"]).replace("\\\\", "")

    wait_for(is_cited)


def test_the_home_tab_shows_what_it_knows(system: System) -> None:
    system.ask("@Footnote what does PAY-4031 mean for me?")
    system.slack.post("home", user=ONCALL, tab="home")
    [view] = wait_for(lambda: system.slack.calls("views.publish"))
    shown = json.dumps(view["args"]["view"])
    assert "pages in" in shown
    assert "payments-runbook.md" in shown
    assert view["response"]["ok"]


def test_reindex_asks_for_an_ingest(system: System) -> None:
    (system.folder / "docs" / "second.md").write_text("# Second\n\nA page.\n")
    system.slack.post("command", channel="C0INCIDENT", user=ONCALL, text="reindex")
    wait_for(lambda: system.service.index.status().documents == 3)
    (system.folder / "docs" / "second.md").unlink()


def test_by_http_it_works_the_same(tmp_path: Path) -> None:
    system = System(tmp_path, http=True)
    try:
        _, reply = system.ask("@Footnote what does error PAY-4031 mean?")
        assert "[payments-runbook-0]" in json.dumps(reply["blocks"]).replace("\\\\", "")
        with pytest.raises(FootnoteError, match=f"port {system.settings.port} cannot be used"):
            listen(system.service.bot.app, system.settings.port)
        with pytest.raises(DataFolderBusy):
            Service(system.settings, index_settings(tmp_path), system.agent_settings)
    finally:
        system.close()


@pytest.mark.parametrize(
    ("settings", "http", "says"),
    [
        ({"bot_token": None}, False, "SLACK_BOT_TOKEN"),
        ({"bot_token": "xapp-wrong"}, False, "SLACK_BOT_TOKEN"),
        ({"app_token": None}, False, "SLACK_APP_TOKEN"),
        ({"app_token": "xoxb-wrong"}, False, "SLACK_APP_TOKEN"),
        ({"signing_secret": None}, True, "SLACK_SIGNING_SECRET"),
    ],
)
def test_a_missing_or_wrong_token_is_named(settings: Json, http: bool, says: str) -> None:
    chosen = bot_settings("http://127.0.0.1:1/api/", **settings)

    def start() -> None:
        chosen.require_tokens(http=http)
        serve(chosen, Ending(), http=http)

    with pytest.raises(SettingsError, match=says):
        start()


def test_slack_that_cannot_be_reached_or_refuses_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SlackRefused, match=r"cannot be reached at http://127\.0\.0\.1:1/api/"):
        serve(bot_settings("http://127.0.0.1:1/api/"), Ending(), http=False)
    sandbox = Sandbox(manifest=Manifest())
    sandbox.start()
    try:
        with pytest.raises(SlackRefused, match="invalid_auth"):
            serve(bot_settings(sandbox.api_url, bot_token="xoxb-wrong"), Ending(), http=False)
        settings = bot_settings(sandbox.api_url, app_token="xapp-wrong")
        bot = Service(settings, index_settings(tmp_path), AgentSettings())
        with pytest.raises(SlackRefused, match="invalid_auth"):
            bot.connect(http=False)
        bot.stop()
    finally:
        sandbox.stop()
