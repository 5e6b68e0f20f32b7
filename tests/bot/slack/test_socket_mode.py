"""The socket to Slack, as production opens, keeps and closes it, over lines that break."""

import functools
import logging
import re
import threading
import time
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from bot.sandbox.server import Sandbox
from bot.slack.clients import SlackRefused
from bot.slack.socket_mode import Timing
from tests.bot.slack.ears import Ears, Open, readers
from tests.bot.stage import Slack
from tests.fakes.bad_line import BadLine, Break
from tests.fakes.switchboard import Switchboard, acknowledged, envelope, greet, say
from tests.waiting import PATIENCE, wait_for

FAILED = "apps.connections.open"


def hears(slack: Slack, ears: Ears) -> bool:
    """Whether an event that happens now is heard, however long it takes."""
    ts = str(slack.post("say", channel="C0INCIDENT", user="U0ONCALL", text="ledger is slow")["ts"])
    return bool(wait_for(lambda: ts in ears.heard))


def opened_more(slack: Slack, than: int) -> bool:
    return len(slack.calls(FAILED)) > than


def lines_of(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= level]


@pytest.mark.parametrize("how", ["fin", "rst", "hole"])
def test_after_an_end_without_a_close_frame_events_are_heard_again_and_again(
    how: Break, slack: Slack, line: BadLine, ears: Open, workspace: Sandbox
) -> None:
    there = ears(workspace.api_url)
    for _ in range(3):
        opened = len(slack.calls(FAILED))
        line.cut(how)
        wait_for(functools.partial(opened_more, slack, opened))
        wait_for(there.socket.is_connected)
        assert hears(slack, there)
    # One line each time, and nothing reads those that are over.
    assert len(slack.calls(FAILED)) == 4
    wait_for(lambda: readers() == 1)


def test_a_silent_line_is_told_once_and_so_is_the_next_one_that_hears(
    slack: Slack,
    line: BadLine,
    ears: Open,
    workspace: Sandbox,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "bot")
    there = ears(workspace.api_url)
    line.cut("hole")
    wait_for(lambda: "Events arrive from Slack again." in lines_of(caplog, logging.INFO))
    assert hears(slack, there)
    assert lines_of(caplog) == ["Slack's socket was silent for 2 s: opening another."]


def test_a_line_in_order_is_left_alone_however_quiet_the_workspace(
    slack: Slack, ears: Open, workspace: Sandbox
) -> None:
    there = ears(workspace.api_url, Timing(silent=0.6))
    first = there.socket.received_at
    assert first is not None
    # Longer than a silence may be: pings and their answers are heard meanwhile.
    wait_for(lambda: (there.socket.received_at or 0) > first + 1.5)
    assert len(slack.calls(FAILED)) == 1
    assert hears(slack, there)


def test_while_nobody_answers_it_tries_with_pauses_and_without_work_in_between(
    slack: Slack,
    line: BadLine,
    ears: Open,
    workspace: Sandbox,
    caplog: pytest.LogCaptureFixture,
) -> None:
    attempts = 12
    there = ears(workspace.api_url)
    begin = time.process_time()
    for _ in range(attempts):
        there.app.client.api_test()
    a_call_each = time.process_time() - begin
    line.refuses = True
    line.cut("fin")
    begin = time.process_time()
    wait_for(lambda: line.refused >= attempts)
    assert time.process_time() - begin < 8 * a_call_each
    line.refuses = False
    assert hears(slack, there)
    [told] = lines_of(caplog)
    assert re.fullmatch(
        r"Slack's socket does not open \(\w+\): it is retried until it does\.", told
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ({"error": "invalid_auth"}, "invalid_auth"),
        ({"error": "internal_error"}, "internal_error"),
        ({"status": 503}, "http_503"),
    ],
)
def test_what_slack_refuses_while_it_runs_is_told_in_one_line_and_tried_until_it_heals(
    failure: dict[str, Any],
    reason: str,
    slack: Slack,
    ears: Open,
    workspace: Sandbox,
    caplog: pytest.LogCaptureFixture,
) -> None:
    there = ears(workspace.api_url)
    slack.post("fail", method=FAILED, times=6, **failure)
    slack.post("disconnect", drop=True)
    wait_for(lambda: len(slack.calls(FAILED)) == 8)
    assert hears(slack, there)
    [told] = lines_of(caplog)
    assert told == f"Slack's socket does not open ({reason}): it is retried until it does."
    assert "Traceback" not in caplog.text
    assert "xapp" not in caplog.text


def test_where_slack_limits_the_openings_the_next_one_waits_as_long_as_it_says(
    slack: Slack, ears: Open, workspace: Sandbox
) -> None:
    there = ears(workspace.api_url)
    slack.post("fail", method=FAILED, error="ratelimited", retry_after=2, times=1)
    slack.post("disconnect", drop=True)
    assert hears(slack, there)
    _, limited, last = (call["at"] for call in slack.calls(FAILED))
    assert last - limited >= 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, b"<html>Bad gateway</html>"),
        (429, b"<html>Too many requests</html>"),
        (200, b"<html>Sign in to the network</html>"),
        (200, b""),
        (200, b"[]"),
        (200, b"null"),
        (200, b'"ok"'),
        (200, b'{"ok": true}'),
        (200, b'{"ok": true, "url": "https://example.com/"}'),
        (200, b'{"ok": true, "url": "wss://:-1"}'),
    ],
)
def test_whatever_a_gateway_answers_in_place_of_slack_it_is_tried_until_it_heals(
    status: int, body: bytes, ears: Open, caplog: pytest.LogCaptureFixture
) -> None:
    acks: list[str] = []

    def script(number: int, connection: ServerConnection) -> None:
        greet(connection)
        if number == 1:
            board.refusals.append((status, body))
            return
        envelope(connection, number)
        acks.append(acknowledged(connection))
        connection.recv()

    with Switchboard(script) as board:
        there = ears(board.api_url)
        wait_for(lambda: acks)
        assert not board.refusals
        there.socket.close()
    assert len(lines_of(caplog)) == 1
    assert "Traceback" not in caplog.text


def test_a_limited_start_waits_instead_of_giving_up(
    slack: Slack, ears: Open, workspace: Sandbox
) -> None:
    slack.post("fail", method=FAILED, error="ratelimited", retry_after=1, times=2)
    there = ears(workspace.api_url, Timing(connect=0.1))
    assert hears(slack, there)


def test_after_twenty_ends_in_a_row_events_are_heard_and_nothing_is_left_over(
    slack: Slack, ears: Open, workspace: Sandbox
) -> None:
    there = ears(workspace.api_url)
    for number in range(20):
        wait_for(functools.partial(opened_more, slack, number))
        wait_for(lambda: there.socket.is_connected() and slack.state()["connections"] == 1)
        slack.post("disconnect", **({"drop": True} if number % 2 else {"reason": "warning"}))
    wait_for(functools.partial(opened_more, slack, 20))
    assert hears(slack, there)
    wait_for(lambda: slack.state()["connections"] == 1)
    wait_for(lambda: readers() == 1)


def test_a_slack_that_ends_each_line_at_once_is_not_called_without_pause(ears: Open) -> None:
    with Switchboard(lambda _number, connection: greet(connection)) as board:
        ears(board.api_url, Timing(apart=3600))
        wait_for(lambda: readers() == 0)
        assert board.asked == 1


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
def test_the_old_line_is_left_only_when_the_new_one_is_open(reason: str, ears: Open) -> None:
    """Each envelope is acknowledged where it came from, on the old line as well."""
    acks: list[tuple[int, str]] = []
    second = threading.Event()
    old: list[ServerConnection] = []

    def script(number: int, connection: ServerConnection) -> None:
        greet(connection)
        if number == 1:
            old.append(connection)
            say(connection, type="disconnect", reason=reason)
            assert second.wait(PATIENCE)
        else:
            envelope(old[0], "late")
            second.set()
        envelope(connection, f"on {number}")
        while True:
            acks.append((number, acknowledged(connection)))

    with Switchboard(script) as board:
        there = ears(board.api_url, Timing(apart=0, linger=1))
        wait_for(lambda: len(acks) == 3)
        assert sorted(acks) == [(1, "late"), (1, "on 1"), (2, "on 2")]
        assert len(there.heard) == 3
        wait_for(lambda: readers() == 1)


def test_a_server_that_never_greets_is_left_for_the_next_one(
    ears: Open, caplog: pytest.LogCaptureFixture
) -> None:
    hung = threading.Event()
    acks: list[str] = []

    def script(number: int, connection: ServerConnection) -> None:
        if number in (2, 3):
            hung.wait(PATIENCE)
            return
        greet(connection)
        if number == 1:
            return
        envelope(connection, number)
        acks.append(acknowledged(connection))
        hung.wait(PATIENCE)

    with Switchboard(script) as board:
        ears(board.api_url, Timing(hello=0.5, apart=0, pause=0.01))
        wait_for(lambda: acks == ["4"])
        assert lines_of(caplog) == [
            "Slack's socket does not open (no hello): it is retried until it does."
        ]
        hung.set()


def test_at_the_start_a_server_that_never_greets_is_told_in_one_line(ears: Open) -> None:
    done = threading.Event()

    def script(_number: int, _connection: ServerConnection) -> None:
        done.wait(PATIENCE)

    with Switchboard(script) as board:
        there = ears(board.api_url, Timing(hello=0.2, connect=0.5), connect=False)
        with pytest.raises(SlackRefused, match=r"did not answer within 0 s \(no hello\)"):
            there.socket.connect()
        done.set()


def test_when_socket_mode_is_switched_off_it_says_so_once_and_hears_when_it_is_on_again(
    ears: Open, caplog: pytest.LogCaptureFixture
) -> None:
    acks: list[str] = []

    def script(number: int, connection: ServerConnection) -> None:
        greet(connection)
        if number == 1:
            say(connection, type="disconnect", reason="link_disabled")
            return
        envelope(connection, number)
        acks.append(acknowledged(connection))
        connection.recv()

    with Switchboard(script) as board:
        ears(board.api_url)
        wait_for(lambda: acks == ["2"])
        [told] = lines_of(caplog)
    assert told.startswith("Socket Mode was switched off for the app")


def test_what_slack_sends_that_is_no_envelope_changes_nothing(
    ears: Open, caplog: pytest.LogCaptureFixture
) -> None:
    acks: list[str] = []

    def script(_number: int, connection: ServerConnection) -> None:
        greet(connection)
        for strange in (
            "",
            "Ping from applink",
            "{",
            "[1]",
            "null",
            "{}",
            '{"type": 5}',
            "[" * 9999,
        ):
            connection.send(strange)
        connection.send(b"\x00\xff")
        connection.ping()
        say(connection, type="events_api", envelope_id="bare")
        envelope(connection, "kept")
        acks.append(acknowledged(connection))
        connection.recv()

    with Switchboard(script) as board:
        ears(board.api_url)
        wait_for(lambda: acks == ["kept"])
        assert board.asked == 1
        assert not lines_of(caplog)


def test_at_the_end_what_was_taken_is_acknowledged_and_nothing_more_is_taken(ears: Open) -> None:
    acks: list[str] = []
    ending, sent = threading.Event(), threading.Event()

    def script(_number: int, connection: ServerConnection) -> None:
        greet(connection)
        envelope(connection, "taken")
        assert ending.wait(PATIENCE)
        envelope(connection, "too late")
        sent.set()
        while True:
            acks.append(acknowledged(connection))

    with Switchboard(script) as board:
        there = ears(board.api_url, connect=False)
        there.held.clear()
        there.socket.connect()
        assert there.entered.wait(PATIENCE)
        closing = threading.Thread(target=there.socket.close, daemon=True)
        closing.start()
        wait_for(lambda: there.socket.closed)
        ending.set()
        assert sent.wait(PATIENCE)
        there.held.set()
        closing.join(PATIENCE)
        assert not closing.is_alive()
        wait_for(lambda: readers() == 0 and acks)
    assert acks == ["taken"]
    assert len(there.heard) == 1


def test_an_acknowledgement_that_finds_no_line_is_no_news(
    slack: Slack,
    line: BadLine,
    ears: Open,
    workspace: Sandbox,
    caplog: pytest.LogCaptureFixture,
) -> None:
    there = ears(workspace.api_url)
    there.held.clear()
    ts = str(slack.post("say", channel="C0INCIDENT", user="U0ONCALL", text="slow")["ts"])
    assert there.entered.wait(PATIENCE)
    slack.post("fail", method=FAILED, error="internal_error", times=3)
    line.cut("fin")
    wait_for(lambda: readers() == 0)
    there.held.set()
    # Slack delivers it once more, since nobody acknowledged it.
    wait_for(lambda: there.heard.count(ts) == 2)
    assert "Traceback" not in caplog.text
    assert len(lines_of(caplog)) == 1


def test_a_session_that_slack_renews_while_the_process_ends_does_not_hold_it(
    slack: Slack, ears: Open, workspace: Sandbox
) -> None:
    there = ears(workspace.api_url)
    slack.post("fail", method=FAILED, delay=1.0, times=1)
    slack.post("disconnect")
    wait_for(lambda: len(slack.calls(FAILED)) == 2)
    closing = threading.Thread(target=there.socket.close, daemon=True)
    closing.start()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert not there.socket.is_connected()
    wait_for(lambda: slack.state()["connections"] == 0)
