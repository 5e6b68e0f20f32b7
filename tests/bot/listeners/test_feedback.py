"""Buttons under an answer, and App Home."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_bolt import Respond
from slack_sdk.webhook import WebhookResponse

from agent.answer import Answer
from bot.blocks.elements import section
from bot.journal.records import answer_record
from bot.listeners.feedback import passage_blocks, summary
from bot.listeners.home import EXAMPLES, run_lines
from bot.listeners.interaction import read_interaction
from bot.question.event import Key, by_hand
from bot.slack.identity import Identity
from ingest.runs.record import IngestRun
from tests.bot import test_run
from tests.bot.stage import RUNBOOK, Json
from tests.bot.test_run import ONCALL, System
from tests.waiting import wait_for

INCIDENT = "C0INCIDENT"
ASKED = by_hand("message", Key("T0SANDBOX", INCIDENT, "1.1"), ONCALL)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    running = System(tmp_path_factory.mktemp("system"))
    yield running
    running.close()


def calls_for_help(system: System, ts: str) -> list[str]:
    thread = system.slack.messages(INCIDENT, ts)
    return [m["text"] for m in thread if "needs a human" in m["text"]]


def test_a_call_for_a_human_that_slack_refused_can_be_made_again_once(system: System) -> None:
    ts, reply = system.ask("@Footnote what does PAY-4031 mean?")
    system.slack.post("fail", method="chat.postMessage", error="channel_is_limited_access")
    before = len(system.whispers())
    system.click("footnote_human", reply)
    [told] = wait_for(lambda: system.whispers()[before:])
    assert "Try again" in told["text"]
    system.click("footnote_human", reply)
    wait_for(lambda: calls_for_help(system, ts))
    before = len(system.whispers())
    system.click("footnote_human", reply)
    [told] = wait_for(lambda: system.whispers()[before:])
    assert told["text"] == "The call for help is in the thread already."
    assert len(calls_for_help(system, ts)) == 1


@pytest.mark.parametrize("place", ["message", "container"])
def test_a_line_about_a_click_is_shown_in_its_thread_whoever_sees_the_message(place: str) -> None:
    shown: list[Json] = []

    def respond(**message: object) -> WebhookResponse:
        shown.append(message)
        return WebhookResponse(url="", status_code=200, body="ok", headers={})

    respond.response_url = "https://slack.invalid"  # type: ignore[attr-defined]  # as Bolt's own has
    me = Identity("U0FOOTNOTE", None, "T0SANDBOX")
    body = {place: {"thread_ts": "1.1"}}
    read_interaction(body, cast(Respond, respond), me, is_public=False).say("Noted.")
    assert [message["thread_ts"] for message in shown] == ["1.1"]


def test_a_reason_is_thanked_for(system: System) -> None:
    _, reply = system.ask("@Footnote what does error PAY-4031 mean?")
    answer_id = reply["metadata"]["event_payload"]["answer"]
    system.click("footnote_feedback", reply, value=f"{answer_id}:down")
    wait_for(lambda: system.slack.calls("views.open"))
    before = len(system.whispers())
    system.slack.post("submit", user=ONCALL, values={"reason": "too short"})
    [told] = wait_for(lambda: system.whispers()[before:])
    assert told["text"].startswith("Thank you.")
    assert told["thread_ts"] == reply["thread_ts"]


def test_the_owner_of_a_cited_page_is_called_if_footnote_toml_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    owned = f"---\nowner: '@acme/payments'\n---\n{test_run.RUNBOOK}"
    monkeypatch.setattr(test_run, "RUNBOOK", owned)
    Path("footnote.toml").write_text(
        '[owners."@acme/payments"]\nescalation = "S0PAYMENTS"\n', encoding="utf-8"
    )
    system = System(tmp_path)
    try:
        ts, reply = system.ask("@Footnote what does PAY-4031 mean?")
        system.click("footnote_human", reply)
        [call] = wait_for(lambda: calls_for_help(system, ts))
        assert call.startswith(f":raising_hand: <!subteam^S0PAYMENTS> <@{ONCALL}> needs a human")
        assert "Owner: `@acme/payments`." in call
    finally:
        system.close()


def test_a_call_that_reaches_nobody_says_so_and_speaks_of_the_answer_in_words() -> None:
    record = answer_record(ASKED, Answer("a1", "?", "partly", citations=(RUNBOOK,)), "1.2")
    line = summary(record, ONCALL, [], {"payments-runbook.md": "@acme/payments"}, None)
    assert line == (
        f":raising_hand: <@{ONCALL}> needs a human here. Nobody is set up to be called from here: "
        "whoever reads this, please help. I answered, but only a part of it is in the docs. "
        "Pages: `payments-runbook.md`. Owner: `@acme/payments`."
    )


def test_a_second_press_says_what_is_true_where_nobody_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_of = test_run.bot_settings
    monkeypatch.setattr(
        test_run,
        "bot_settings",
        lambda url, **values: settings_of(url, **{**values, "help_group": None}),
    )
    system = System(tmp_path)
    try:
        ts, reply = system.ask("@Footnote what does PAY-4031 mean?")
        system.click("footnote_human", reply)
        [call] = wait_for(lambda: calls_for_help(system, ts))
        assert "Nobody is set up to be called" in call
        before = len(system.whispers())
        system.click("footnote_human", reply)
        [told] = wait_for(lambda: system.whispers()[before:])
        assert told["text"] == "The call for help is in the thread already."
        assert calls_for_help(system, ts) == [call]
    finally:
        system.close()


OWNERS = st.lists(
    st.sampled_from(
        ["https://evil.example/x", "evil.example", "<!here>", "<@U1>", "`", "*b*", "\n"]
    )
    | st.text(max_size=20),
    max_size=40,
).map(" ".join)


@settings(deadline=None)
@given(st.lists(OWNERS, max_size=9))
def test_owners_of_pages_are_short_code_that_slack_makes_no_link_of(owners: list[str]) -> None:
    record = answer_record(ASKED, Answer("a1", "?", "partly", citations=(RUNBOOK,)), "1.2")
    line = summary(record, ONCALL, [], {str(n): owner for n, owner in enumerate(owners)}, None)
    before, _, named = line.partition(" Owner: ")
    assert len(line) < 3_000
    assert re.fullmatch(r"(?:`[^`\n<>]*`(?:, |\.$))*", named)
    assert before == summary(record, ONCALL, [], {}, None)


@pytest.mark.parametrize("path", ["a`*b*`.md", "a\n> b.md", "<!here>.md"])
def test_a_page_is_named_as_code_whatever_it_is_called(path: str) -> None:
    cited = replace(RUNBOOK, path=path)
    record = answer_record(ASKED, Answer("a1", "?", "partly", citations=(cited,)), "1.2")
    [_, named, after] = summary(record, ONCALL, ["S0HELP"], {}, None).split("`")
    assert "<" not in named
    assert "\n" not in named
    assert after == "."


def test_text_with_an_address_that_may_not_be_opened_is_not_a_link() -> None:
    record = answer_record(ASKED, Answer("a1", "?", "answered"), "1.2")
    line = summary(record, ONCALL, ["S0HELP"], {}, "javascript:alert(1)")
    assert "needs a human here (the question)." in line
    line = summary(record, ONCALL, ["S0HELP"], {}, "https://a.test/x>y|z")
    assert "(<https://a.test/x%3Ey%7Cz|the question>)" in line


def test_cited_passages_are_marked() -> None:
    other = replace(RUNBOOK, id="other-0")
    first, second = passage_blocks([RUNBOOK, other], [RUNBOOK.id])
    assert "(cited)" in json.dumps(first)
    assert "(cited)" not in json.dumps(second)


def test_cited_passages_come_before_all_others(system: System) -> None:
    cited = system.service.index.passages(["QueueStuck-0"])
    found = system.service.index.passages(["payments-runbook-0"])
    _, reply = system.ask("@Footnote what does PAY-4031 mean, again?")
    answer_id = reply["metadata"]["event_payload"]["answer"]
    answer = Answer(answer_id, "?", "answered", (), tuple(cited), passages=(*found * 6, *cited))
    system.service.journal.record(ASKED, answer, reply["ts"])
    before = len(system.whispers())
    system.click("footnote_passages", reply)
    [shown] = wait_for(lambda: system.whispers()[before:])
    quoted = json.dumps(shown["blocks"])
    assert -1 < quoted.find("QueueStuck-0") < quoted.find("payments-runbook-0")


def test_skipped_files_are_listed_under_the_ingest_without_footnotes_settings() -> None:
    paths = [".footnote/questions.jsonl", "CODEOWNERS", ".github/CODEOWNERS", "logo.png"]
    skipped = [{"path": path, "reason": "unsupported"} for path in paths]
    report = {"added": 3, "skipped": skipped, "self_test": {"found": 1, "questions": 1}}
    run = IngestRun(1, "schedule", "done", "", None, None, {}, None, None, None, report, None, None)
    assert run_lines(run) == [
        "*Last ingest*: 3 chunks added, 0 updated, 0 deleted, 1 file skipped.",
        "• `logo.png`: unsupported",
        "*Self-test*: 1 of 1 questions found their page.",
    ]


def test_a_section_is_never_cut_within_a_link() -> None:
    lines = [f"<https://docs.example.com/{n}|page {n}> · an answer" for n in range(200)]
    shown = section("\n".join(lines))["text"]["text"]
    assert len(shown) <= 3_000
    assert shown.count("<") == shown.count(">")


def test_example_questions_fit_any_docs() -> None:
    assert "PAY-" not in json.dumps(EXAMPLES)
