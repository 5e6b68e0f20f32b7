"""What a running bot says without being asked, as ``footnote run`` wires it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.settings import AgentSettings
from bot.app import Service
from bot.journal.claims import open_journal
from bot.journal.records import CitedChunkText
from bot.notices import notifier as notices
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.identity import NOTICE
from ingest.settings import IndexSettings
from tests.bot.journal.past import answered
from tests.bot.stage import Json, Slack
from tests.conftest import ROOT
from tests.waiting import wait_for

PAGE = "# Keys\n\nPAY-4031 means that the key was rotated. Both keys are valid for 24 hours.\n"


@pytest.fixture
def bot(
    slack: Slack, workspace: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    """A bot without a model, whose docs channel is due to hear of yesterday's question."""
    monkeypatch.setattr(notices, "POLL_SECONDS", 0.2)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(PAGE)
    (tmp_path / "footnote.toml").write_text('[channels."#payments-oncall"]\nchange_notes = true\n')
    journal = open_journal(None, tmp_path / ".footnote")
    answered(journal, "a1", datetime.now(UTC) - timedelta(days=1), "not_in_docs", queries=("vpn",))
    journal.close()
    settings = BotSettings(
        bot_token="xoxb-sandbox",
        app_token="xapp-sandbox",
        slack_api_url=workspace.api_url,
        digest_channel="C0GENERAL",
        digest_at=f"{datetime.now(UTC) - timedelta(hours=1):%H:%M}",
    )
    docs = IndexSettings(docs_repo=str(tmp_path / "docs"), embedder_int8=False)
    running = Service(settings, docs, AgentSettings())
    running.connect(http=False)
    running.start()
    wait_for(lambda: running.index.status().documents)
    yield running
    running.stop()


def test_a_digest_that_is_due_comes_with_the_start(bot: Service, slack: Slack) -> None:
    [digest] = wait_for(lambda: [m for m in slack.messages("C0GENERAL") if m.get("metadata")])
    assert digest["text"].endswith("1 answer, 1 not in the docs")


def test_a_thread_hears_of_a_change_that_an_ingest_in_a_terminal_brought(
    bot: Service, slack: Slack, tmp_path: Path
) -> None:
    asked = {"channel": "C0INCIDENT", "user": "U0ONCALL", "text": "@Footnote what is PAY-4031?"}
    ts = str(slack.post("say", **asked)["ts"])

    def own(kind: str) -> list[Json]:
        posted = [m for m in slack.messages("C0INCIDENT", ts) if m.get("metadata")]
        return [m for m in posted if m["metadata"]["event_type"] == kind]

    wait_for(lambda: own("footnote_answer"))
    wait_for(lambda: remembered(bot))
    (tmp_path / "docs" / "keys.md").write_text(PAGE.replace("24 hours", "12 hours"))
    ingest = [sys.executable, "-m", "bot", "ingest", str(tmp_path / "docs"), "--json"]
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(ingest, env=settings, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["updated"] == 1, done.stderr
    [note] = wait_for(lambda: own(NOTICE))
    assert "valid for 12 hours" in json.dumps(note["blocks"])


def remembered(bot: Service) -> int:
    with bot.journal.session() as session:
        return session.query(CitedChunkText).count()
