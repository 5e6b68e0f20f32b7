"""Index -> facts for messages, runbooks of alerts, and a wait for the very first ingest."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from agent.answer import Answer
from agent.conversation import Answerer, Conversation
from agent.trace import Progress
from bot.answering.deliver import FindRunbook, Render
from bot.blocks import render_answer, render_runbook
from bot.channels import Channel
from bot.runbooks.alert import read_alert
from bot.runbooks.find import find_runbook
from bot.slack.identity import SlackMessage
from ingest.errors import IngestError
from ingest.index import Index

log = logging.getLogger(__name__)

FIRST_INGEST_SECONDS = 120.0
"""Seconds after the start during which questions wait for the very first index."""
_LOOK_SECONDS = 0.5


def rendering(index: Index, stale_after: timedelta) -> Render:
    """Return a renderer that adds age and owner of the cited pages, and the age of the index."""

    def render(answer: Answer) -> Sequence[SlackMessage]:
        paths = {passage.path for passage in (*answer.citations, *answer.passages)}
        documents = {d.path: d for d in index.documents() if d.path in paths} if paths else {}
        return render_answer(
            answer,
            documents=documents,
            ingested_at=index.status().ingested_at,
            now=datetime.now(UTC),
            stale_after=stale_after,
        )

    return render


def runbooks(index: Index) -> FindRunbook:
    """Return a function that finds the runbook of an alert in the docs."""

    def find(text: str, channel: Channel) -> SlackMessage | None:
        collections = channel.collections
        allowed = index if collections is None else index.within(collections)
        try:
            runbook = find_runbook(read_alert(text), allowed)
        except IngestError as error:
            log.warning("no runbook: %s", error)
            return None
        return render_runbook(runbook.passages, runbook.found_by) if runbook else None

    return find


class FirstIngestWait:
    """Answers questions as ``agent`` does, once the index has documents."""

    def __init__(self, agent: Answerer, index: Index, is_ingesting: Callable[[], bool]) -> None:
        """``is_ingesting`` returns True while the ingest that runs at the start has not ended."""
        self._agent, self._index, self._is_ingesting = agent, index, is_ingesting
        self._until = time.monotonic() + FIRST_INGEST_SECONDS

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Return the answer to the newest turn, see ``Answerer``."""
        cancel = cancel or threading.Event()
        while (
            self._index.status().documents == 0
            and self._is_ingesting()
            and time.monotonic() < self._until
            and not cancel.is_set()
        ):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(_LOOK_SECONDS)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )
