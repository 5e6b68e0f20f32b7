"""Runs ``footnote try`` as a separate process, and reads its bot's answers."""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bot.stage import Json, Slack
from tests.waiting import PATIENCE, free_port, wait_for

PLACE = "C0INCIDENT"


@contextmanager
def trial(footnote: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Slack]:
    """Run ``footnote try`` on a free port; at the end, a SIGTERM stops it without an error."""
    process = subprocess.Popen(
        [*footnote, "try", "--port", str(free_port())],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Slack(_address(process))
    finally:
        process.send_signal(signal.SIGTERM)
        _out, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"Open (http://[\d.:]+)", line):
            return found[1]
    raise AssertionError(f"footnote try ended: {said}")


def ask(slack: Slack, text: str, thread_ts: str | None = None) -> tuple[str, str]:
    """Ask a question; return the thread's timestamp and every text of the answer, a link as
    ``<address|label>``."""
    thread = {} if thread_ts is None else {"thread_ts": thread_ts}
    before = len(_replies(slack, thread_ts)) if thread_ts else 0
    asked = slack.post("say", channel=PLACE, user="U0ONCALL", text=text, **thread)
    root = thread_ts or asked["ts"]
    wait_for(lambda: len(_replies(slack, root)) > before)
    return root, _texts(_replies(slack, root)[before]["blocks"])


def _replies(slack: Slack, thread_ts: str) -> list[Json]:
    return [m for m in slack.messages(PLACE, thread_ts) if m.get("bot_id") == "B0FOOTNOTE"]


def _texts(value: Any) -> str:
    """Every text in a message's blocks, whatever kind of block holds it."""
    if isinstance(value, dict):
        own = value.get("text")
        own = own if isinstance(own, str) else ""
        if value.get("type") == "link":
            return f"<{value['url']}|{own}>"
        return own + "".join(map(_texts, value.values()))
    return "".join(map(_texts, value)) if isinstance(value, list) else ""
