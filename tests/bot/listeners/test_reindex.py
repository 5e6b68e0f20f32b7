"""``/footnote reindex``: for whom, how often, and what people read about it."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.listeners.home import run_lines
from bot.listeners.reindex import Reindex
from bot.settings import BotSettings
from ingest.errors import FootnoteError
from ingest.runs.record import IngestRun, IngestRuns, RunState
from tests.bot.conftest import Start
from tests.bot.stage import Slack
from tests.waiting import wait_for

ONCALL, ENGINEER, INCIDENT = "U0ONCALL", "U0ENGINEER", "C0INCIDENT"


def order(slack: Slack, user: str) -> str:
    """The line that a person gets for an order."""
    before = len(told(slack, user))
    slack.post("command", channel=INCIDENT, user=user, text="reindex")
    return str(wait_for(lambda: told(slack, user)[before:])[0])


def told(slack: Slack, user: str) -> list[str]:
    return [m["text"] for m in slack.messages(INCIDENT) if m.get("_viewer") == user]


def test_many_orders_of_many_people_wait_for_one_ingest(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path)
    reindex = Reindex(lambda _user: None, runs.request_once)
    lines = [reindex.order(f"U{number % 20}") for number in range(40)]
    assert lines[0].startswith("Reading the docs again")
    assert "less than a minute ago" in lines[20]
    assert all("anyway" in line for line in lines[1:20] + lines[21:])
    first = runs.next_request()
    assert first is not None
    runs.start(first.id)
    assert runs.next_request() is None
    assert "Reading the docs again" in reindex.order("U20")  # the docs may have changed since
    assert "anyway" in reindex.order("U21")


def test_an_order_that_failed_may_be_given_again_at_once() -> None:
    is_full = True

    def request() -> bool:
        if is_full:
            raise FootnoteError("the disk is full")
        return True

    reindex = Reindex(lambda _user: None, request)
    with pytest.raises(FootnoteError):
        reindex.order(ONCALL)
    is_full = False
    assert reindex.order(ONCALL).startswith("Reading the docs again")


def test_an_order_does_not_stand_for_a_request_with_options(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path)
    runs.request({"confirm_large_deletion": True})
    assert runs.request_once()
    assert not runs.request_once()


@pytest.mark.parametrize(
    ("allowed", "user", "may"),
    [
        (("everyone",), ENGINEER, True),
        (("admins",), ENGINEER, False),
        (("admins",), ONCALL, True),
        (("admins", ENGINEER), ENGINEER, True),
        ((ONCALL,), ENGINEER, False),
    ],
)
def test_those_whom_the_setting_names_may_order(
    allowed: tuple[str, ...], user: str, may: bool, slack: Slack, start: Start
) -> None:
    slack.post("reset", users={ONCALL: {"is_admin": True}})
    ordered: list[bool] = []

    def request() -> bool:
        ordered.append(True)
        return True

    start(request_ingest=request, reindex=allowed)
    line = order(slack, user)
    assert bool(ordered) is may
    assert line.startswith("Reading the docs again" if may else "You may not")


def test_an_admin_is_asked_to_try_again_while_slack_does_not_say_who_that_is(
    slack: Slack, start: Start
) -> None:
    start(reindex=("admins",), allowed_users=(ONCALL,))
    slack.post("fail", method="users.info", error="missing_scope", times=0)
    assert "try again in a minute" in order(slack, ONCALL)


@pytest.mark.parametrize("value", ["nobody", "C0GENERAL", "admin"])
def test_a_wrong_name_in_the_setting_is_a_mistake(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_REINDEX", value)
    with pytest.raises(ValidationError, match="not everyone, admins or the id"):
        BotSettings(bot_token="xoxb-1")


def test_people_in_slack_read_no_words_of_git_and_no_address() -> None:
    text = "fatal: unable to access 'https://git.corp.example/docs.git/': could not resolve host"

    def run(error: str | None, report: dict[str, object] | None) -> IngestRun:
        state: RunState = "failed" if error else "done"
        return IngestRun(
            1, "command", state, "", None, None, {}, None, None, None, report, error, None
        )

    [failed] = run_lines(run(text, None))
    assert failed == ":warning: *Last ingest*: failed. Operators see why: `footnote status`."
    lines = run_lines(run(None, {"added": 1, "warnings": [text]}))
    assert lines[-1] == ":warning: 1 warning. Operators see them: `footnote status`."
    assert "corp" not in "".join(lines)
