"""What a running bot says without being asked, as ``footnote run`` wires it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.settings import AgentSettings
from bot import notices
from bot.journal import open_journal
from bot.run import Bot, build_bot
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from ingest.settings import IndexSettings
from tests.bot.past import answered
from tests.bot.stage import Slack, wait_for

PAGE = "# Keys\n\nPAY-4031 means that the key was rotated. Both keys are valid for 24 hours.\n"


@pytest.fixture
def bot(
    slack: Slack, workspace: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bot]:
    """A bot without a model, whose docs channel is due to hear of yesterday's question."""
    monkeypatch.setattr(notices, "LOOK_SECONDS", 0.2)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(PAGE)
    journal = open_journal(None, tmp_path / ".footnote")
    answered(journal, "a1", datetime.now(UTC) - timedelta(days=1), "not_in_docs", queries=("vpn",))
    journal.close()
    settings = BotSettings(
        bot_token="xoxb-sandbox",
        app_token="xapp-sandbox",
        slack_api_url=workspace.api_url,
        digest_channel="C0GENERAL",
        digest_at="* * * * *",
    )
    docs = IndexSettings(docs_repo=str(tmp_path / "docs"), embedder_int8=False)
    running = build_bot(settings, docs, AgentSettings())
    running.start(http=False)
    wait_for(lambda: running.index.status().documents, 60)
    yield running
    running.stop()


def test_a_digest_that_is_due_comes_with_the_start(bot: Bot, slack: Slack) -> None:
    [digest] = wait_for(lambda: [m for m in slack.messages("C0GENERAL") if m.get("metadata")])
    assert digest["text"].endswith("1 answer, 1 not in the docs")
