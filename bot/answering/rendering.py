"""Answers and alerts -> messages, with facts and runbooks from the index."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from agent.answer import Answer
from bot.answering.deliver import FindRunbook, Render
from bot.blocks import render_answer, render_runbook
from bot.channels import Channel
from bot.runbooks.alert import read_alert
from bot.runbooks.find import find_runbook
from bot.slack.identity import SlackMessage
from ingest.documents import DocumentInfo
from ingest.errors import IngestError
from ingest.index import Index, IndexStatus

log = logging.getLogger(__name__)


def rendering(index: Index, stale_after: timedelta) -> Render:
    """Return a renderer that adds age and owner of the cited pages, and the age of the index."""

    def render(answer: Answer) -> Sequence[SlackMessage]:
        paths = {passage.path for passage in (*answer.citations, *answer.passages)}
        documents, status = dict[str, DocumentInfo](), IndexStatus()
        try:
            documents = index.infos(paths)
            status = index.status()
        except IngestError as error:  # the answer goes out without them
            log.warning("no facts about the pages of an answer: %s", error)
        return render_answer(
            answer,
            documents=documents,
            ingested_at=status.ingested_at,
            now=datetime.now(UTC),
            stale_after=stale_after,
            growth=status.growth.words if status.growth else None,
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
